#include "runtime/core_metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "observe/metric_writer.hpp"
#include "runtime/jobs/job_metrics.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::runtime {
namespace {

using observe::MetricId;
using observe::MetricWriter;
using schedule::TaskSlot;

constexpr std::string_view kEverybody = "*";

struct ClassGauges {
    std::size_t enabled = 0;
    std::size_t disabled = 0;
    std::size_t in_flight = 0;
    std::size_t over_bound = 0;
    std::size_t never_seen = 0;
    double planned_rate = 0;
    std::array<std::size_t, model::kTierCount> ready{};
};

struct Target {
    std::uint32_t index = 0;
    std::uint16_t class_index = 0;
    std::string_view name;  // the key without its class
    schedule::Freshness freshness;
    bool enabled = true;

    // How far over its bound, as a share: what "worst" means.
    double badness() const {
        const double bound = base::to_seconds(freshness.bound);
        return bound > 0 ? base::to_seconds(freshness.age) / bound : 0;
    }
};

class CorePage {
  public:
    CorePage(const CoreLoop::View& view, std::string& out)
        : view_(view), core_(view.engine.core()), now_(view.now.boot), writer_(out) {
        gauges_.resize(core_.settings().classes.size());
        all_ = core_.size() <= view.stats.target_limit();
        collect();
    }

    void write() {
        write_polls();
        write_freshness();
        write_queue();
        write_failures();
        write_totals();
    }

  private:
    const std::string& class_name(std::size_t index) const {
        return core_.settings().classes[index].name;
    }

    // Classes of jobs have families of their own.
    bool polls(std::size_t index) const {
        return !class_name(index).starts_with(model::job_class(""));
    }

    void collect() {
        for (std::uint32_t index = 0; index < core_.capacity(); ++index) {
            if (!core_.occupied(index)) continue;
            collect(index);
        }
        if (all_) return;
        const std::size_t kept = std::min(kWorstTargets, targets_.size());
        std::ranges::partial_sort(
            targets_, targets_.begin() + static_cast<std::ptrdiff_t>(kept),
            [](const Target& a, const Target& b) { return a.badness() > b.badness(); });
        targets_.resize(kept);
    }

    void collect(std::uint32_t index) {
        const model::TaskHandle handle = core_.handle_at(index);
        const TaskSlot& slot = core_.slot(handle);
        if (!slot.recurring()) return;
        ClassGauges& gauges = gauges_[slot.class_index];
        const bool enabled = slot.has(schedule::kFlagEnabled);
        ++(enabled ? gauges.enabled : gauges.disabled);
        const schedule::Freshness freshness = core_.freshness(handle, now_);
        if (slot.place == schedule::Place::kRunning) ++gauges.in_flight;
        if (schedule::is_due_and_waiting(slot.place)) {
            ++gauges.ready[static_cast<std::size_t>(slot.run_tier)];
        }
        if (enabled) {
            if (!freshness.has_data()) {
                ++gauges.never_seen;
            } else if (freshness.age > freshness.bound) {
                ++gauges.over_bound;
            }
            if (slot.interval_ms > 0) gauges.planned_rate += 1000.0 / slot.interval_ms;
        }
        if (slot.failure != model::kNoIndex) failing_.push_back(handle);
        if (all_ || (enabled && freshness.age > freshness.bound / 2)) {
            targets_.push_back(
                {index, slot.class_index, name_of(core_.key(handle)), freshness, enabled});
        }
    }

    void write_counts(std::string_view type, std::string_view name, const PollCounts& counts) {
        writer_.sample({type, name, "success"}, static_cast<double>(counts.success));
        writer_.sample({type, name, "error"}, static_cast<double>(counts.failures()));
    }

    // Calls visit(class, instance, counts) for each series of polls.
    template <class Visit>
    void each_counted(Visit&& visit) {
        if (!all_) {
            for (std::size_t c = 0; c < gauges_.size(); ++c) {
                if (!polls(c)) continue;
                const auto& counts = view_.stats.of_class(static_cast<std::uint16_t>(c)).polls;
                visit(class_name(c), kEverybody, counts);
            }
            return;
        }
        for (const Target& target : targets_) {
            const PollCounts* counts = view_.stats.of(target.index);
            if (counts != nullptr) visit(class_name(target.class_index), target.name, *counts);
        }
    }

    void write_polls() {
        writer_.family(MetricId::kPollDuration);
        each_counted([this](std::string_view type, std::string_view name, const auto& counts) {
            writer_.histogram({type, name}, observe::kPollDurationBounds, counts.duration.counts(),
                              counts.duration.sum());
        });
        writer_.family(MetricId::kPollTotal);
        each_counted([this](std::string_view type, std::string_view name, const auto& counts) {
            write_counts(type, name, counts);
        });
        writer_.family(MetricId::kPollErrors);
        each_counted([this](std::string_view type, std::string_view name, const auto& counts) {
            for (std::size_t kind = 1; kind < kFailureKinds; ++kind) {
                if (counts.errors[kind] == 0) continue;
                writer_.sample(
                    {type, name, model::to_string(static_cast<model::FailureKind>(kind))},
                    static_cast<double>(counts.errors[kind]));
            }
        });
    }

    template <class Value>
    void per_target(MetricId id, Value&& value) {
        writer_.family(id);
        for (const Target& target : targets_) {
            if (const std::optional<double> number = value(target)) {
                writer_.sample({class_name(target.class_index), target.name}, *number);
            }
        }
    }

    void write_freshness() {
        per_target(MetricId::kPollLastSuccess, [this](const Target& target) {
            const base::WallTime at = view_.now.wall - (now_ - target.freshness.last_success);
            return target.freshness.has_data() ? std::optional(static_cast<double>(at.us) / 1e6)
                                               : std::nullopt;
        });
        per_target(MetricId::kPollStaleness, [](const Target& target) {
            return std::optional(
                target.freshness.has_data() ? base::to_seconds(target.freshness.age) : -1.0);
        });
        per_target(MetricId::kStalenessBound, [](const Target& target) {
            return std::optional(base::to_seconds(target.freshness.bound));
        });
        per_target(MetricId::kIntervalInForce, [](const Target& target) {
            return std::optional(base::to_seconds(target.freshness.expected_age));
        });
        per_class(MetricId::kTargetsOverBound, &ClassGauges::over_bound);
        per_class(MetricId::kTargetsNeverSeen, &ClassGauges::never_seen);
        writer_.family(MetricId::kTargets);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            writer_.sample({class_name(c), "true"}, static_cast<double>(gauges_[c].enabled));
            writer_.sample({class_name(c), "false"}, static_cast<double>(gauges_[c].disabled));
        }
    }

    void per_class(MetricId id, std::size_t ClassGauges::* member) {
        writer_.family(id);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            writer_.sample({class_name(c)}, static_cast<double>(gauges_[c].*member));
        }
    }

    void write_queue() {
        const schedule::QueueSnapshot queue = core_.queue_snapshot(now_);
        writer_.family(MetricId::kPollQueueDepth);
        writer_.sample({}, static_cast<double>(queue.depth));
        writer_.family(MetricId::kQueueDueSoon);
        writer_.sample({}, static_cast<double>(queue.due_soon));
        writer_.family(MetricId::kQueueDepth);
        for (const auto& one : queue.per_class) {
            writer_.sample({one.class_name}, static_cast<double>(one.tasks));
        }
        per_class(MetricId::kPollInFlight, &ClassGauges::in_flight);
        writer_.family(MetricId::kReadyDepth);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            for (std::size_t tier = 0; tier < model::kTierCount; ++tier) {
                writer_.sample({class_name(c), model::kTierNames[tier]},
                               static_cast<double>(gauges_[c].ready[tier]));
            }
        }
        writer_.family(MetricId::kQueueWait);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            const auto& wait = view_.stats.of_class(static_cast<std::uint16_t>(c)).wait;
            writer_.histogram({class_name(c)}, observe::kQueueWaitBounds, wait.counts(),
                              wait.sum());
        }
        writer_.family(MetricId::kScheduleLag);
        writer_.histogram({}, observe::kQueueWaitBounds, view_.stats.lag().counts(),
                          view_.stats.lag().sum());
        writer_.family(MetricId::kPlannedRate);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            writer_.sample({class_name(c)}, gauges_[c].planned_rate);
        }
    }

    template <class Value>
    void per_failing(MetricId id, Value&& value) {
        writer_.family(id);
        std::size_t written = 0;
        for (const model::TaskHandle task : failing_) {
            if (!all_ && written >= view_.stats.target_limit()) break;
            const std::optional<double> number = value(task, core_.failure(task));
            if (!number) continue;
            ++written;
            writer_.sample({class_name(core_.slot(task).class_index), name_of(core_.key(task))},
                           *number);
        }
    }

    void write_failures() {
        using model::BreakerState;
        using Story = schedule::FailureStory;
        const auto since = [this](base::BootTime at) {
            return std::max(0.0, base::to_seconds(now_ - at));
        };
        per_failing(MetricId::kDeadLetterDepth,
                    [](auto, const Story& story) -> std::optional<double> {
                        if (story.dead_letter == model::DeadLetterReason::kNone) return {};
                        return 1.0;
                    });
        per_failing(MetricId::kBreakerState, [](auto, const Story& story) -> std::optional<double> {
            return story.breaker == BreakerState::kClosed     ? 0.0
                   : story.breaker == BreakerState::kHalfOpen ? 1.0
                                                              : 2.0;
        });
        per_failing(
            MetricId::kBreakerFailures,
            [](auto, const Story& story) -> std::optional<double> { return story.consecutive; });
        per_failing(MetricId::kBreakerRetry,
                    [this](model::TaskHandle task, const Story& story) -> std::optional<double> {
                        if (story.breaker == BreakerState::kClosed) return {};
                        return std::max(0.0, base::to_seconds(core_.slot(task).next_due - now_));
                    });
        per_failing(MetricId::kBreakerOpenSeconds,
                    [&](auto, const Story& story) -> std::optional<double> {
                        if (story.breaker == BreakerState::kClosed) return {};
                        return since(story.first_failure);
                    });
        per_failing(MetricId::kDeadLetterSeconds,
                    [&](auto, const Story& story) -> std::optional<double> {
                        if (story.dead_letter == model::DeadLetterReason::kNone) return {};
                        return since(story.dead_letter_since);
                    });
        writer_.family(MetricId::kRecoveries);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            const auto& counts = view_.stats.of_class(static_cast<std::uint16_t>(c)).recoveries;
            for (std::size_t cause = 0; cause < counts.size(); ++cause) {
                if (counts[cause] == 0) continue;
                writer_.sample(
                    {class_name(c), model::to_string(static_cast<model::Trigger>(cause))},
                    static_cast<double>(counts[cause]));
            }
        }
        writer_.family(MetricId::kReadProblems);
        for (std::size_t c = 0; c < gauges_.size(); ++c) {
            if (!polls(c)) continue;
            const auto& counts = view_.stats.of_class(static_cast<std::uint16_t>(c));
            writer_.sample({class_name(c)}, static_cast<double>(counts.problems));
        }
    }

    void plain(MetricId id, double value) {
        writer_.family(id);
        writer_.sample({}, value);
    }

    void write_totals() {
        const schedule::CoreStats& stats = core_.stats();
        plain(MetricId::kRunsStarted, static_cast<double>(stats.started));
        writer_.family(MetricId::kRunsEnded);
        writer_.sample({"finished"}, static_cast<double>(stats.finished));
        writer_.sample({"expired"}, static_cast<double>(stats.expired));
        writer_.sample({"cancelled"}, static_cast<double>(stats.cancelled));
        plain(MetricId::kStaleResults, static_cast<double>(stats.stale_results));
        plain(MetricId::kSweepRepairs, static_cast<double>(stats.sweep_repairs));
        plain(MetricId::kBudgetInfeasible, core_.budget_infeasible() ? 1 : 0);
        plain(MetricId::kAdaptiveMode, static_cast<double>(core_.settings().mode));
        plain(MetricId::kStoreFailing, view_.engine.pump().failing() ? 1 : 0);
    }

    const CoreLoop::View& view_;
    const schedule::SchedulerCore& core_;
    base::BootTime now_;
    MetricWriter writer_;
    bool all_ = true;
    std::vector<ClassGauges> gauges_;
    std::vector<Target> targets_;
    std::vector<model::TaskHandle> failing_;
};

}  // namespace

void write_core_metrics(const CoreLoop::View& view, std::string& out) {
    CorePage(view, out).write();
    write_job_metrics(view, out);
}

}  // namespace pollux::runtime
