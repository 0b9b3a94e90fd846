#include "runtime/alerts/health_watch.hpp"

#include <algorithm>
#include <utility>

#include "runtime/alerts/health_book.hpp"
#include "runtime/process_stats.hpp"

namespace pollux::runtime {
namespace {

bool is_known(const KnownTargets& known, std::string_view key) {
    return known && known->contains(target_of(key));
}

bool is_of_names(std::string_view code) {
    return code == "dns.server_name" || code.find(".dns") != std::string_view::npos;
}

void add_key(std::vector<std::string>& keys, std::string_view key) {
    if (keys.size() < HealthWatch::kMostStale) keys.emplace_back(key);
}

// What the failure of a task says of its device and of our name service.
void add_words(const CoreLoop::View& view, model::TaskHandle task, base::BootTime began,
               FleetHealth& health) {
    const auto words = view.failures.find(task.index);
    if (words == view.failures.end()) return;
    const std::string_view key = view.engine.core().key(task);
    if (words->second.heard == Heard::kAnswer) add_key(health.answering, key);
    if (!is_of_names(words->second.code)) return;
    add_key(health.unresolved, key);
    if (view.now.boot - began <= HealthWatch::kRecent) add_key(health.unresolved_lately, key);
}

alert::SelfReading::Failing failing_of(const schedule::FailureStory& story, std::uint32_t task,
                                       bool known) {
    alert::SelfReading::Failing one;
    one.task = task;
    one.in_row = story.consecutive;
    one.known = known;
    one.dead_letter = story.dead_letter != model::DeadLetterReason::kNone;
    // Not since the last probe: since it failed for the first time after it was well.
    if (story.breaker != model::BreakerState::kClosed) one.open_since = story.first_failure;
    return one;
}

alert::SelfReading polls_of(const CoreLoop::View& view) {
    alert::SelfReading out;
    const auto& classes = view.engine.core().settings().classes;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const PollCounts& polls = view.stats.of_class(static_cast<std::uint16_t>(i)).polls;
        out.success += polls.success;
        out.failures += polls.failures();
    }
    out.success_seconds = view.stats.success_seconds();
    return out;
}

WorkerCpus worker_cpus() {
    WorkerCpus out;
    for (ThreadStats& one : thread_stats()) {
        if (!one.name.starts_with("pollux-")) continue;
        out.emplace(one.id, WorkerCpu{std::move(one.name), one.cpu_seconds});
    }
    return out;
}

}  // namespace

std::optional<std::pair<double, std::string>> busiest_worker(const WorkerCpus& before,
                                                             const WorkerCpus& now,
                                                             base::Duration elapsed) {
    std::optional<std::pair<double, std::string>> busiest;
    if (elapsed <= base::Duration::zero()) return busiest;
    for (const auto& [id, worker] : now) {
        const auto earlier = before.find(id);
        if (earlier == before.end() || earlier->second.name != worker.name) continue;
        const double share = (worker.seconds - earlier->second.seconds) / base::to_seconds(elapsed);
        if (!busiest || share > busiest->first) busiest.emplace(share, worker.name);
    }
    return busiest;
}

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

HealthWatch::Reading HealthWatch::survey_of(const CoreLoop::View& view, const KnownTargets& known) {
    const schedule::SchedulerCore& core = view.engine.core();
    Reading out;
    FleetHealth& health = out.health;
    out.polls = polls_of(view);
    out.lag = view.stats.lag();
    health.self.ready_backlog = core.ready();
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const model::TaskHandle task = core.handle_at(index);
        const schedule::TaskSlot& slot = core.slot(task);
        if (!slot.recurring() || !slot.has(schedule::kFlagEnabled)) continue;
        ++health.self.targets;
        const bool ready = slot.place == schedule::Place::kReady;
        const bool failing = slot.failure != model::kNoIndex;
        const schedule::Freshness fresh = core.freshness(task, view.now.boot);
        const bool stale = fresh.known && fresh.age > fresh.bound;
        if (!failing && !stale && !ready) continue;
        const bool told = is_known(known, core.key(task));
        if (ready && told) --health.self.ready_backlog;
        if (failing) {  // its own alert tells that it does not answer
            const schedule::FailureStory story = core.failure(task);
            out.polls.failing.push_back(failing_of(story, index, told));
            add_words(view, task, story.first_failure, health);
            continue;
        }
        if (!stale || told) continue;
        ++health.self.stale_targets;
        if (fresh.age != base::Duration::max()) {
            health.self.longest_stale =
                std::max(health.self.longest_stale, fresh.age - fresh.bound);
        }
        add_key(health.stale, core.key(task));
    }
    for (auto* keys : {&health.answering, &health.unresolved, &health.unresolved_lately}) {
        std::ranges::sort(*keys);
    }
    return out;
}

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
        loop->post([life, reading = survey_of(view, known)]() mutable {
            if (life->watch != nullptr) life->watch->take(std::move(reading));
        });
    });
}

void HealthWatch::take(Reading reading) {
    surveying_ = false;
    alert::SelfSnapshot& self = reading.health.self;
    const base::BootTime now = loop_->now();
    const auto load = static_cast<std::int64_t>(self.targets / kTasksPerSurvey) + 1;
    not_before_ = now + load * kSurveyEvery;
    census_.take(now, reading.polls, self);
    const std::uint64_t polls = reading.polls.success + reading.polls.failures;
    WorkerCpus cpu = worker_cpus();
    if (!moments_.empty()) {
        const Moment& oldest = moments_.front();
        const double lag = reading.lag.since(oldest.lag).quantile(0.95);
        const bool any = polls > oldest.polls;
        self.start_lag_p95 =
            std::chrono::milliseconds(any ? static_cast<std::int64_t>(lag * 1000) : 0);
        if (auto busiest = busiest_worker(oldest.cpu, cpu, now - oldest.at)) {
            self.worker_cpu_share = busiest->first;
            self.busiest_worker = std::move(busiest->second);
        }
    }
    moments_.push_back({now, polls, reading.lag, std::move(cpu)});
    while (now - moments_.front().at > kWindow) moments_.pop_front();
    survey_(std::move(reading.health));
}

}  // namespace pollux::runtime
