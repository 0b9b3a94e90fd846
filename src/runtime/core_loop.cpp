#include "runtime/core_loop.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <condition_variable>
#include <mutex>

#include "base/check.hpp"
#include "runtime/change_log.hpp"
#include "runtime/insight_books.hpp"
#include "runtime/jobs/job_work.hpp"

namespace pollux::runtime {
namespace {

// A batch that no pump waits for: rows of tasks that went while the server was down.
constexpr std::uint64_t kNobodysSequence = 0;
constexpr base::Duration kGatherFailures = std::chrono::seconds(1);

// Lets the caller's thread wait for something on the core's thread.
class Signal {
  public:
    void set() {
        const std::lock_guard lock(mutex_);
        set_ = true;
        changed_.notify_all();
    }
    bool wait(base::Duration longest) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, longest, [this] { return set_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

}  // namespace

CoreLoop::CoreLoop(store::Store& store, observe::Log& log, CoreWiring wiring, std::size_t shards,
                   std::size_t target_limit)
    : store_(store),
      log_(log),
      wiring_(std::move(wiring)),
      shards_(shards),
      stats_(target_limit),
      insight_(std::make_unique<InsightBooks>(net::wall_now())),
      outgoing_(shards) {}

CoreLoop::~CoreLoop() {
    stop(base::Duration::zero());
    step_timer_.reset();  // also if it never ran
}

void CoreLoop::start(std::uint32_t epoch, std::uint64_t first_change, model::CoreSettings settings,
                     engine::PumpOptions pump) {
    loop_ = net::EventLoop::create().value();
    act_patience_ = pump.provisional_after;
    engine_ = std::make_unique<engine::Engine>(net::instant_now(), epoch, first_change,
                                               std::move(settings), pump);
    step_timer_ = std::make_unique<net::Timer>(*loop_, [this] { step(); });
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-core");
        loop_->run();
    });
}

void CoreLoop::stop(base::Duration longest) {
    if (!thread_.joinable()) return;
    const base::BootTime give_up = net::boot_now() + longest;
    // Without credit nothing starts; what is under way may still end.
    post([this] { events_.emplace_back(schedule::CreditChanged{"", 0}); });
    while (net::boot_now() < give_up) {
        const auto idle = std::make_shared<std::atomic<bool>>(false);
        const auto asked = std::make_shared<Signal>();
        post([this, idle, asked] {
            *idle =
                engine_->core().in_flight() == 0 && engine_->pump().waiting() == 0 && acts_.empty();
            asked->set();
        });
        asked->wait(std::chrono::milliseconds(100));
        if (*idle) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    loop_->stop();
    thread_.join();
    write_failures(base::Duration::zero());
    write_queues();
    step_timer_.reset();
    drop_acts();
}

void CoreLoop::post(std::move_only_function<void()> work) {
    loop_->post([this, work = std::move(work)]() mutable {
        work();
        step_timer_->arm(loop_->now());
    });
}

void CoreLoop::deliver(std::vector<RunReport> reports) {
    post([this, reports = std::move(reports)]() mutable {
        for (RunReport& report : reports) take_report(std::move(report));
    });
}

void CoreLoop::answer(engine::StoreAnswer answer, const base::Error* why) {
    if (answer.sequence == kNobodysSequence) return;
    std::string text = why == nullptr ? "" : why->message;
    post([this, answer, text = std::move(text)] {
        answers_.push_back(answer);
        if (!answer.committed) store_error_ = text;
        if (answer.committed == store_failing_) {
            store_failing_ = !answer.committed;
            if (store_failing_) {
                log_.error("store cannot commit: polling goes on, changes are kept in memory",
                           {{"error", text}});
            } else {
                log_.info("store commits again", {});
            }
        }
    });
}

void CoreLoop::edit(CoreEdit edit, std::move_only_function<void(std::vector<base::Error>)> done) {
    post([this, edit = std::move(edit), done = std::move(done)]() mutable {
        take_edit(std::move(edit), std::move(done));
    });
}

void CoreLoop::operate(schedule::OperatorAction action,
                       std::move_only_function<void(base::Status)> done) {
    post([this, action = std::move(action), done = std::move(done)]() mutable {
        if (auto refused = refused_by_plan(action)) {
            done(std::unexpected(std::move(*refused)));
            return;
        }
        action.correlation = next_correlation_++;
        auto answer = [done = std::move(done)](std::vector<base::Error> errors) mutable {
            done(errors.empty() ? base::Status{} : std::unexpected(std::move(errors.front())));
        };
        waiting_[action.correlation].done = std::move(answer);
        events_.emplace_back(std::move(action));
    });
}

void CoreLoop::poke(std::vector<std::string> keys, schedule::PokeReason reason) {
    post([this, keys = std::move(keys), reason] {
        for (const std::string& key : keys) {
            const model::TaskHandle task = engine_->core().find(key);
            if (engine_->core().is_live(task)) {
                events_.emplace_back(schedule::Poked{task, reason});
            } else {
                log_.info("nothing to poll at once: there is no such target any more",
                          {{"key", key}});
            }
        }
    });
}

void CoreLoop::ask(std::move_only_function<void(const View&)> question) {
    loop_->post([this, question = std::move(question)]() mutable {
        // What came before the question is taken first, so that its answer shows it.
        if (step_timer_->armed() && step_timer_->at() <= loop_->now()) step();
        const auto plan = [this](std::uint32_t task) -> const PollPlan* {
            return task < plans_.size() ? plans_[task].get() : nullptr;
        };
        question(View{*engine_, stats_, failures_.all(), plan, net::instant_now(),
                      loop_->take_longest_turn(), jobs_.stats(), batches_, queues_, regions_,
                      *insight_});
    });
}

void CoreLoop::recall_failures(std::vector<std::pair<std::string, std::string>> rows) {
    post([this, rows = std::move(rows)] {
        for (const auto& [key, bytes] : rows) {
            const model::TaskHandle task = engine_->core().find(key);
            // Only of those that fail still: the others recovered, and the row was not removed yet.
            const bool failing =
                engine_->core().is_live(task) && engine_->core().failure(task).consecutive > 0;
            if (failing) {
                failures_.recall(task.index, key, bytes);
            } else {
                failures_.drop(key);
            }
        }
    });
}

void CoreLoop::recall_queues(std::vector<std::pair<std::string, std::string>> classes,
                             std::vector<std::pair<std::string, std::string>> regions) {
    post([this, classes = std::move(classes), regions = std::move(regions)]() mutable {
        for (auto& [name, bytes] : classes) queues_.recall(std::move(name), bytes);
        for (auto& [name, bytes] : regions) regions_.recall(std::move(name), bytes);
    });
}

void CoreLoop::set_target_limit(std::size_t limit) {
    post([this, limit] { stats_.set_target_limit(limit); });
}

// --- on the core's thread -----------------------------------------------------------------------

void CoreLoop::take_edit(CoreEdit edit,
                         std::move_only_function<void(std::vector<base::Error>)> done) {
    const std::uint64_t correlation = next_correlation_++;
    waiting_[correlation].done = std::move(done);
    if (edit.settings) events_.emplace_back(schedule::SettingsChanged{edit.settings, correlation});
    for (model::DeviceSpec& device : edit.devices) {
        events_.emplace_back(schedule::DeviceChanged{
            std::make_shared<const model::DeviceSpec>(std::move(device)), correlation});
    }
    for (std::string& key : edit.removed) {
        events_.emplace_back(schedule::TaskRemoved{std::move(key), correlation});
    }
    if (edit.restored) events_.emplace_back(schedule::TasksRestored{edit.restored, correlation});
    if (edit.upserted && !edit.upserted->empty()) {
        events_.emplace_back(schedule::TasksUpserted{edit.upserted, correlation});
    }
    for (auto& plan : edit.plans) new_plans_.push_back(std::move(plan));
    for (std::string& key : edit.poked) to_poke_.push_back(std::move(key));
}

void CoreLoop::count_report(const RunReport& report) {
    const schedule::SchedulerCore& core = engine_->core();
    if (!core.is_live(report.task)) return;
    const schedule::TaskSlot& slot = core.slot(report.task);
    const bool success = model::is_success(report.outcome);
    const bool poll = slot.recurring();
    if (report.outcome != model::Outcome::kInterrupted) {
        queues_.ended(slot.class_index, core.settings().classes[slot.class_index].name, success,
                      report.duration);
        regions_.ended(slot.region, core.admission().region_name(slot.region), success,
                       report.duration);
    }
    if (poll && report.outcome != model::Outcome::kInterrupted) {
        stats_.ended(report.task.index, slot.class_index, success, report.kind,
                     base::to_seconds(report.duration));
    }
    if (report.problems > 0) stats_.problems(slot.class_index, report.problems);
    if (success) {
        if (poll && !slot.has(schedule::kFlagUp)) {
            stats_.recovered(slot.class_index, report.trigger);
        }
        failures_.recovered(report.task.index, core.key(report.task));
    } else if (report.outcome != model::Outcome::kInterrupted) {
        failures_.failed(report.task.index, core.key(report.task),
                         {report.code, report.message, net::wall_now(), report.heard});
        log_.debug(
            poll ? "poll failed" : "job failed",
            {{"key", core.key(report.task)}, {"code", report.code}, {"error", report.message}});
    }
    if (!poll) return;
    note_end(report);
    note_poll(report);
}

void CoreLoop::take_report(RunReport report) {
    const schedule::SchedulerCore& core = engine_->core();
    const bool job = core.is_live(report.task) && !core.slot(report.task).recurring();
    if (job && !jobs_.end(*engine_, report, net::instant_now())) return;
    count_report(report);
    if (!job) {
        for (RunReport& follower : jobs_.follow(report)) take_report(std::move(follower));
    }
    finish(report);
}

void CoreLoop::finish(const RunReport& report) {
    events_.emplace_back(schedule::RunFinished{.task = report.task,
                                               .run = report.run,
                                               .outcome = report.outcome,
                                               .has_digest = report.has_digest,
                                               .digest = report.digest,
                                               .retry_after = report.retry_after,
                                               .job_delay = report.job_delay});
}

void CoreLoop::step(Act* act) {
    turns_.fetch_add(1, std::memory_order_relaxed);
    stepping_.swap(events_);
    const base::Instant now = net::instant_now();
    const bool bucket_closed = queues_.set_time(now.wall);
    regions_.set_time(now.wall);
    engine_->decide(now, stepping_, answers_, out_);
    if (act != nullptr) finish(*act, now);
    engine_->write(now, out_);
    stepping_.clear();
    settle_acts();
    answers_.clear();
    install_plans();
    follow_changes();
    dispatch_starts();
    note_turn(now);
    send_cancels();
    drop_ended_plans();
    batches_.add(engine_->core(), out_.commands.starts.size(), net::wall_now());
    if (!out_.commands.starts.empty()) jobs_.stats().batch(out_.commands.starts.size());
    submit_batch();
    write_failures(kGatherFailures);
    if (bucket_closed) write_queues();
    for (const engine::TaskChange& change : out_.visible) publish(change);
    tell_polls(now);
    answer_correlations();
    // Events that this turn made itself come first; otherwise the engine says when it is needed.
    // Runs of jobs that began are written soon, whether or not something else happens.
    const base::BootTime wake = std::min({out_.wake_at, engine_->pump().next_wake(), acts_wake()});
    step_timer_->arm(events_.empty() ? wake : loop_->now());
}

void CoreLoop::install_plans() {
    const schedule::SchedulerCore& core = engine_->core();
    for (const auto& forgotten : out_.commands.forgets) {
        const std::uint32_t index = forgotten.task.index;
        if (index < plans_.size() && plans_[index]) {
            if (wiring_.forgotten) wiring_.forgotten(index, *plans_[index]);
            plans_[index].reset();
        }
        stats_.forget(index);
        insight_->forget(index);
        failures_.forget(index, forgotten.key);
        for (RunReport& report : jobs_.target_gone(index)) take_report(std::move(report));
        if (auto change = device_health_.remove(index)) {
            events_.emplace_back(schedule::ParentChanged{change->device, change->healthy});
        }
    }
    for (auto& plan : new_plans_) {
        const model::TaskHandle task = core.find(plan->key);
        if (!core.is_live(task)) continue;  // refused, or removed in the same edit
        if (plans_.size() <= task.index) plans_.resize(task.index + std::size_t{1});
        const bool up = core.slot(task).has(schedule::kFlagUp);
        // A job says nothing about the health of a device.
        auto change = plan->job ? std::nullopt : device_health_.add(task.index, plan->device, up);
        if (change) {
            events_.emplace_back(schedule::ParentChanged{change->device, change->healthy});
        }
        plans_[task.index] = std::move(plan);
    }
    new_plans_.clear();
    for (const std::string& key : to_poke_) {
        const model::TaskHandle task = core.find(key);
        if (core.is_live(task)) {
            events_.emplace_back(schedule::Poked{task, schedule::PokeReason::kEdited});
        }
    }
    to_poke_.clear();
}

void CoreLoop::dispatch_starts() {
    const schedule::SchedulerCore& core = engine_->core();
    const base::Instant instant = net::instant_now();
    const base::BootTime now = instant.boot;
    for (const schedule::StartRun& start : out_.commands.starts) {
        const std::uint32_t index = start.task.index;
        note_start(start, instant);
        const schedule::TaskSlot& slot = core.slot(start.task);
        queues_.started(slot.class_index, core.settings().classes[slot.class_index].name);
        regions_.started(slot.region, core.admission().region_name(slot.region));
        const auto plan = index < plans_.size() ? plans_[index] : nullptr;
        RunOrder order{
            .task = start.task,
            .run = start.run,
            .deadline = start.deadline,
            .attempt = start.attempt,
            .trigger = start.trigger,
            // A failure is believed only when it is seen on a fresh connection too.
            .fresh_login = start.fresh_login || start.trigger == model::Trigger::kConfirm,
            .plan = plan};
        if (!plan || !plan->problem.empty()) {
            RunReport report;
            report.task = start.task;
            report.run = start.run;
            report.outcome = model::Outcome::kPermanent;
            report.kind = model::FailureKind::kConfiguration;
            report.heard = Heard::kNothing;
            report.code = plan ? "poll.configuration" : "poll.no_plan";
            report.message = plan
                                 ? plan->problem
                                 : fmt::format(
                                       "{}: nothing says how to poll it: apply the fleet again, or "
                                       "remove the target",
                                       core.key(start.task));
            // A job is written down with its end, as any other.
            if (plan && plan->job) jobs_.begin(*engine_, order, net::instant_now());
            if (plan || core.slot(start.task).recurring()) {
                take_report(std::move(report));
            } else {
                finish(report);
            }
            continue;
        }
        if (plan->job) {
            jobs_.stats().started(slot.class_index, base::to_seconds(now - slot.ready_since));
            dispatch_job(std::move(order));
            continue;
        }
        stats_.started(slot.class_index, base::to_seconds(now - start.due));
        outgoing_[plan->shard].push_back(std::move(order));
    }
    if (!to_work_.empty()) wiring_.work(std::exchange(to_work_, {}));
    for (std::size_t shard = 0; shard < shards_; ++shard) {
        if (!outgoing_[shard].empty()) wiring_.dispatch(shard, std::exchange(outgoing_[shard], {}));
    }
}

void CoreLoop::dispatch_job(RunOrder order) {
    jobs_.begin(*engine_, order, net::instant_now());
    if (wiring_.job_started) wiring_.job_started(order);
    switch (order.plan->job->host) {
        case JobHost::kShard: outgoing_[order.plan->shard].push_back(std::move(order)); return;
        case JobHost::kWorker: to_work_.push_back(std::move(order)); return;
        case JobHost::kTarget: break;
    }
    if (auto refused = jobs_.poll_target(*engine_, order, events_)) {
        take_report(std::move(*refused));
    }
}

void CoreLoop::send_cancels() {
    for (const schedule::CancelRun& cancel : out_.commands.cancels) {
        const std::uint32_t index = cancel.task.index;
        jobs_.drop(*engine_, cancel.run, net::instant_now());
        // A removed task has no plan any more, so every shard is told.
        wiring_.cancel({{cancel.task, cancel.run}},
                       index < plans_.size() ? plans_[index] : nullptr);
    }
}

void CoreLoop::follow_changes() {
    for (const schedule::Change& change : out_.commands.changes) {
        const bool ended = change.kind == schedule::ChangeKind::kJob &&
                           change.to != static_cast<std::uint8_t>(model::JobState::kPending);
        // What is done is not done again; a retry brings its plan along.
        if (ended && change.task.index < plans_.size()) ended_.push_back(change.task.index);
        if (change.kind != schedule::ChangeKind::kHealth) continue;
        if (auto device = device_health_.report(change.task.index, change.to == 1)) {
            events_.emplace_back(schedule::ParentChanged{device->device, device->healthy});
        }
    }
}

void CoreLoop::drop_ended_plans() {
    for (const std::uint32_t index : std::exchange(ended_, {})) {
        if (plans_[index] && plans_[index]->job) plans_[index].reset();
    }
}

void CoreLoop::submit_batch() {
    if (!out_.batch) return;
    const std::uint64_t sequence = out_.batch->sequence;
    assign_acts();
    const base::Status accepted = store_.submit(out_.batch);
    if (!accepted) {
        const base::Error error = accepted.error();
        // As if it had been refused by the disk: the pump keeps it and tries again.
        loop_->post([this, sequence, error] { answer({sequence, false}, &error); });
    }
}

// Lost words are heard again at the next failure, so nobody waits for the answer.
void CoreLoop::write_failures(base::Duration gather) {
    const base::BootTime now = net::boot_now();
    if (!failures_.has_changes() || now - failures_written_ < gather) return;
    failures_written_ = now;
    [[maybe_unused]] const auto status = store_.submit(failures_.take_changes(), {});
}

// As above: who loses a row counts from now on.
void CoreLoop::write_queues() {
    for (QueueHistory* history : {&queues_, &regions_}) {
        store::MemoryBatch batch = history->save();
        if (batch.rows.empty() && batch.removed.empty()) continue;
        [[maybe_unused]] const auto status = store_.submit(std::move(batch), {});
    }
}

void CoreLoop::publish(const engine::TaskChange& change) {
    const schedule::SchedulerCore& core = engine_->core();
    const model::TaskHandle task = core.find(change.key);
    const auto found = failures_.all().find(task.index);
    engine::TaskChange told = change;
    if (change.change.kind == schedule::ChangeKind::kHealth && core.is_live(task)) {
        // The core says up or down before it decides what follows; people want to read both.
        told.change.failures = core.failure(task).consecutive;
        told.change.next_due = core.slot(task).next_due;
    }
    const base::Instant now = net::instant_now();
    const std::string reason = found == failures_.all().end() ? "" : found->second.message;
    log_change(log_, told, reason, now);
    if (wiring_.published) wiring_.published(change);
    TaskNews news = to_news(told, reason, now);
    news.answered = found != failures_.all().end() && found->second.heard == Heard::kAnswer;
    if (wiring_.news) wiring_.news(news);
    if (wiring_.events != nullptr) wiring_.events->changed(news);
}

void CoreLoop::answer_correlations() {
    for (const schedule::Rejection& rejection : out_.commands.rejections) {
        const auto found = waiting_.find(rejection.correlation);
        if (found != waiting_.end()) found->second.errors.push_back(rejection.error);
        log_.error("the core refused an edit",
                   {{"code", rejection.error.code}, {"error", rejection.error.message}});
    }
    for (auto& [correlation, waiting] : std::exchange(waiting_, {})) {
        waiting.done(std::move(waiting.errors));
    }
}

}  // namespace pollux::runtime
