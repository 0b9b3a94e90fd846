// Sums up how polling goes, for the self-monitoring: without the targets that people know of
// already. What such a target failed with counts from its first failure on as known, also what
// came before anybody was told. Pure; owned by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "alert/self_monitor.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::alert {

// Says that its target fails, or is about to: nobody has to hear it from us once more.
inline bool tells_failure(const model::Alert& alert) {
    return alert.source == model::AlertSource::kHealth && !alert.target.empty() &&
           model::is_open(alert);
}

// What is read at one moment. Counts of polls are since the start.
struct SelfReading {
    struct Failing {
        std::uint32_t task = 0;    // an index, small
        std::uint32_t in_row = 0;  // failures
        bool known = false;        // people know of its target
        bool dead_letter = false;
        base::BootTime open_since = base::BootTime::max();  // its breaker; max: it is closed
    };
    std::vector<Failing> failing;
    std::uint64_t success = 0;
    std::uint64_t failures = 0;
    double success_seconds = 0;  // that polls took which succeeded
};

class SelfCensus {
  public:
    // Rates are of the last so long.
    static constexpr base::Duration kWindow = std::chrono::minutes(5);

    // Fills in dead letters, breakers, success ratio and average poll.
    void take(base::BootTime now, const SelfReading& reading, SelfSnapshot& out);

  private:
    struct Task {
        std::uint32_t in_row = 0;
        std::uint32_t turn = 0;  // when it failed last
        bool known = false;
    };
    struct Moment {
        base::BootTime at;
        std::uint64_t success = 0;
        std::uint64_t failures = 0;
        double seconds = 0;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> failed;  // task, how often since
    };

    void count(const SelfReading::Failing& one, Moment& moment);
    std::uint64_t known_failures() const;

    std::vector<Task> tasks_;
    std::deque<Moment> moments_;  // the oldest first
    std::uint32_t turn_ = 0;
};

}  // namespace pollux::alert
