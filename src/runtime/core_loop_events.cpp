// The core loop: what is told to who follows events.
#include "runtime/core_loop.hpp"
#include "runtime/insight_books.hpp"

namespace pollux::runtime {
namespace {

// More results than this wait for one step only when something is wrong; the rest is told later.
constexpr std::size_t kMostPolls = 100'000;

}  // namespace

// What follows from the result is known after the step, see tell_polls().
void CoreLoop::note_poll(const RunReport& report) {
    if (wiring_.events == nullptr || !wiring_.events->polls_wanted()) return;
    if (report.outcome == model::Outcome::kInterrupted || polled_.size() >= kMostPolls) return;
    PollNews news;
    news.key = engine_->core().key(report.task);
    news.outcome = report.outcome;
    news.trigger = report.trigger;
    news.at = net::wall_now();
    news.duration = report.duration;
    news.code = report.code;
    polled_.emplace_back(report.task, std::move(news));
}

void CoreLoop::tell_polls(base::Instant now) {
    const schedule::SchedulerCore& core = engine_->core();
    for (auto& [task, news] : polled_) {
        if (core.is_live(task)) {
            const schedule::TaskSlot& slot = core.slot(task);
            news.staleness = core.freshness(task, now.boot).score;
            news.failures = core.failure(task).consecutive;
            const base::BootTime due = slot.next_due;
            const bool planned = due > base::BootTime{} && due != base::BootTime::max();
            if (planned) news.next_due = now.wall + (due - now.boot);
            const RunBook::Page* runs = insight_->runs.of(task.index);
            const RunRecord* last = runs == nullptr ? nullptr : runs->last();
            if (last != nullptr) news.lag = std::chrono::milliseconds(last->lag_ms);
        }
        wiring_.events->polled(std::move(news));
    }
    polled_.clear();
}

}  // namespace pollux::runtime
