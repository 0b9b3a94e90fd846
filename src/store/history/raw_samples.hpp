// The samples of one series in a span of time, from disk and from memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "store/history/history_types.hpp"
#include "store/history/open_blocks.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

struct RawSpan {
    std::int64_t series = 0;
    std::uint8_t retention = 0;
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;  // not included
};

// Points of one sample each, in order of time. `memory` was copied before the disk is read here, so
// a block that is written meanwhile is seen twice rather than never; as_points() keeps one of each.
// A block that cannot be read is left out and counted.
base::Result<std::vector<HistoryPoint>> read_raw(Database& database, const RawSpan& span,
                                                 std::span<const WaitingBlock> memory,
                                                 std::uint64_t& damaged);

}  // namespace pollux::store
