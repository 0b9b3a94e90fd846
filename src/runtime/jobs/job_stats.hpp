// What happened to jobs since the start, by type (the class in the core). Owned by the core loop;
// not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "model/run.hpp"
#include "observe/histogram.hpp"

namespace pollux::runtime {

inline constexpr std::array<double, 9> kBatchSizeBounds = {1, 2, 5, 10, 20, 50, 100, 200, 500};

struct JobCounts {
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
    std::uint64_t interrupted = 0;
    observe::Histogram<observe::kQueueWaitBounds> latency;  // from ready to started
    double seconds = 0;                                     // of all that ended ok

    std::uint64_t ended() const { return ok + failed + interrupted; }
    // Zero: nothing has ended yet.
    base::Duration mean() const {
        return ok == 0 ? base::Duration::zero()
                       : base::from_seconds(seconds / static_cast<double>(ok));
    }
};

class JobStats {
  public:
    void started(std::uint16_t class_index, double latency_seconds) {
        of(class_index).latency.record(latency_seconds);
    }
    void ended(std::uint16_t class_index, model::Outcome outcome, double seconds) {
        JobCounts& counts = of(class_index);
        if (model::is_success(outcome)) {
            ++counts.ok;
            counts.seconds += seconds;
        } else if (outcome == model::Outcome::kInterrupted) {
            ++counts.interrupted;
        } else {
            ++counts.failed;
        }
    }
    void batch(std::size_t starts) { batches_.record(static_cast<double>(starts)); }

    const JobCounts& of_class(std::uint16_t class_index) const {
        static const JobCounts kNone;
        return class_index < classes_.size() ? classes_[class_index] : kNone;
    }
    const observe::Histogram<kBatchSizeBounds>& batches() const { return batches_; }

  private:
    JobCounts& of(std::uint16_t class_index) {
        if (classes_.size() <= class_index) classes_.resize(class_index + std::size_t{1});
        return classes_[class_index];
    }

    std::vector<JobCounts> classes_;
    observe::Histogram<kBatchSizeBounds> batches_;
};

}  // namespace pollux::runtime
