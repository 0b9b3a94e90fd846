// After a restart many polls are overdue at once. They are spread over one interval of their own,
// the critical and the longest overdue first, into the gaps that the others leave, so that starts
// never exceed 1.2 times the steady rate and everything is covered within one interval.
//
// Tasks are looked at in groups of nearly equal interval: if each group keeps to 1.2 times its own
// steady rate, so does the whole, whatever the mixture of 10 s and 300 s tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "model/tier.hpp"

namespace pollux::schedule {

struct RecoveringTask {
    std::uint32_t task = 0;
    base::BootTime due;  // in: as stored; out: when it shall start
    std::uint32_t interval_ms = 0;
    model::Tier tier = model::Tier::kNormal;
    std::uint64_t key_hash = 0;  // breaks ties the same way everywhere
};

inline constexpr double kRecoveryRate = 1.2;  // times the steady rate

void spread_overdue(std::vector<RecoveringTask>& tasks, base::BootTime now);

}  // namespace pollux::schedule
