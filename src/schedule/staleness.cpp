#include "schedule/staleness.hpp"

#include <algorithm>

#include "schedule/truncated.hpp"

namespace pollux::schedule {

StalenessScore staleness_score(const StalenessInput& input) {
    if (!input.tracked) return {.score = 0, .known = false};
    if (!input.last_success) return {.score = 1, .known = true};
    const auto zero = base::Duration::zero();
    const base::Duration age = input.now - *input.last_success;
    if (age <= zero) return {.score = 0, .known = true};
    const base::Duration max_stale = input.max_stale > zero ? input.max_stale : kDefaultMaxStale;
    return {.score = std::min(1.0, as_nanos(age) / as_nanos(max_stale)), .known = true};
}

}  // namespace pollux::schedule
