#include "alert/self_census.hpp"

#include <algorithm>

namespace pollux::alert {

void SelfCensus::count(const SelfReading::Failing& one, Moment& moment) {
    if (tasks_.size() <= one.task) tasks_.resize(one.task + std::size_t{1});
    Task& task = tasks_[one.task];
    const bool goes_on = task.turn + 1 == turn_ && one.in_row >= task.in_row;
    const std::uint32_t more = goes_on ? one.in_row - task.in_row : one.in_row;
    task.known = one.known || (goes_on && task.known);
    task.in_row = one.in_row;
    task.turn = turn_;
    // What failed before the first reading is in no count.
    if (more > 0 && !moments_.empty()) moment.failed.emplace_back(one.task, more);
}

std::uint64_t SelfCensus::known_failures() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < moments_.size(); ++i) {
        for (const auto& [task, times] : moments_[i].failed) {
            if (tasks_[task].known) sum += times;
        }
    }
    return sum;
}

void SelfCensus::take(base::BootTime now, const SelfReading& reading, SelfSnapshot& out) {
    ++turn_;
    Moment moment{now, reading.success, reading.failures, reading.success_seconds, {}};
    for (const SelfReading::Failing& one : reading.failing) {
        count(one, moment);
        if (one.known) continue;
        if (one.dead_letter) ++out.dead_letters;
        if (one.open_since == base::BootTime::max()) continue;
        ++out.open_breakers;
        out.longest_open_breaker = std::max(out.longest_open_breaker, now - one.open_since);
    }
    moments_.push_back(std::move(moment));
    while (now - moments_.front().at > kWindow) moments_.pop_front();
    const Moment& oldest = moments_.front();
    const std::uint64_t success = reading.success - oldest.success;
    const std::uint64_t failures = reading.failures - oldest.failures;
    const std::uint64_t unknown = failures - std::min(failures, known_failures());
    if (success + unknown > 0) {
        out.success_ratio = static_cast<double>(success) / static_cast<double>(success + unknown);
    }
    if (success > 0) {
        out.average_poll_s =
            (reading.success_seconds - oldest.seconds) / static_cast<double>(success);
    }
}

}  // namespace pollux::alert
