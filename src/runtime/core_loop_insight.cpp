// The core loop: what is written down for people who want to see what is going on.
#include "runtime/core_loop.hpp"
#include "runtime/insight_books.hpp"

namespace pollux::runtime {

void CoreLoop::note_start(const schedule::StartRun& start, base::Instant now) {
    if (!engine_->core().slot(start.task).recurring()) return;
    const base::Duration lag = std::max(now.boot - start.due, base::Duration::zero());
    insight_->runs.began(start.task.index, start.run, now.wall, lag);
    insight_->history.started(now.wall, lag);
}

// Before the core is told, so that it still has what was before.
void CoreLoop::note_end(const RunReport& report) {
    const schedule::TaskSlot& slot = engine_->core().slot(report.task);
    const base::WallTime now = net::wall_now();
    const bool success = model::is_success(report.outcome);
    RunBook::Before before;
    before.known = slot.has(schedule::kFlagAnswered);
    before.up = slot.has(schedule::kFlagUp);
    const bool counts = report.outcome != model::Outcome::kInterrupted;
    if (before.known && counts) {
        const bool other_digest = success && report.has_digest &&
                                  slot.has(schedule::kFlagHasDigest) &&
                                  slot.digest != report.digest;
        before.changed = success != before.up || other_digest;
    }
    insight_->runs.ended(report, before, now);
    if (!counts) return;
    insight_->history.ended(now, !success);
    insight_->costs.ended(report.task.index, now, report.duration, !success, report.cost);
}

void CoreLoop::note_turn(base::Instant now) {
    const schedule::SchedulerCore& core = engine_->core();
    insight_->history.seen(now.wall, core.ready(), core.in_flight(), core.size());
}

}  // namespace pollux::runtime
