// Cases that only the scheduler as a whole can answer: key, plan_sequence, queue_snapshot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "model/task_key.hpp"
#include "model/validate.hpp"
#include "schedule/classic_interval.hpp"
#include "schedule/scheduler_core.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

using base::BootTime;
using base::Duration;
using schedule::Event;

// Second 0 of a case. Not the moment of boot, so that the case may also name times before it.
constexpr base::Instant kStart{BootTime{3'600'000'000'000}, base::WallTime{1'700'000'000'000'000}};

// The core asks to be stepped about once a second; a case that needs more spans days.
constexpr int kMaxSteps = 100'000;

// A run is answered at the moment it starts, and its task is then due later: this is never reached.
constexpr int kMaxRounds = 1'000;

base::Instant instant_at(Duration offset) { return {kStart.boot + offset, kStart.wall + offset}; }

double second_of(BootTime time) { return base::to_seconds(time - kStart.boot); }

// A core with one step at a time, whose workers answer every run at once and well.
class SteppedCore {
  public:
    SteppedCore(const std::vector<std::string>& classes, Fields& inputs)
        : core_(kStart, 1, settings_for(classes, inputs)), inputs_(&inputs) {}

    const schedule::SchedulerCore& core() const { return core_; }

    // Lets the core run up to `offset`, and ends there.
    void run_until(Duration offset) {
        for (int steps = 0; now_ < offset; ++steps) {
            if (steps == kMaxSteps) {
                inputs_->problem("passes_at_s", "spans more time than a case may take");
                return;
            }
            const Duration wake = commands_.wake_at - kStart.boot;
            const Duration tick = now_ + std::chrono::milliseconds(1);
            step(std::min(offset, std::max(wake, tick)), {});
        }
    }

    // The due times of the runs that this event started now, in order.
    std::vector<BootTime> apply(Event event) {
        std::vector<BootTime> started = step(now_, {std::move(event)});
        for (const schedule::Rejection& rejection : rejections_) {
            inputs_->problem("the scheduler refuses", rejection.error.message);
        }
        return started;
    }

  private:
    static model::CoreSettings settings_for(const std::vector<std::string>& classes,
                                            Fields& inputs) {
        model::CoreSettings settings;
        for (const std::string& name : classes) {
            model::ClassSettings class_settings;
            class_settings.name = name;
            settings.classes.push_back(std::move(class_settings));
        }
        if (const auto status = model::validate(settings); !status) {
            inputs.problem("the scheduler refuses", status.error().message);
            return {};
        }
        return settings;
    }

    std::vector<BootTime> step(Duration offset, std::vector<Event> events) {
        now_ = offset;
        std::vector<BootTime> started;
        rejections_.clear();
        for (int round = 0; round == 0 || !events.empty(); ++round) {
            if (round == kMaxRounds) {
                inputs_->problem("the scheduler", "starts a task again and again at one moment");
                break;
            }
            commands_.clear();
            core_.step(instant_at(now_), events, commands_);
            events.clear();
            for (const schedule::StartRun& start : commands_.starts) {
                started.push_back(start.due);
                events.emplace_back(schedule::RunFinished{.task = start.task, .run = start.run});
            }
            std::ranges::copy(commands_.rejections, std::back_inserter(rejections_));
        }
        return started;
    }

    schedule::SchedulerCore core_;
    schedule::Commands commands_;
    std::vector<schedule::Rejection> rejections_;
    Fields* inputs_;
    Duration now_{};
};

void run_key(CaseRun& run) {
    const std::string type = run.inputs().text("type");
    const std::string instance = run.inputs().text("instance");
    const std::string key = model::make_task_key(type, instance);
    run.check_text("key", key);
    const auto parsed = model::parse_task_key(key);
    if (!parsed) {
        run.mismatch("key", "a key that can be read back", parsed.error().message);
    } else if (parsed->class_name != type || parsed->name != instance) {
        run.mismatch("key, read back", type + " and " + instance,
                     parsed->class_name + " and " + parsed->name);
    }
}

// The interval that the task has at each pass, as the planner would hand it to the core.
std::vector<Duration> read_intervals(Fields& inputs, std::size_t passes) {
    Fields fields = inputs.object("config");
    schedule::ClassicConfig config;
    config.base = fields.seconds("base_s");
    config.min = fields.seconds("min_s");
    config.max = fields.seconds("max_s");
    fields.finish();
    config = normalised(config);

    std::vector<Duration> result;
    for (const double wanted : inputs.one_or_more("selector_interval_s")) {
        result.push_back(std::clamp(base::from_seconds(wanted), config.min, config.max));
    }
    if (result.size() == 1) result.resize(passes, result.front());
    if (result.size() != passes) {
        inputs.problem("selector_interval_s", "must be one number, or one for each pass");
        result.resize(passes, config.base);
    }
    return result;
}

// Where each pass finds the task: at the slot whose run it starts, else at the planned one.
std::vector<double> next_runs(Fields& inputs, const std::vector<double>& passes,
                              const std::vector<Duration>& intervals) {
    SteppedCore stepped({"pve"}, inputs);
    std::vector<double> result;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        stepped.run_until(base::from_seconds(passes[i]));
        model::TaskSpec spec;
        spec.key = "pve::planned";
        spec.cadence = model::Cadence::fixed(intervals[i]);
        spec.version = i + 1;
        const auto started = stepped.apply(schedule::TasksUpserted{
            std::make_shared<const std::vector<model::TaskSpec>>(std::vector{spec})});
        const BootTime now = kStart.boot + base::from_seconds(passes[i]);
        const auto plan = stepped.core().plan(now, 1);
        if (started.empty() && plan.empty()) {
            inputs.problem("passes_at_s", "the scheduler has no plan for the task");
            return result;
        }
        result.push_back(second_of(started.empty() ? plan.front().due : started.front()));
    }
    return result;
}

void run_plan_sequence(CaseRun& run) {
    Fields& inputs = run.inputs();
    const std::vector<double> passes = inputs.numbers("passes_at_s");
    if (passes.empty() || passes.front() < 0 || !std::ranges::is_sorted(passes)) {
        inputs.problem("passes_at_s", "must be ascending seconds from 0 on");
        return;
    }
    if (!inputs.boolean("feed_last_plan_back")) {
        inputs.problem("feed_last_plan_back", "must be true: the core always knows its plan");
    }
    const std::vector<double> got =
        next_runs(inputs, passes, read_intervals(inputs, passes.size()));
    Fields& expected = run.expected();
    if (expected.has("last_next_run_s_max")) {
        const double limit = expected.number("last_next_run_s_max");
        const double last = got.empty() ? limit : got.back();
        if (last > limit) {
            run.mismatch("last_next_run_s_max", fmt::to_string(limit), fmt::to_string(last));
        }
    }
    if (expected.has("next_run_s") || !expected.has("last_next_run_s_max")) {
        run.check_numbers("next_run_s", got);
    }
}

// A task whose next due is `due` from now, as it would come from the store.
schedule::RestoredTask restored(const Row& row) {
    const Duration due = base::from_seconds(row.numbers[0]);
    schedule::RestoredTask task;
    task.spec.key = model::make_task_key(row.texts[1], row.texts[0]);
    // Never shorter than the wait: nothing may be planned further ahead than its interval.
    task.spec.cadence = model::Cadence::fixed(std::max<Duration>(due, std::chrono::hours(1)));
    task.record.key = task.spec.key;
    task.record.next_due = kStart.wall + due;
    task.record.last_success = kStart.wall;
    task.record.interval_ms = static_cast<std::uint32_t>(base::ceil_ms(task.spec.cadence.base));
    return task;
}

void run_queue_snapshot(CaseRun& run) {
    std::vector<std::string> classes;
    std::vector<schedule::RestoredTask> tasks;
    for (const Row& row : run.inputs().rows("tasks", 2, 1)) {
        tasks.push_back(restored(row));
        if (std::ranges::find(classes, row.texts[1]) == classes.end()) {
            classes.push_back(row.texts[1]);
        }
    }
    SteppedCore stepped(classes, run.inputs());
    stepped.apply(schedule::TasksRestored{
        std::make_shared<const std::vector<schedule::RestoredTask>>(std::move(tasks))});

    const schedule::QueueSnapshot got = stepped.core().queue_snapshot(kStart.boot);
    run.check_integer("depth", static_cast<std::int64_t>(got.depth));
    run.check_integer("dueWithinSeconds", static_cast<std::int64_t>(got.due_soon));
    std::map<std::string, std::int64_t> per_type;
    for (const schedule::ClassDepth& entry : got.per_class) {
        if (entry.tasks > 0) per_type[entry.class_name] = static_cast<std::int64_t>(entry.tasks);
    }
    run.check_counts("perType", per_type);
}

constexpr std::array<Category, 3> kCategories = {{
    {"key", run_key},
    {"plan_sequence", run_plan_sequence},
    {"queue_snapshot", run_queue_snapshot},
}};

}  // namespace

std::span<const Category> core_categories() { return kCategories; }

}  // namespace pollux::known_answers
