// What happened to polls since the start, by class and, up to a limit, by target. Owned by the core
// loop; not thread-safe.
//
// Above the limit only the classes are counted: a page with a million series helps nobody. The
// counts of a target go with it, those of its class stay.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/failure.hpp"
#include "model/run.hpp"
#include "observe/histogram.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kFailureKinds =
    static_cast<std::size_t>(model::FailureKind::kUnknown) + 1;
inline constexpr std::size_t kTriggers = static_cast<std::size_t>(model::Trigger::kJob) + 1;

struct PollCounts {
    observe::Histogram<observe::kPollDurationBounds> duration;
    std::uint64_t success = 0;
    std::array<std::uint64_t, kFailureKinds> errors{};

    std::uint64_t failures() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : errors) sum += count;
        return sum;
    }
};

struct ClassCounts {
    PollCounts polls;
    observe::Histogram<observe::kQueueWaitBounds> wait;
    std::array<std::uint64_t, kTriggers> recoveries{};
    std::uint64_t problems = 0;
};

class PollStats {
  public:
    explicit PollStats(std::size_t target_limit) : target_limit_(target_limit) {}

    void started(std::uint16_t class_index, double wait_seconds);
    void ended(std::uint32_t task, std::uint16_t class_index, bool success, model::FailureKind kind,
               double seconds);
    void recovered(std::uint16_t class_index, model::Trigger found_by);
    void problems(std::uint16_t class_index, std::uint32_t count);
    void forget(std::uint32_t task);

    // nullptr: nothing counted, or not counted by target.
    const PollCounts* of(std::uint32_t task) const {
        return task < targets_.size() ? targets_[task].get() : nullptr;
    }
    const ClassCounts& of_class(std::uint16_t class_index) const;
    const observe::Histogram<observe::kQueueWaitBounds>& lag() const { return lag_; }
    double success_seconds() const { return success_seconds_; }  // that those took together
    std::size_t target_limit() const { return target_limit_; }
    void set_target_limit(std::size_t limit);

  private:
    ClassCounts& counts_of(std::uint16_t class_index);

    std::size_t target_limit_;
    std::size_t counted_ = 0;
    std::vector<std::unique_ptr<PollCounts>> targets_;  // by index of the task
    std::vector<ClassCounts> classes_;
    observe::Histogram<observe::kQueueWaitBounds> lag_;
    double success_seconds_ = 0;
};

}  // namespace pollux::runtime
