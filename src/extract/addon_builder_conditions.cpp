// Conditions and change fields of a manifest.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using model::Comparison;

namespace {

constexpr std::size_t kMaxConditions = 200;
constexpr std::array<std::string_view, 6> kSeverities = {"critical", "major", "minor",
                                                         "warning",  "info",  "clear"};

struct Threshold {
    Comparison comparison = Comparison::kAbove;
    std::optional<double> number;
    std::string word;
};

std::optional<Threshold> parse_threshold(std::string_view text) {
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

bool is_upward(Comparison comparison) {
    return comparison == Comparison::kAbove || comparison == Comparison::kAtLeast;
}

bool is_equality(Comparison comparison) {
    return comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
}

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
    bool disabled = false;
    const auto threshold = [&](std::string_view key, Need need) -> std::optional<Threshold> {
        const auto text = reader.string(key, need);
        if (!text) return std::nullopt;
        const auto filled = substituted(*text, disabled);
        auto parsed = filled ? parse_threshold(*filled) : std::nullopt;
        if (!parsed && !disabled) {
            reader.error(key, fmt::format("{} is no comparison; write it like \"> 90\" or "
                                          "\"!= up\"",
                                          quoted(*text)));
        }
        return parsed;
    };
    const auto trigger = threshold("trigger", Need::kRequired);
    const auto clear = threshold("clear", Need::kOptional);
    reader.finish();
    if (!metric || !trigger || disabled) return;
    condition.metric = *metric;
    condition.comparison = trigger->comparison;
    condition.trigger = trigger->number.value_or(0);
    condition.clear = condition.trigger;
    condition.clear_comparison = opposite(trigger->comparison);

    if (!trigger->number) condition.word = trigger->word;
    check_trigger(reader, condition, !trigger->number);
    if (clear) {
        const bool fits = clear->number && trigger->number && !is_equality(trigger->comparison) &&
                          !is_equality(clear->comparison) &&
                          is_upward(clear->comparison) != is_upward(trigger->comparison) &&
                          (is_upward(trigger->comparison) ? *clear->number <= *trigger->number
                                                          : *clear->number >= *trigger->number);
        if (!fits) {
            reader.error("clear",
                         "does not fit the trigger; it looks the other way and lies on the "
                         "good side of it, like trigger \"> 90\" and clear \"< 80\"");
        } else {
            condition.clear = *clear->number;
            condition.clear_comparison = clear->comparison;
        }
    }
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
