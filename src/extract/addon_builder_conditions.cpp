// Conditions and change fields of a manifest.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"
#include "model/alert.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using model::Comparison;
using namespace std::chrono_literals;
using model::ConditionKind;
using model::is_equality;
using model::is_upward;

namespace {

constexpr std::size_t kMaxConditions = 200;
constexpr std::array<std::string_view, 6> kSeverities = {"critical", "major", "minor",
                                                         "warning",  "info",  "clear"};

constexpr std::int64_t kMostInARow = 100;
constexpr base::Duration kLongestWindow = 24h;
constexpr base::Duration kLongestAbsence = 23h;  // rows are forgotten after a day

Comparison opposite(Comparison comparison) {
    switch (comparison) {
        case Comparison::kAbove: return Comparison::kAtMost;
        case Comparison::kAtLeast: return Comparison::kBelow;
        case Comparison::kBelow: return Comparison::kAtLeast;
        case Comparison::kAtMost: return Comparison::kAbove;
        case Comparison::kEqual: return Comparison::kNotEqual;
        case Comparison::kNotEqual: return Comparison::kEqual;
    }
    return Comparison::kEqual;
}

}  // namespace

std::optional<AddonBuilder::Threshold> AddonBuilder::parse_threshold(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, Comparison>, 6> kOperators = {
        {{">=", Comparison::kAtLeast},
         {"<=", Comparison::kAtMost},
         {"==", Comparison::kEqual},
         {"!=", Comparison::kNotEqual},
         {">", Comparison::kAbove},
         {"<", Comparison::kBelow}}};
    for (const auto& [token, comparison] : kOperators) {
        if (!text.starts_with(token)) continue;
        std::string_view rest = text.substr(token.size());
        while (rest.starts_with(' ')) rest.remove_prefix(1);
        while (rest.ends_with(' ')) rest.remove_suffix(1);
        if (rest.empty()) return std::nullopt;
        return Threshold{comparison, document::parse_number(rest), std::string(rest)};
    }
    return std::nullopt;
}

std::span<const std::string_view> severities() { return kSeverities; }

std::optional<std::uint16_t> AddonBuilder::metric_named(Reader& reader, std::string_view key) {
    const auto name = reader.string(key, Need::kRequired);
    if (!name) return std::nullopt;
    const auto& metrics = plan_->addon.metrics;
    const auto found = std::ranges::find(metrics, *name, &model::MetricDef::name);
    if (found != metrics.end()) return static_cast<std::uint16_t>(found - metrics.begin());
    std::vector<std::string_view> names;
    for (const model::MetricDef& metric : metrics) names.push_back(metric.name);
    const auto near = base::nearest(*name, names);
    reader.error(key, near ? fmt::format("{} is no metric; did you mean {}?", quoted(*name), *near)
                           : fmt::format("{} is no metric of this addon", quoted(*name)));
    return std::nullopt;
}

void AddonBuilder::read_conditions(Reader& reader) {
    each(reader, "conditions", kMaxConditions,
         [this](const Node& item, std::string path) { read_condition(item, std::move(path)); });
    auto& conditions = plan_->addon.conditions;
    for (const auto& [name, cause] : explained_) {
        if (!condition_names_.contains(cause)) {
            reader.error("conditions", fmt::format("{}: explained_by names {}, which is no "
                                                   "condition of this addon",
                                                   name, quoted(cause)));
        }
        const auto one = std::ranges::find(conditions, name, &model::ConditionDef::name);
        const auto other = std::ranges::find(conditions, cause, &model::ConditionDef::name);
        if (one == conditions.end() || other == conditions.end()) continue;
        one->explained_by = static_cast<std::uint16_t>(other - conditions.begin());
    }
}

// A word is compared with the states of the metric, a number with its values.
void AddonBuilder::check_trigger(Reader& reader, const model::ConditionDef& condition,
                                 bool is_word) {
    const model::MetricDef& metric = plan_->addon.metrics[condition.metric];
    if (!is_word) {
        if (metric.type == model::MetricType::kText) {
            reader.error("trigger", "compares a number; the metric is a text");
        }
        return;
    }
    const bool words =
        metric.type == model::MetricType::kState || metric.type == model::MetricType::kText;
    if (!words || !is_equality(condition.comparison)) {
        reader.error("trigger", fmt::format("{} is no number; a word only fits == and != on a "
                                            "state or a text",
                                            quoted(condition.word)));
        return;
    }
    const bool known = std::ranges::find(metric.states, condition.word) != metric.states.end();
    if (metric.states.empty() || known) return;
    std::vector<std::string_view> states;
    for (const std::string& word : metric.states) {
        if (!word.empty()) states.push_back(word);
    }
    reader.error("trigger",
                 fmt::format("{} is no state of {}; there are {}", quoted(condition.word),
                             metric.name, document::word_list(states)));
}

// "> 90" with the parameters filled in; nothing: absent, wrong, or switched off by one that is
// empty.
std::optional<AddonBuilder::Threshold> AddonBuilder::read_threshold(Reader& reader,
                                                                    std::string_view key, Need need,
                                                                    bool& disabled) {
    const auto text = reader.string(key, need);
    if (!text) return std::nullopt;
    const auto filled = substituted(*text, disabled);
    auto parsed = filled ? parse_threshold(*filled) : std::nullopt;
    if (!parsed && !disabled) {
        reader.error(key, fmt::format("{} is no comparison; write it like \"> 90\" or \"!= up\"",
                                      quoted(*text)));
    }
    return parsed;
}

// What is watched: the value, how fast it moves, that it is missing, or that it changes.
void AddonBuilder::read_condition_kind(Reader& reader, model::ConditionDef& condition) {
    const model::MetricDef& metric = plan_->addon.metrics[condition.metric];
    const auto rate =
        reader.choice<base::Duration>("rate", {{"second", 1s}, {"minute", 1min}, {"hour", 1h}});
    const auto window = reader.duration("window", 10s, kLongestWindow);
    const auto absent = reader.duration("absent", 1s, kLongestAbsence);
    const bool changed = reader.boolean("changed").value_or(false);
    if (rate) {
        condition.kind = ConditionKind::kRate;
        condition.rate_unit = *rate;
        condition.window = window.value_or(base::Duration::zero());
        if (metric.type != model::MetricType::kGauge) {
            reader.error("rate",
                         "fits a gauge; a counter is a rate already, and states and texts "
                         "have none");
        }
    } else if (window) {
        reader.error("window", "belongs to `rate`; write rate: minute, or leave it out");
    }
    if (absent) {
        condition.kind = ConditionKind::kAbsent;
        condition.absent = *absent;
    }
    if (changed) {
        condition.kind = ConditionKind::kChanged;
        if (metric.type != model::MetricType::kText && metric.type != model::MetricType::kState) {
            reader.error("changed", "fits a text or a state; for a number write `rate`");
        }
    }
    if ((rate ? 1 : 0) + (absent ? 1 : 0) + (changed ? 1 : 0) > 1) {
        reader.error("name", "watches two things; make two conditions of rate, absent and changed");
    }
    const bool limited =
        condition.kind == ConditionKind::kValue || condition.kind == ConditionKind::kRate;
    for (const std::string_view key : {"trigger", "clear", "severities", "min_delta"}) {
        if (!limited && reader.has(key)) {
            reader.error(key, "does not fit `absent` and `changed`, which have no limit");
        }
    }
}

void AddonBuilder::read_clear(Reader& reader, const Threshold& clear,
                              model::ConditionDef& condition) {
    const bool fits = clear.number && condition.word.empty() &&
                      !is_equality(condition.comparison) && !is_equality(clear.comparison) &&
                      is_upward(clear.comparison) != is_upward(condition.comparison) &&
                      (is_upward(condition.comparison) ? *clear.number <= condition.trigger
                                                       : *clear.number >= condition.trigger);
    if (!fits) {
        reader.error("clear",
                     "does not fit the trigger; it looks the other way and lies on the "
                     "good side of it, like trigger \"> 90\" and clear \"< 80\"");
        return;
    }
    condition.clear = *clear.number;
    condition.clear_comparison = clear.comparison;
}

// Worse steps: severity and trigger each; they clear as far from it as the first one does.
void AddonBuilder::read_severities(Reader& reader, model::ConditionDef& condition) {
    const Node* node = reader.map("severities");
    if (node == nullptr) return;
    Reader steps(*node, reader.path_of("severities"), out_);
    if (is_equality(condition.comparison) || !condition.word.empty()) {
        reader.error("severities", "fit a trigger with >, >=, < or <= only");
        return;
    }
    for (const document::MapEntry& entry : node->entries()) {
        bool disabled = false;
        const bool known =
            std::ranges::find(kSeverities, entry.key) != kSeverities.end() && entry.key != "clear";
        if (!known) steps.error(entry.key, "is no severity; write critical, major, minor or so");
        const auto limit = read_threshold(steps, entry.key, Need::kRequired, disabled);
        if (!limit || !known) continue;
        if (!limit->number || limit->comparison != condition.comparison) {
            steps.error(entry.key,
                        fmt::format("compares otherwise than the trigger; write it like "
                                    "\"{} {:g}\"",
                                    model::to_string(condition.comparison), condition.trigger));
            continue;
        }
        condition.steps.push_back(
            {*limit->number, *limit->number + (condition.clear - condition.trigger), entry.key});
    }
    if (condition.steps.size() > model::kMaxSeveritySteps) {
        reader.error("severities", fmt::format("are more than {}", model::kMaxSeveritySteps));
    }
    check_severities(reader, condition);
}

// From step to step both the limit and the severity are worse.
void AddonBuilder::check_severities(Reader& reader, model::ConditionDef& condition) {
    const bool upward = is_upward(condition.comparison);
    std::ranges::stable_sort(condition.steps, [&](const auto& a, const auto& b) {
        return upward ? a.trigger < b.trigger : a.trigger > b.trigger;
    });
    double limit = condition.trigger;
    auto severity = model::severity_of(condition.severity);
    for (const model::SeverityStep& step : condition.steps) {
        const auto own = model::severity_of(step.severity);
        const bool beyond = upward ? step.trigger > limit : step.trigger < limit;
        if (!beyond || !own || (severity && *own <= *severity)) {
            reader.error("severities",
                         fmt::format("do not rise: {} at {:g} comes after {} at {:g}; "
                                     "a worse severity needs a limit farther out",
                                     step.severity, step.trigger,
                                     severity ? to_string(*severity) : "clear", limit));
            return;
        }
        limit = step.trigger;
        severity = own;
    }
}

// How long or how often it must be true before people are told.
void AddonBuilder::read_patience(Reader& reader, model::ConditionDef& condition) {
    const auto count = [&](std::string_view key) {
        return static_cast<std::uint16_t>(reader.integer(key, 1, kMostInARow).value_or(1));
    };
    condition.failures = count("failures");
    condition.recoveries = count("recoveries");
    condition.min_delta = reader.number("min_delta", 0).value_or(0);
    condition.after_clear = reader.boolean("after_clear").value_or(false);
    if (condition.after_clear && condition.kind != ConditionKind::kValue) {
        reader.error("after_clear", "fits a condition with a trigger and without `rate`");
    }
    condition.sustained = reader.duration("for", 0s, model::kLongestPatience).value_or(0s);
    condition.keep_firing_for =
        reader.duration("keep_firing_for", 0s, model::kLongestPatience).value_or(0s);
    for (const std::string& name : reader.strings("show")) {
        const auto& metrics = plan_->addon.metrics;
        const auto found = std::ranges::find(metrics, name, &model::MetricDef::name);
        if (found == metrics.end() || found->group != metrics[condition.metric].group) {
            reader.error("show", fmt::format("{} is no metric of the same group", quoted(name)));
            continue;
        }
        condition.show.push_back(static_cast<std::uint16_t>(found - metrics.begin()));
    }
    if (const auto cause = reader.string("explained_by")) {
        explained_.emplace_back(condition.name, *cause);
        if (*cause == condition.name) reader.error("explained_by", "names the condition itself");
    }
}

void AddonBuilder::read_condition(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kCondition);
    model::ConditionDef condition;
    condition.name = reader.string("name", Need::kRequired).value_or("");
    check_name(reader, "name", condition.name);
    if (!condition_names_.insert(condition.name).second) {
        reader.error("name", "is taken by a condition above; choose another");
    }
    const auto metric = metric_named(reader, "metric");
    const auto severity = reader.one_of("severity", kSeverities);
    condition.severity = severity ? kSeverities[*severity] : "warning";
    condition.summary = reader.string("summary").value_or("");
    condition.metric = metric.value_or(0);
    if (metric) {
        read_condition_kind(reader, condition);
        read_patience(reader, condition);
    }
    bool disabled = false;
    const bool limited =
        condition.kind == ConditionKind::kValue || condition.kind == ConditionKind::kRate;
    const auto trigger =
        read_threshold(reader, "trigger", limited ? Need::kRequired : Need::kOptional, disabled);
    const auto clear = read_threshold(reader, "clear", Need::kOptional, disabled);
    if (metric && limited && trigger && !disabled) {
        condition.comparison = trigger->comparison;
        condition.trigger = trigger->number.value_or(0);
        condition.clear = condition.trigger;
        condition.clear_comparison = opposite(trigger->comparison);
        if (!trigger->number) condition.word = trigger->word;
        check_trigger(reader, condition, !trigger->number);
        if (clear) read_clear(reader, *clear, condition);
        read_severities(reader, condition);
    }
    reader.finish();
    if (!metric || disabled || (limited && !trigger)) return;
    auto& conditions = plan_->addon.conditions;
    const auto siblings = std::ranges::count(conditions, *metric, &model::ConditionDef::metric);
    if (siblings >= static_cast<std::ptrdiff_t>(model::kMaxConditionsPerMetric)) {
        reader.error("metric",
                     fmt::format("has more than {} conditions", model::kMaxConditionsPerMetric));
        return;
    }
    conditions.push_back(std::move(condition));
}

void AddonBuilder::read_change(Reader& reader) {
    each(reader, "change", kMaxConditions, [this](const Node& item, std::string path) {
        Reader inner(item, std::move(path), out_, keys::kChange);
        model::ChangeField field;
        const auto metric = metric_named(inner, "metric");
        const std::string text = inner.string("tolerance").value_or("0");
        std::string_view number = text;
        const bool percent = number.ends_with('%');
        if (percent) number.remove_suffix(1);
        while (number.ends_with(' ')) number.remove_suffix(1);
        const auto tolerance = document::parse_number(number);
        if (!tolerance || *tolerance < 0) {
            inner.error("tolerance",
                        fmt::format("{} is no tolerance; write it like 5 or 10%", quoted(text)));
        }
        (percent ? field.share : field.tolerance) = tolerance.value_or(0) / (percent ? 100 : 1);
        inner.finish();
        if (!metric) return;
        const model::MetricDef& def = plan_->addon.metrics[*metric];
        if (def.type != model::MetricType::kGauge && def.type != model::MetricType::kCounter) {
            inner.error("metric", "is a state or a text, of which every change counts anyway");
        }
        const auto same =
            std::ranges::find(plan_->addon.change, *metric, &model::ChangeField::metric);
        if (same != plan_->addon.change.end()) inner.error("metric", "is listed above already");
        field.metric = *metric;
        plan_->addon.change.push_back(field);
    });
}

}  // namespace pollux::extract
