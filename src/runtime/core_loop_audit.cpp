// CoreLoop: what people do, with its entries in the audit trail.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "runtime/core_loop.hpp"

namespace pollux::runtime {
namespace {

// Entries that wait for a disk that does not take them; then acts are refused. Those of one act on
// many tasks do not use up the room of the others.
constexpr std::size_t kMostEntriesWaiting = 10'000 + kMostOperatedKeys;

bool is_bulk(schedule::OperatorVerb verb) {
    return verb == schedule::OperatorVerb::kResetAllBreakers ||
           verb == schedule::OperatorVerb::kRetryAllDeadLetters;
}

}  // namespace

void CoreLoop::operate(schedule::OperatorAction action, std::optional<model::AuditEntry> entry,
                       OperateDone done) {
    auto act = std::make_unique<Act>();
    act->action = std::move(action);
    act->entry = std::move(entry);
    act->done = std::move(done);
    post([this, act = std::move(act)] { perform(std::move(*act)); });
}

// In a step of its own, so that before and after are those of this act.
void CoreLoop::perform(Act act) {
    if (act.entry && engine_->pump().audit_waiting() >= kMostEntriesWaiting) {
        act.done(base::make_error(
            base::ErrorClass::kTransient, "store.queue_full",
            fmt::format("{} recorded acts wait to be written: the disk is full, too slow or gone, "
                        "and nothing that must be recorded is done until it is back",
                        engine_->pump().audit_waiting())));
        return;
    }
    if (!events_.empty() || !answers_.empty()) step();
    const schedule::SchedulerCore& core = engine_->core();
    if (!is_bulk(act.action.verb)) {
        act.before = facts_of(core, core.find(act.action.key), net::instant_now());
    }
    act.action.correlation = next_correlation_++;
    act.refused = refused_by_plan(act.action);
    if (!act.refused) events_.emplace_back(act.action);
    step(&act);
    if (act.entry) return;  // moved to those that wait for their commit
    act.done(std::move(act.result));
}

std::optional<base::Error> CoreLoop::refused_by_plan(const schedule::OperatorAction& action) const {
    using schedule::OperatorVerb;
    if (action.verb != OperatorVerb::kEnable && action.verb != OperatorVerb::kTriggerNow) {
        return std::nullopt;
    }
    const model::TaskHandle task = engine_->core().find(action.key);
    if (!engine_->core().is_live(task) || task.index >= plans_.size()) return std::nullopt;
    const auto& plan = plans_[task.index];
    if (!plan || plan->paused.empty()) return std::nullopt;
    return base::Error{"addon.disabled", base::ErrorClass::kConfig, plan->paused};
}

// Of an act on many: each task with its own state before and after, beside the entry of the act.
// Only what a bulk act changes was other before.
void CoreLoop::record_each(const model::AuditEntry& act, const schedule::Acted& acted,
                           base::Instant now) {
    const schedule::SchedulerCore& core = engine_->core();
    const std::size_t named = std::min(acted.tasks.size(), kMostOperatedKeys);
    for (std::size_t i = 0; i < named; ++i) {
        const auto after = facts_of(core, acted.tasks[i], now);
        if (!after) continue;
        TaskFacts before = *after;
        before.breaker = acted.before[i].breaker;
        before.next_due = now.wall + (acted.before[i].next_due - now.boot);
        model::AuditEntry entry = act;
        entry.object = core.key(acted.tasks[i]);
        entry.before = audit_text(before);
        entry.after = audit_text(*after);
        engine_->record(now, std::move(entry), {});
    }
}

// Between the decision and the batch: what the act did, and its entry.
void CoreLoop::finish(Act& act, base::Instant now) {
    const schedule::SchedulerCore& core = engine_->core();
    const std::uint64_t correlation = act.action.correlation;
    OperateResult result;
    std::vector<model::TaskHandle> touched;
    const auto acted =
        std::ranges::find(out_.commands.acted, correlation, &schedule::Acted::correlation);
    if (acted != out_.commands.acted.end()) {
        touched = acted->tasks;
        result.count = touched.size();
        const std::size_t named = std::min(touched.size(), kMostOperatedKeys);
        result.keys.reserve(named);
        for (std::size_t i = 0; i < named; ++i) result.keys.push_back(core.key(touched[i]));
    } else if (const model::TaskHandle task = core.find(act.action.key); core.is_live(task)) {
        touched.push_back(task);
        result.count = 1;
        result.before = act.before.value_or(TaskFacts{});
        result.after = facts_of(core, task, now).value_or(TaskFacts{});
    }
    const auto refused =
        std::ranges::find(out_.commands.rejections, correlation, &schedule::Rejection::correlation);
    if (refused != out_.commands.rejections.end()) act.refused = refused->error;
    const bool failed = act.refused.has_value();
    if (act.entry) {
        model::AuditEntry entry = *act.entry;
        if (entry.at == base::WallTime{}) entry.at = now.wall;
        if (entry.object.empty()) {
            entry.object = is_bulk(act.action.verb) ? "*" : act.action.key;
        }
        if (act.before) entry.before = audit_text(*act.before);
        if (failed) {
            entry.result = model::AuditResult::kFailed;
            entry.after = fmt::format("{}: {}", act.refused->code, act.refused->message);
            touched.clear();
        } else {
            entry.after = is_bulk(act.action.verb) ? audit_text(result.keys, result.count)
                                                   : audit_text(result.after);
        }
        const model::AuditEntry of_act = entry;
        engine_->record(now, std::move(entry), touched);
        if (acted != out_.commands.acted.end()) record_each(of_act, *acted, now);
    }
    act.result = failed ? base::Result<OperateResult>(std::unexpected(*act.refused))
                        : base::Result<OperateResult>(std::move(result));
    if (!act.entry) return;
    act.give_up = now.boot + act_patience_;
    acts_.push_back(std::move(act));
    act.entry.emplace();  // so that the caller knows where it went
}

// All entries that wait are in the batch that is new; one that is tried again holds older ones.
void CoreLoop::assign_acts() {
    if (out_.batch->sequence <= newest_sequence_) return;
    newest_sequence_ = out_.batch->sequence;
    for (Act& act : acts_) {
        if (act.sequence == 0) act.sequence = newest_sequence_;
    }
}

void CoreLoop::settle_acts() {
    if (acts_.empty()) return;
    const base::BootTime now = net::boot_now();
    const auto committed = [&](const Act& act) {
        return std::ranges::any_of(answers_, [&](const engine::StoreAnswer& answer) {
            return answer.committed && answer.sequence == act.sequence && act.sequence != 0;
        });
    };
    // Answered after they were taken out: what is called may come back with another act.
    std::vector<Act> ready;
    std::deque<Act> waiting;
    for (Act& act : acts_) {
        if (committed(act)) {
            ready.push_back(std::move(act));
        } else if (now >= act.give_up) {
            if (act.result) {
                act.result = base::make_error(
                    base::ErrorClass::kTransient, "store.not_committed",
                    fmt::format("it was done and is in force, but could not be written to the disk "
                                "yet{}{}: it is written with its audit record when the disk takes "
                                "it, and both are lost if the server ends before",
                                store_error_.empty() ? "" : ": ", store_error_));
            }
            ready.push_back(std::move(act));
        } else {
            waiting.push_back(std::move(act));
        }
    }
    acts_ = std::move(waiting);
    for (Act& act : ready) act.done(std::move(act.result));
}

base::BootTime CoreLoop::acts_wake() const {
    return acts_.empty() ? base::BootTime::max() : acts_.front().give_up;
}

// The thread has ended.
void CoreLoop::drop_acts() {
    for (Act& act : std::exchange(acts_, {})) {
        act.done(base::make_error(base::ErrorClass::kTransient, "core.stopped",
                                  "it was done, but the server stopped before the disk confirmed "
                                  "it: look into the audit trail after the next start"));
    }
}

}  // namespace pollux::runtime
