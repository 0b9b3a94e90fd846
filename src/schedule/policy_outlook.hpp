// What a policy would choose for every task of a fleet if it had been in force for a while: for
// comparisons, and for settings that somebody tries out. The planner and the rules that decide are
// those of the core itself, over tables of their own, so nothing of the running core is touched.
//
// Pure. Takes about a microsecond for each task and round, so it belongs off the core's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "schedule/rate_belief.hpp"

namespace pollux::schedule {

// What the running core knows of a task; of one that it does not know, nothing.
struct LearnedTask {
    bool enabled = true;  // beside what the spec says: an operator may have switched it off
    bool slow = false;    // a parent is down: asked at the slowest rate
    RateBelief belief;
    std::optional<base::Duration> quiet;  // since its answer last changed
};

struct OutlookInput {
    const model::CoreSettings& settings;
    std::span<const model::TaskSpec> tasks;
    std::span<const LearnedTask> learned;       // as many, in the same order
    std::optional<model::PolicyKind> policy{};  // in force for all classes; nothing: as they say
    std::size_t ready = 0;                      // tasks that wait for their turn
    double pressure = 1;                        // as the core's, see LoadMonitor
    double p95_poll_s = 0;
};

// The interval of each task in milliseconds, before jitter. 0: it is not polled.
std::vector<std::uint32_t> outlook(const OutlookInput& input);

}  // namespace pollux::schedule
