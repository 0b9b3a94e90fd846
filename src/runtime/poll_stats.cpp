#include "runtime/poll_stats.hpp"

#include <algorithm>

namespace pollux::runtime {

ClassCounts& PollStats::counts_of(std::uint16_t class_index) {
    if (classes_.size() <= class_index) classes_.resize(class_index + std::size_t{1});
    return classes_[class_index];
}

const ClassCounts& PollStats::of_class(std::uint16_t class_index) const {
    static const ClassCounts kNothing;
    return class_index < classes_.size() ? classes_[class_index] : kNothing;
}

void PollStats::started(std::uint16_t class_index, double wait_seconds) {
    const double wait = std::max(wait_seconds, 0.0);
    counts_of(class_index).wait.record(wait);
    lag_.record(wait);
}

void PollStats::ended(std::uint32_t task, std::uint16_t class_index, bool success,
                      model::FailureKind kind, double seconds) {
    const auto count = [&](PollCounts& counts) {
        counts.duration.record(seconds);
        if (success) {
            ++counts.success;
        } else {
            ++counts.errors[static_cast<std::size_t>(kind)];
        }
    };
    count(counts_of(class_index).polls);
    if (success) success_seconds_ += seconds;
    if (targets_.size() <= task) targets_.resize(task + std::size_t{1});
    if (!targets_[task]) {
        if (counted_ >= target_limit_) return;
        targets_[task] = std::make_unique<PollCounts>();
        ++counted_;
    }
    count(*targets_[task]);
}

void PollStats::recovered(std::uint16_t class_index, model::Trigger found_by) {
    ++counts_of(class_index).recoveries[static_cast<std::size_t>(found_by)];
}

void PollStats::problems(std::uint16_t class_index, std::uint32_t count) {
    counts_of(class_index).problems += count;
}

void PollStats::forget(std::uint32_t task) {
    if (task >= targets_.size() || !targets_[task]) return;
    targets_[task].reset();
    --counted_;
}

void PollStats::set_target_limit(std::size_t limit) {
    target_limit_ = limit;
    for (auto& target : targets_) {
        if (counted_ <= limit) break;
        if (!target) continue;
        target.reset();
        --counted_;
    }
}

}  // namespace pollux::runtime
