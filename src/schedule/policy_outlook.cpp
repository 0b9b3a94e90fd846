#include "schedule/policy_outlook.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "schedule/classic_interval.hpp"
#include "schedule/interval_planner.hpp"
#include "schedule/staleness.hpp"
#include "schedule/task_table.hpp"
#include "schedule/timing_table.hpp"

namespace pollux::schedule {
namespace {

// Any moment will do, as long as what was quiet for days lies after the beginning of time.
constexpr base::BootTime kNow{std::int64_t{4'000'000} * 1'000'000'000};
constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
constexpr int kRounds = 2;  // the second one sees what the first one changed
// The smoothed interval of the classic rule settles, or swings around a mean for ever.
constexpr int kClassicWarmUp = 32;
constexpr int kClassicRounds = 32;

std::uint32_t to_ms(base::Duration value) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(base::round_to_ms(value).count() / 1'000'000, 0, 0xFFFFFFFE));
}

// What the core has around its planner, and no more.
class Scene {
  public:
    explicit Scene(const OutlookInput& input) : input_(input), settings_(input.settings) {
        if (input.policy) {
            settings_.mode = model::AdaptiveMode::kOn;
            for (model::ClassSettings& one : settings_.classes) one.policy = *input.policy;
        }
        std::vector<std::uint32_t> bounds;
        for (std::size_t i = 0; i < settings_.classes.size(); ++i) {
            const model::ClassSettings& one = settings_.classes[i];
            classes_.emplace(one.name, static_cast<std::uint16_t>(i));
            bounds.push_back(one.staleness_bound ? to_ms(*one.staleness_bound) : 0);
        }
        timings_.set_bounds(to_ms(settings_.staleness_bound), bounds);
        planner_.configure(settings_);
        planner_.set_pressure(input.pressure);
    }

    std::vector<std::uint32_t> look() {
        for (std::size_t i = 0; i < input_.tasks.size(); ++i) {
            places_.push_back(add(input_.tasks[i], input_.learned[i]));
        }
        for (int round = 0; round < kRounds; ++round) {
            planner_.solve(kNow, input_.p95_poll_s);
            for (const std::uint32_t task : places_) {
                if (task != kNowhere) planner_.replan(task, kNow);
            }
        }
        std::vector<std::uint32_t> intervals;
        intervals.reserve(places_.size());
        for (const std::uint32_t task : places_) {
            intervals.push_back(task == kNowhere ? 0 : interval_of(task));
        }
        return intervals;
    }

  private:
    std::uint32_t add(const model::TaskSpec& spec, const LearnedTask& learned) {
        const auto found = classes_.find(std::string_view(spec.key).substr(0, spec.key.find("::")));
        const bool polled = spec.enabled && learned.enabled && found != classes_.end() &&
                            spec.cadence.kind != model::CadenceKind::kOnce;
        if (!polled) return kNowhere;
        const std::uint32_t task = tasks_.add(spec.key);
        planner_.grow(tasks_.capacity());
        planner_.reset(task);
        TaskSlot& slot = tasks_[task];
        slot.place = Place::kScheduled;
        slot.class_index = found->second;
        slot.cadence = spec.cadence.kind;
        slot.tier = spec.tier;
        Timing timing;
        timing.min_ms = to_ms(spec.cadence.min);
        timing.base_ms = to_ms(spec.cadence.base);
        timing.max_ms = to_ms(spec.cadence.max);
        timing.own_bound_ms = spec.staleness_bound ? to_ms(*spec.staleness_bound) : 0;
        timing.class_index = slot.class_index;
        slot.timing = timings_.acquire(timing);
        slot.set(kFlagEnabled, true);
        slot.set(kFlagAdaptive, spec.adaptive);
        slot.set(kFlagUp, true);
        slot.set(kFlagSlow, learned.slow);
        if (learned.quiet)
            slot.last_mutation = kNow - std::min(*learned.quiet, kNow - base::BootTime{});
        planner_.belief(task) = learned.belief;
        planner_.recall(task);
        planner_.join(task);
        return task;
    }

    std::uint32_t interval_of(std::uint32_t task) const {
        const TaskSlot& slot = tasks_[task];
        const bool classic =
            settings_.classes[slot.class_index].policy == model::PolicyKind::kClassic;
        const bool decides = settings_.mode == model::AdaptiveMode::kOn &&
                             planner_.adaptive(task) && !slot.has(kFlagSlow);
        return classic && decides ? settled_classic(slot) : planner_.current_ms(task);
    }

    // The classic rule looks at how old the data was when the answer came, which is the interval
    // before: so it is asked again and again, and what it says in the long run counts.
    std::uint32_t settled_classic(const TaskSlot& slot) const {
        const auto ms = [](std::uint32_t value) { return std::chrono::milliseconds(value); };
        const Timing& timing = timings_[slot.timing];
        const ClassicConfig config{
            .base = ms(timing.base_ms), .min = ms(timing.min_ms), .max = ms(timing.max_ms)};
        ClassicInput input;
        input.ready_depth = static_cast<std::int64_t>(input_.ready);
        input.last_interval = config.base;
        base::Duration interval = config.base;
        base::Duration sum{};
        for (int round = 0; round < kClassicWarmUp + kClassicRounds; ++round) {
            StalenessInput age;
            age.tracked = true;
            age.now = kNow;
            age.last_success = kNow - interval;
            age.max_stale = ms(timings_.bound_ms(slot.timing));
            input.staleness_score = staleness_score(age).score;
            const ClassicDecision decision = classic_interval(config, input);
            input.ema = decision.smoothed;
            interval = decision.interval;
            if (round >= kClassicWarmUp) sum += interval;
        }
        return to_ms(sum / kClassicRounds);
    }

    const OutlookInput& input_;
    model::CoreSettings settings_;
    std::map<std::string_view, std::uint16_t> classes_;
    TaskTable tasks_;
    TimingTable timings_;
    DueBalancer balancer_;
    IntervalPlanner planner_{tasks_, timings_, balancer_};
    std::vector<std::uint32_t> places_;
};

}  // namespace

std::vector<std::uint32_t> outlook(const OutlookInput& input) { return Scene(input).look(); }

}  // namespace pollux::schedule
