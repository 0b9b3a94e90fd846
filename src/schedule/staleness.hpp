// How stale what we know about a task is, as a number from 0 (fresh) to 1 (stale). Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace pollux::schedule {

inline constexpr base::Duration kDefaultMaxStale = std::chrono::minutes(5);

struct StalenessInput {
    bool tracked = false;                        // there was at least one answer, good or bad
    std::optional<base::BootTime> last_success;  // none: it never succeeded
    base::BootTime now;
    base::Duration max_stale = kDefaultMaxStale;  // the age that counts as 1; <= 0: the default
};

struct StalenessScore {
    double score = 0;
    bool known = false;  // false: nothing is known about the task, the score is only a placeholder

    bool operator==(const StalenessScore&) const = default;
};

StalenessScore staleness_score(const StalenessInput& input);

}  // namespace pollux::schedule
