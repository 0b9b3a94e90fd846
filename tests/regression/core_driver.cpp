#include "tests/regression/core_driver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace pollux::tests {
namespace {

using schedule::Event;

constexpr base::Instant kStart{base::BootTime{3'600'000'000'000},
                               base::WallTime{1'700'000'000'000'000}};
constexpr int kMaxStepsAtOneMoment = 10'000;

schedule::RunFinished result_of(model::TaskHandle task, model::RunId run, const Reply& reply) {
    schedule::RunFinished result;
    result.task = task;
    result.run = run;
    result.outcome = reply.outcome;
    result.has_digest = reply.digest.has_value();
    result.digest = reply.digest.value_or(0);
    result.retry_after = reply.retry_after;
    return result;
}

}  // namespace

model::CoreSettings roomy_settings(std::initializer_list<std::string_view> classes) {
    model::CoreSettings settings;
    settings.global_rate = 10'000;
    settings.device_rate = 1'000;
    for (const std::string_view name : classes) {
        model::ClassSettings one;
        one.name = std::string(name);
        settings.classes.push_back(std::move(one));
    }
    return settings;
}

model::TaskSpec fixed_task(std::string key, base::Duration every) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::fixed(every);
    return spec;
}

model::TaskSpec adaptive_task(std::string key, base::Duration min, base::Duration base,
                              base::Duration max) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::adaptive(min, base, max);
    return spec;
}

model::TaskSpec job(std::string key) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::once();
    return spec;
}

model::TaskSpec long_job(std::string key) {
    model::TaskSpec spec = job(std::move(key));
    spec.timeout = std::chrono::hours(24);
    return spec;
}

model::TaskSpec with_device(model::TaskSpec spec, std::string device) {
    spec.device = std::move(device);
    return spec;
}

model::TaskSpec with_tier(model::TaskSpec spec, model::Tier tier) {
    spec.tier = tier;
    return spec;
}

model::TaskSpec with_needs(model::TaskSpec spec, model::NeedGroup group) {
    spec.needs.push_back(std::move(group));
    return spec;
}

std::vector<model::TaskSpec> fleet(std::string_view class_name, int count,
                                   const model::TaskSpec& like) {
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < count; ++i) {
        specs.push_back(like);
        specs.back().key = std::string(class_name) + "::" + std::to_string(i);
    }
    return specs;
}

model::NeedGroup needs_task(std::string key) {
    model::NeedGroup group;
    group.any_of.push_back({model::ParentKind::kTask, std::move(key)});
    return group;
}

model::NeedGroup needs_device(std::string name) {
    model::NeedGroup group;
    group.any_of.push_back({model::ParentKind::kDevice, std::move(name)});
    return group;
}

CoreDriver::CoreDriver(model::CoreSettings settings)
    : start_(kStart),
      now_(kStart),
      core_(std::make_unique<schedule::SchedulerCore>(now_, epoch_, std::move(settings))) {}

CoreDriver::Worker CoreDriver::always(Reply reply) {
    return [reply](const std::string&, double) { return reply; };
}

double CoreDriver::second_of(base::BootTime time) const {
    return base::to_seconds(time - start_.boot);
}

double CoreDriver::now_s() const { return second_of(now_.boot); }

base::BootTime CoreDriver::time_at(double at_s) const {
    return start_.boot + base::round_to_ms(base::from_seconds(at_s));
}

void CoreDriver::apply(std::vector<Event> events) { step(std::move(events)); }

void CoreDriver::apply(Event event) {
    std::vector<Event> events;
    events.push_back(std::move(event));
    step(std::move(events));
}

void CoreDriver::add(model::TaskSpec spec) {
    add_all(std::vector<model::TaskSpec>{std::move(spec)});
}

void CoreDriver::add_all(std::vector<model::TaskSpec> specs) {
    for (const model::TaskSpec& spec : specs) specs_[spec.key] = spec;
    apply(schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(std::move(specs))});
}

void CoreDriver::remove(const std::string& key) {
    specs_.erase(key);
    apply(schedule::TaskRemoved{key});
}

void CoreDriver::finish(const std::string& key, model::Outcome outcome) {
    finish(key, Reply{.outcome = outcome});
}

void CoreDriver::finish(const std::string& key, const Reply& reply) {
    const auto run = open_.find(key);
    POLLUX_CHECK_MSG(run != open_.end(), "the story finishes a run that was not started");
    const schedule::RunFinished result = result_of(handle(key), run->second, reply);
    open_.erase(run);
    apply(result);
}

void CoreDriver::finish_all(model::Outcome outcome) {
    std::vector<Event> events;
    for (const auto& [key, run] : open_) {
        events.emplace_back(result_of(handle(key), run, Reply{.outcome = outcome}));
    }
    open_.clear();
    apply(std::move(events));
}

void CoreDriver::operate(schedule::OperatorVerb verb, const std::string& key) {
    apply(schedule::OperatorAction{verb, key});
}

void CoreDriver::poke(const std::string& key) { apply(schedule::Poked{handle(key)}); }

void CoreDriver::parent(const std::string& device, bool healthy) {
    apply(schedule::ParentChanged{device, healthy});
}

void CoreDriver::credit(const std::string& region, std::int64_t amount) {
    apply(schedule::CreditChanged{region, amount});
}

void CoreDriver::change_settings(model::CoreSettings settings) {
    apply(schedule::SettingsChanged{
        std::make_shared<const model::CoreSettings>(std::move(settings))});
}

void CoreDriver::run_until(double at_s) {
    const base::BootTime until = time_at(at_s);
    int at_one_moment = 0;
    while (now_.boot < until || commands_.wake_at <= now_.boot) {
        base::BootTime next = std::max(commands_.wake_at, now_.boot);
        if (!owed_.empty()) next = std::min(next, base::BootTime{owed_.begin()->first});
        next = std::max(std::min(next, until), now_.boot);
        at_one_moment = next == now_.boot ? at_one_moment + 1 : 0;
        POLLUX_CHECK_MSG(at_one_moment < kMaxStepsAtOneMoment, "the core spins");
        now_.wall += next - now_.boot;
        now_.boot = next;
        std::vector<Event> events;
        while (!owed_.empty() && owed_.begin()->first <= now_.boot.ns) {
            const Owed& owed = owed_.begin()->second;
            const auto open = open_.find(owed.key);
            if (open != open_.end() && open->second == owed.result.run) open_.erase(open);
            events.push_back(owed.result);
            owed_.erase(owed_.begin());
        }
        step(std::move(events));
    }
}

bool CoreDriver::run_to_start(const std::string& key, double limit_s) {
    constexpr double kTick = 0.001;
    const double end = now_s() + limit_s;
    while (!runs(key) && now_s() < end) {
        run_until(std::min(end, std::max(next_due_s(key), now_s() + kTick)));
    }
    return runs(key);
}

void CoreDriver::fail(const std::string& key, int times, model::Outcome outcome) {
    for (int i = 0; i < times; ++i) {
        POLLUX_CHECK_MSG(run_to_start(key), "the story waits for a run that does not start");
        finish(key, outcome);
    }
}

void CoreDriver::restart(double down_s) {
    auto stored = std::make_shared<std::vector<schedule::RestoredTask>>();
    for (const auto& [key, spec] : specs_) stored->push_back({spec, core_->record(handle(key))});
    const model::CoreSettings settings = core_->settings();
    now_.boot += base::from_seconds(down_s);
    now_.wall += base::from_seconds(down_s);
    open_.clear();
    owed_.clear();
    core_ = std::make_unique<schedule::SchedulerCore>(now_, ++epoch_, settings);
    apply(schedule::TasksRestored{std::move(stored)});
}

void CoreDriver::step(std::vector<Event> events) {
    commands_.clear();
    core_->step(now_, events, commands_);
    for (const auto& cancel : commands_.cancels) {
        std::erase_if(open_, [&](const auto& open) { return open.second == cancel.run; });
    }
    for (const auto& start : commands_.starts) take_start(start);
    std::ranges::copy(commands_.changes, std::back_inserter(changes_));
    std::ranges::copy(commands_.rejections, std::back_inserter(rejections_));
}

void CoreDriver::take_start(const schedule::StartRun& start) {
    const std::string key = core_->key(start.task);
    POLLUX_CHECK_MSG(!open_.contains(key), "two runs of one task at once");
    open_[key] = start.run;
    most_at_once_ = std::max(most_at_once_, open_.size());
    starts_.push_back({now_s(), second_of(start.due), key, start.trigger, start.fresh_login});
    if (!worker_) return;
    const Reply reply = worker_(key, now_s());
    if (reply.lost) return;
    Owed owed{result_of(start.task, start.run, reply), key};
    owed_.emplace((now_.boot + reply.after).ns, std::move(owed));
}

std::vector<LoggedStart> CoreDriver::starts_of(std::string_view key) const {
    std::vector<LoggedStart> found;
    std::ranges::copy_if(starts_, std::back_inserter(found),
                         [&](const LoggedStart& start) { return start.key == key; });
    return found;
}

std::vector<double> CoreDriver::start_times(std::string_view key) const {
    std::vector<double> times;
    for (const LoggedStart& start : starts_of(key)) times.push_back(start.at_s);
    return times;
}

std::vector<double> CoreDriver::gaps(std::string_view key) const {
    std::vector<double> times = start_times(key);
    std::adjacent_difference(times.begin(), times.end(), times.begin());
    if (!times.empty()) times.erase(times.begin());
    return times;
}

std::size_t CoreDriver::most_starts_within(double window_s) const {
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < starts_.size(); ++last) {
        while (starts_[last].at_s - starts_[first].at_s > window_s) ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

std::vector<std::string> CoreDriver::started_keys() const {
    std::vector<std::string> keys;
    for (const LoggedStart& start : starts_) keys.push_back(start.key);
    return keys;
}

model::TaskHandle CoreDriver::handle(const std::string& key) const {
    const model::TaskHandle found = core_->find(key);
    POLLUX_CHECK_MSG(core_->is_live(found), "the story names a task that does not exist");
    return found;
}

const schedule::TaskSlot& CoreDriver::slot(const std::string& key) const {
    return core_->slot(handle(key));
}

schedule::FailureStory CoreDriver::failure(const std::string& key) const {
    return core_->failure(handle(key));
}

schedule::Freshness CoreDriver::freshness(const std::string& key) const {
    return core_->freshness(handle(key), now_.boot);
}

schedule::Explanation CoreDriver::explain(const std::string& key) const {
    return core_->explain(key).value();
}

double CoreDriver::next_due_s(const std::string& key) const {
    return second_of(slot(key).next_due);
}

}  // namespace pollux::tests
