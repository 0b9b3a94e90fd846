#include "runtime/alerts/health_watch.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "runtime/alerts/health_book.hpp"
#include "runtime/process_stats.hpp"

namespace pollux::runtime {
namespace {

bool is_known(const KnownTargets& known, std::string_view key) {
    return known && known->contains(target_of(key));
}

void add_failing(const CoreLoop::View& view, model::TaskHandle task, FleetHealth& health) {
    const schedule::FailureStory story = view.engine.core().failure(task);
    if (story.dead_letter != model::DeadLetterReason::kNone) ++health.self.dead_letters;
    if (story.breaker == model::BreakerState::kClosed) return;
    ++health.self.open_breakers;
    // Not since the last probe: since it failed for the first time after it was well.
    health.self.longest_open_breaker =
        std::max(health.self.longest_open_breaker, view.now.boot - story.first_failure);
}

PollTotals totals_of(const CoreLoop::View& view) {
    PollTotals totals;
    const auto& classes = view.engine.core().settings().classes;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const PollCounts& polls = view.stats.of_class(static_cast<std::uint16_t>(i)).polls;
        totals.success += polls.success;
        totals.failures += polls.failures();
        totals.seconds += polls.duration.sum();
    }
    totals.lag = view.stats.lag();
    return totals;
}

FleetHealth survey_of(const CoreLoop::View& view, const KnownTargets& known) {
    const schedule::SchedulerCore& core = view.engine.core();
    FleetHealth health;
    health.self.ready_backlog = core.ready();
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const model::TaskHandle task = core.handle_at(index);
        const schedule::TaskSlot& slot = core.slot(task);
        if (!slot.recurring() || !slot.has(schedule::kFlagEnabled)) continue;
        ++health.self.targets;
        const bool failing = slot.failure != model::kNoIndex;
        const schedule::Freshness fresh = core.freshness(task, view.now.boot);
        const bool stale = fresh.known && fresh.age > fresh.bound;
        if ((!failing && !stale) || is_known(known, core.key(task))) continue;
        if (failing) {
            add_failing(view, task, health);
            continue;  // its own alert tells that it does not answer
        }
        ++health.self.stale_targets;
        if (fresh.age != base::Duration::max()) {
            health.self.longest_stale =
                std::max(health.self.longest_stale, fresh.age - fresh.bound);
        }
        if (health.stale.size() < HealthWatch::kMostStale)
            health.stale.emplace_back(core.key(task));
    }
    return health;
}

}  // namespace

struct HealthWatch::Life {
    HealthWatch* watch = nullptr;
};

HealthWatch::HealthWatch(std::shared_ptr<net::EventLoop> loop, CoreLoop& core, Rows rows,
                         Survey survey)
    : loop_(std::move(loop)),
      core_(core),
      rows_(std::move(rows)),
      survey_(std::move(survey)),
      life_(std::make_shared<Life>(this)) {}

HealthWatch::~HealthWatch() { life_->watch = nullptr; }

void HealthWatch::ask_rows(
    std::move_only_function<std::vector<TaskRow>(const CoreLoop::View&)> ask) {
    if (std::exchange(looking_, true)) return;  // the core has not answered yet
    core_.ask(
        [loop = loop_, life = life_, ask = std::move(ask)](const CoreLoop::View& view) mutable {
            loop->post([life, rows = ask(view)]() mutable {
                if (life->watch == nullptr) return;
                life->watch->looking_ = false;
                life->watch->rows_(std::move(rows));
            });
        });
}

void HealthWatch::look(std::vector<std::string> tasks) {
    ask_rows([tasks = std::move(tasks)](const CoreLoop::View& view) {
        std::vector<TaskRow> rows;
        for (const std::string& key : tasks) {
            const model::TaskHandle task = view.engine.core().find(key);
            if (view.engine.core().is_live(task)) rows.push_back(task_row(view, task));
        }
        return rows;
    });
}

void HealthWatch::look_at_failing() {
    ask_rows([](const CoreLoop::View& view) {
        return task_rows(view, [](const schedule::TaskSlot& slot) {
            return slot.recurring() && slot.failure != model::kNoIndex &&
                   slot.has(schedule::kFlagEnabled);
        });
    });
}

void HealthWatch::survey(KnownTargets known) {
    if (!survey_due()) return;
    surveying_ = true;
    core_.ask([loop = loop_, life = life_, known = std::move(known)](const CoreLoop::View& view) {
        loop->post([life, health = survey_of(view, known), totals = totals_of(view)]() mutable {
            if (life->watch != nullptr) life->watch->take(std::move(health), totals);
        });
    });
}

void HealthWatch::take(FleetHealth health, const PollTotals& totals) {
    surveying_ = false;
    const base::BootTime now = loop_->now();
    const auto load = static_cast<std::int64_t>(health.self.targets / kTasksPerSurvey) + 1;
    not_before_ = now + load * kSurveyEvery;
    if (!totals_.empty()) {
        const Moment& oldest = totals_.front();
        const double polls = static_cast<double>(totals.success - oldest.totals.success +
                                                 totals.failures - oldest.totals.failures);
        if (polls > 0) {
            health.self.success_ratio =
                static_cast<double>(totals.success - oldest.totals.success) / polls;
            health.self.average_poll_s = (totals.seconds - oldest.totals.seconds) / polls;
        }
        const double lag = totals.lag.since(oldest.totals.lag).quantile(0.95);
        health.self.start_lag_p95 =
            std::chrono::milliseconds(polls > 0 ? static_cast<std::int64_t>(lag * 1000) : 0);
    }
    const double cpu = process_stats().cpu_seconds;
    if (!totals_.empty()) {
        const double elapsed = std::chrono::duration<double>(now - totals_.front().at).count() *
                               std::max(1U, std::thread::hardware_concurrency());
        if (elapsed > 0) health.self.worker_cpu_share = (cpu - totals_.front().cpu) / elapsed;
    }
    totals_.push_back({now, totals, cpu});
    while (now - totals_.front().at > kWindow) totals_.pop_front();
    survey_(std::move(health));
}

}  // namespace pollux::runtime
