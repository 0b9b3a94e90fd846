#include "api/outlook.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/shown_number.hpp"
#include "document/json_writer.hpp"
#include "runtime/insight_books.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using model::PolicyKind;

constexpr std::array kCompared = {PolicyKind::kFixed, PolicyKind::kClassic, PolicyKind::kOptimal};
// Intervals nearer to each other than this are the same for people.
constexpr double kSameInterval = 0.01;

double quantile(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    const auto place = values.begin() +
                       static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, place);
    return *place;
}

schedule::LearnedTask learned_of(const runtime::CoreLoop::View& core, model::TaskHandle task) {
    const schedule::SchedulerCore& tasks = core.engine.core();
    const schedule::TaskSlot& slot = tasks.slot(task);
    schedule::LearnedTask learned;
    learned.enabled = slot.has(schedule::kFlagEnabled);
    learned.slow = slot.has(schedule::kFlagSlow);
    learned.belief = tasks.planner().belief(task.index);
    if (slot.last_mutation != base::BootTime::min()) {
        learned.quiet = std::max(core.now.boot - slot.last_mutation, base::Duration::zero());
    }
    return learned;
}

void write_load(JsonWriter& json, const PollLoad& load) {
    json.field("polls_per_second", shown(load.polls_per_second));
    json.field("mean_interval", shown(load.mean_interval()));
    json.field("longest_interval", shown(load.longest_interval));
    json.field("mean_age", shown(load.mean_age()));
}

PollLoad load_of(const std::vector<std::uint32_t>& intervals) {
    PollLoad load;
    for (const std::uint32_t interval : intervals) load.add(interval);
    return load;
}

// What the policies may plan with: what the tasks cost at their base, as far as their presets
// spend it, and never more than the limit of all.
double budget_of(const runtime::FleetImage& image, const OutlookFacts& facts,
                 const std::vector<bool>& seen) {
    std::map<std::string_view, double> shares;
    for (const model::ClassSettings& one : image.settings->classes) {
        const bool adaptive =
            image.settings->mode == model::AdaptiveMode::kOn && one.policy == PolicyKind::kOptimal;
        shares[one.name] = adaptive ? model::limits_of(one.preset).budget_share : 1;
    }
    double sum = 0;
    for (std::size_t i = 0; i < image.expansion.tasks.size(); ++i) {
        const model::TaskSpec& spec = image.expansion.tasks[i];
        const bool polled = seen[i] && spec.enabled && facts.learned[i].enabled;
        if (!polled || spec.cadence.base <= base::Duration::zero()) continue;
        sum += shares[runtime::class_of(spec.key)] / base::to_seconds(spec.cadence.base);
    }
    return std::min(sum, image.settings->global_rate * image.settings->budget_headroom);
}

void write_policy(JsonWriter& json, const runtime::FleetImage& image, PolicyKind policy,
                  const std::vector<std::uint32_t>& intervals, const std::vector<bool>& seen) {
    PollLoad all;
    std::map<std::string_view, PollLoad> classes;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        if (!seen[i]) continue;
        all.add(intervals[i]);
        if (intervals[i] == 0) continue;
        classes[runtime::class_of(image.expansion.tasks[i].key)].add(intervals[i]);
    }
    json.object().field("policy", model::to_string(policy));
    write_load(json, all);
    json.key("classes").array();
    for (const auto& [name, load] : classes) {
        json.object().field("class", name).field("tasks", load.tasks);
        json.field("polls_per_second", shown(load.polls_per_second));
        json.field("mean_interval", shown(load.mean_interval())).end_object();
    }
    json.end_array().end_object();
}

}  // namespace

void PollLoad::add(std::uint32_t interval_ms) {
    if (interval_ms == 0) return;
    const double seconds = interval_ms * 1e-3;
    ++tasks;
    polls_per_second += 1 / seconds;
    interval_sum += seconds;
    longest_interval = std::max(longest_interval, seconds);
}

OutlookFacts outlook_facts(const runtime::CoreLoop::View& core,
                           const config::Expansion& expansion) {
    const schedule::SchedulerCore& tasks = core.engine.core();
    OutlookFacts facts;
    facts.ready = tasks.ready();
    facts.pressure = tasks.pressure();
    facts.learned.resize(expansion.tasks.size());
    facts.in_force_ms.resize(expansion.tasks.size());
    std::vector<double> durations;
    for (std::size_t i = 0; i < expansion.tasks.size(); ++i) {
        const model::TaskHandle task = tasks.find(expansion.tasks[i].key);
        if (!tasks.is_live(task)) continue;
        facts.learned[i] = learned_of(core, task);
        if (facts.learned[i].enabled) facts.in_force_ms[i] = tasks.planner().current_ms(task.index);
        const auto* runs = core.insight.runs.of(task.index);
        if (runs == nullptr || runs->last() == nullptr) continue;
        durations.push_back(runs->last()->duration_us * 1e-6);
    }
    facts.p95_poll_s = quantile(durations, 0.95);
    return facts;
}

std::vector<std::uint32_t> intervals_of(const runtime::FleetImage& image, const OutlookFacts& facts,
                                        std::optional<PolicyKind> policy) {
    return schedule::outlook({.settings = *image.settings,
                              .tasks = image.expansion.tasks,
                              .learned = facts.learned,
                              .policy = policy,
                              .ready = facts.ready,
                              .pressure = facts.pressure,
                              .p95_poll_s = facts.p95_poll_s});
}

std::string policies_page(const runtime::FleetImage& image, const OutlookFacts& facts,
                          const std::vector<bool>& seen, PolicyKind in_force) {
    const bool adaptive = image.settings->mode == model::AdaptiveMode::kOn;
    PollLoad used;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i]) used.add(facts.in_force_ms[i]);
    }
    std::string page;
    JsonWriter json(page);
    json.object().field("adaptive", adaptive);
    json.field("in_force", model::to_string(adaptive ? in_force : PolicyKind::kFixed));
    json.key("budget").object().field("polls_per_second", shown(budget_of(image, facts, seen)));
    json.field("used", shown(used.polls_per_second)).end_object().key("items").array();
    for (const PolicyKind policy : kCompared) {
        write_policy(json, image, policy, intervals_of(image, facts, policy), seen);
    }
    json.end_array().end_object();
    return page;
}

std::string preview_page(const runtime::FleetImage& now, const OutlookFacts& facts_now,
                         const runtime::FleetImage& then, const OutlookFacts& facts_then) {
    const auto before = intervals_of(now, facts_now, std::nullopt);
    const auto after = intervals_of(then, facts_then, std::nullopt);
    std::map<std::string_view, std::uint32_t> known;
    for (std::size_t i = 0; i < before.size(); ++i) {
        known.emplace(now.expansion.tasks[i].key, before[i]);
    }
    std::set<std::string_view> changed;
    for (std::size_t i = 0; i < after.size(); ++i) {
        const auto was = known.find(then.expansion.tasks[i].key);
        const double old_one = was == known.end() ? 0 : was->second;
        const double limit = kSameInterval * std::max<double>(old_one, after[i]);
        if (std::abs(old_one - after[i]) > limit) changed.insert(then.expansion.targets[i].target);
    }
    std::string page;
    JsonWriter json(page);
    json.object().field("valid", true).key("errors").array().end_array();
    json.key("now").object();
    write_load(json, load_of(before));
    json.end_object().key("then").object();
    write_load(json, load_of(after));
    json.end_object().field("targets_changed", changed.size()).end_object();
    return page;
}

std::string refused_preview_page(const std::vector<FieldProblem>& errors) {
    std::string page;
    JsonWriter json(page);
    json.object().field("valid", false).key("errors").array();
    for (const FieldProblem& error : errors) {
        json.object().field("pointer", error.pointer).field("detail", error.detail).end_object();
    }
    json.end_array().key("now").null().key("then").null();
    json.field("targets_changed", 0).end_object();
    return page;
}

}  // namespace pollux::api
