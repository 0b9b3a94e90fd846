// What is kept of one target, and how it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "runtime/uptime/life_list.hpp"
#include "runtime/uptime/uptime_days.hpp"

namespace pollux::runtime {

// A task of the target, by what its key has behind that of the target: "" or "#group".
struct UptimeTask {
    std::string suffix;
    bool known = false;  // it answered once
    bool up = false;
    bool off = false;
    bool operator==(const UptimeTask&) const = default;
};

struct UptimeSpan {
    UptimeState state = UptimeState::kUnknown;
    base::WallTime from;
    base::WallTime until;
    bool operator==(const UptimeSpan&) const = default;
};

struct UptimeRow {
    static constexpr std::size_t kMostRecent = 100;
    static constexpr std::size_t kMostTasks = 64;

    std::vector<UptimeTask> tasks;
    UptimeState state = UptimeState::kUnknown;
    base::WallTime since;
    bool doubtful = false;  // down since a device on the way to it came back
    UptimeDays days;
    std::vector<UptimeSpan> recent;  // ended in the last 24 hours, the oldest first

    UptimeTask& task(std::string_view suffix);
    // Where there are too many, the shortest neighbours are packed into one less: the sums of both
    // states stay as they are, only the order within that stretch is lost. So the uptime of 24
    // hours is exact, but for the one stretch that the beginning of the 24 hours cuts; 100 spans
    // hold stretches of half an hour for a target that never rests, which is less than one percent.
    void add_recent(const UptimeSpan& span);
    // That time has not come yet. Whether there was something of it.
    bool forget_after(base::WallTime time);
    bool operator==(const UptimeRow&) const = default;
};

std::string encode_uptime(const UptimeRow& row);
std::optional<UptimeRow> decode_uptime(std::string_view bytes);  // nothing: damaged

// What is kept once: how far the transitions were taken in, and when servers ran.
struct UptimeHead {
    std::uint64_t cursor = 0;
    std::vector<LifeList::Life> lives;
};
std::string encode_uptime_head(std::uint64_t cursor, const LifeList& lives);
std::optional<UptimeHead> decode_uptime_head(std::string_view bytes);

}  // namespace pollux::runtime
