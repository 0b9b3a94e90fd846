// Reads replies that are text or facts: of HTTP, commands, queries and checks. Private to this
// folder.
#pragma once

#include <span>

#include "extract/reading_writer.hpp"
#include "model/reply.hpp"

namespace pollux::extract {

void read_http(const AddonPlan& plan, std::size_t group,
               std::span<const model::Reply* const> replies, base::WallTime now,
               ReadingWriter& writer);

}  // namespace pollux::extract
