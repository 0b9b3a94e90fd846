// A transition of a task as a line of the log. The words `circuit breaker` and `dead-letter` are
// part of the interface: people search for them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/persistence_pump.hpp"
#include "observe/log.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

// `reason`: the message of the failure behind it, if any.
void log_change(observe::Log& log, const engine::TaskChange& change, std::string_view reason,
                base::Instant now);

// The newest transitions that the store holds, one line each, the newest first. Blocks for a read.
base::Result<std::string> timeline(store::Store& store, std::size_t limit);

}  // namespace pollux::runtime
