#include "derive/condition_signals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/condition_limits.hpp"

namespace pollux::derive {

using model::ConditionKind;

namespace {

std::string number_text(double number) { return fmt::format("{:.6g}", number); }

std::string words_of(model::Comparison comparison) {
    switch (comparison) {
        case model::Comparison::kAbove: return "above";
        case model::Comparison::kAtLeast: return "at least";
        case model::Comparison::kBelow: return "below";
        case model::Comparison::kAtMost: return "at most";
        case model::Comparison::kEqual: return "equal to";
        case model::Comparison::kNotEqual: return "other than";
    }
    return {};
}

std::string unit_text(const model::MetricDef& metric) {
    std::string text = metric.unit == "percent" ? " %"
                       : metric.unit.empty()    ? std::string()
                                                : " " + metric.unit;
    if (metric.type == model::MetricType::kCounter) text += " per second";
    return text;
}

std::string_view unit_of_rate(base::Duration unit) {
    if (unit == std::chrono::hours(1)) return "hour";
    return unit == std::chrono::minutes(1) ? "minute" : "second";
}

// One condition of one series, with the words for it.
class Wording {
  public:
    Wording(const model::Addon& addon, const model::ConditionDef& condition,
            const model::AlertRule* rule, std::string_view row)
        : condition_(condition),
          metric_(addon.metrics[condition.metric]),
          addon_(addon),
          limits_(limits_of(condition, rule, row)),
          row_(row) {
        if (rule != nullptr) severity_ = model::override_of(*rule, row).severity;
    }

    model::Signal raise(std::uint8_t step, double value, std::string_view text) const {
        model::Signal signal = make(step);
        signal.message = message(step, value, text);
        signal.title = says_it_all() ? title() : fmt::format("{}: {}", title(), brief(value, text));
        add_fields(signal, step, value, text);
        return signal;
    }

    model::Signal clear(std::uint8_t step, std::string message) const {
        model::Signal signal = make(step);
        signal.clear = true;
        signal.title = title();
        signal.message = std::move(message);
        return signal;
    }

    std::string now_text(double value, std::string_view text) const {
        if (condition_.kind == ConditionKind::kAbsent) {
            return fmt::format("{} is there again", metric_.name);
        }
        if (condition_.kind == ConditionKind::kChanged) {
            return fmt::format("{} stayed {}", metric_.name, text);
        }
        return fmt::format("{} {}", subject(), brief(value, text));
    }

    // The first step: the rule stays the same while the severity rises and falls.
    std::string rule() const {
        switch (condition_.kind) {
            case ConditionKind::kAbsent:
                return fmt::format("{} absent for {}", metric_.name,
                                   base::format_duration(condition_.absent));
            case ConditionKind::kChanged: return fmt::format("{} changed", metric_.name);
            default: break;
        }
        const std::string_view sign = model::to_string(condition_.comparison);
        if (!condition_.word.empty()) {
            return fmt::format("{} {} {}", metric_.name, sign, condition_.word);
        }
        const std::string name =
            condition_.kind == ConditionKind::kRate
                ? fmt::format("{} per {}", metric_.name, unit_of_rate(condition_.rate_unit))
                : metric_.name;
        std::string text = fmt::format("{} {} {}", name, sign, number_text(limits_.trigger));
        if (limits_.clear == limits_.trigger) return text;
        return text + fmt::format(" (clear at {} {})",
                                  model::to_string(condition_.clear_comparison),
                                  number_text(limits_.clear));
    }

  private:
    model::Signal make(std::uint8_t step) const {
        model::Signal signal;
        signal.type = condition_.name;
        signal.subject = std::string(row_);
        signal.severity = severity(step);
        signal.category = addon_.category;
        signal.rule = rule();
        return signal;
    }

    std::string severity(std::uint8_t step) const {
        if (severity_) return std::string(to_string(*severity_));
        const std::string& word =
            step <= 1 ? condition_.severity : condition_.steps[step - std::size_t{2}].severity;
        return word == "clear" ? "info" : word;
    }

    // There is one word that raises it, and somebody has written what that means.
    bool says_it_all() const {
        return !condition_.word.empty() && condition_.comparison == model::Comparison::kEqual &&
               !condition_.summary.empty();
    }

    std::string title() const {
        std::string text = condition_.summary.empty() ? condition_.name : condition_.summary;
        while (text.ends_with('.')) text.pop_back();
        return row_.empty() ? text : fmt::format("{} ({})", text, row_);
    }

    std::string unit() const {
        std::string text = unit_text(metric_);
        if (condition_.kind == ConditionKind::kRate)
            text += fmt::format(" per {}", unit_of_rate(condition_.rate_unit));
        return text;
    }

    std::string brief(double value, std::string_view text) const {
        if (condition_.kind == ConditionKind::kAbsent) {
            return fmt::format("no {}", metric_.name);
        }
        const bool words = !condition_.word.empty() || condition_.kind == ConditionKind::kChanged;
        return words ? std::string(text) : number_text(value) + unit();
    }

    std::string subject() const {
        const bool rate = condition_.kind == ConditionKind::kRate;
        return metric_.name + (rate ? " changes by" : " is");
    }

    std::string message(std::uint8_t step, double value, std::string_view text) const {
        switch (condition_.kind) {
            case ConditionKind::kAbsent:
                return fmt::format("{} was in no answer for {}, although answers came",
                                   metric_.name, base::format_duration(condition_.absent));
            case ConditionKind::kChanged:
                return fmt::format("{} changed to {}", metric_.name, text);
            default: break;
        }
        if (!condition_.word.empty()) {
            if (condition_.comparison == model::Comparison::kEqual) {
                return fmt::format("{} is {}", metric_.name, text);
            }
            return fmt::format("{} is {}, {} {}", metric_.name, text,
                               words_of(condition_.comparison), condition_.word);
        }
        return fmt::format("{} {}, {} {}{}", subject(), brief(value, text),
                           words_of(condition_.comparison),
                           number_text(limits_of_step(condition_, limits_, step).trigger), unit());
    }

    void add_fields(model::Signal& signal, std::uint8_t step, double value,
                    std::string_view text) const {
        signal.fields.emplace_back("metric", metric_.name);
        if (condition_.kind == ConditionKind::kAbsent) return;
        if (!condition_.word.empty() || condition_.kind == ConditionKind::kChanged) {
            signal.fields.emplace_back("value", std::string(text));
            return;
        }
        const ConditionLimits limits = limits_of_step(condition_, limits_, step);
        signal.fields.emplace_back("value", number_text(value));
        if (!metric_.unit.empty()) signal.fields.emplace_back("unit", metric_.unit);
        signal.fields.emplace_back("trigger", number_text(limits.trigger));
        signal.fields.emplace_back("clear", number_text(limits.clear));
    }

    const model::ConditionDef& condition_;
    const model::MetricDef& metric_;
    const model::Addon& addon_;
    ConditionLimits limits_;
    std::string_view row_;
    std::optional<model::Severity> severity_;
};

class SignalMaker {
  public:
    SignalMaker(const model::Addon& addon, const model::Observation& observation,
                const TargetMemory& memory, const model::AlertPolicy& policy)
        : addon_(addon), observation_(observation), memory_(memory), policy_(policy) {}

    model::PollSignals make(std::uint16_t group) {
        for (const model::ConditionDef& condition : addon_.conditions) {
            if (addon_.metrics[condition.metric].group != group) continue;
            out_.settled_types.push_back(condition.name);
        }
        for (const model::ConditionLevel& level : observation_.conditions) add(level);
        for (const model::LostCondition& lost : observation_.lost) add(lost);
        return std::move(out_);
    }

  private:
    Wording wording(std::uint16_t index, std::string_view row) const {
        const model::ConditionDef& condition = addon_.conditions[index];
        const auto found = policy_.types.find(condition.name);
        return {addon_, condition, found == policy_.types.end() ? nullptr : &found->second, row};
    }

    void add(const model::ConditionLevel& level) {
        const model::ConditionDef& condition = addon_.conditions[level.condition];
        const std::string_view row = memory_.series(level.slot).row;
        const std::string& text = memory_.latest_text(level.slot);
        if (model::is_open(level)) {
            out_.open.emplace_back(condition.name, row);
        } else if (level.active) {
            model::Signal signal =
                wording(level.condition, row).raise(level.step, level.told, text);
            signal.repeated = !level.news;
            show(condition, row, signal);
            out_.signals.push_back(std::move(signal));
        } else if (level.ended > 0) {
            const Wording words = wording(level.condition, row);
            std::string why = level.disabled ? "the fleet has switched this alert off"
                                             : words.now_text(level.value, text);
            if (!level.disabled) why += explanation(condition, row);
            out_.signals.push_back(words.clear(level.ended, std::move(why)));
        }
    }

    // "; days_left is 8.1 days", for each metric that people want to see with it.
    void show(const model::ConditionDef& condition, std::string_view row,
              model::Signal& signal) const {
        for (const std::uint16_t index : condition.show) {
            std::uint32_t slot = memory_.find(index, row);
            if (slot == TargetMemory::kNone) slot = memory_.find(index, "");
            if (slot == TargetMemory::kNone) continue;
            const model::MetricDef& metric = addon_.metrics[index];
            const auto number = memory_.latest(slot);
            const std::string& text = memory_.latest_text(slot);
            if (!number && text.empty()) continue;
            const std::string value = text.empty() ? number_text(*number) : text;
            signal.message += fmt::format("; {} is {}{}", metric.name, value, unit_text(metric));
            signal.fields.emplace_back(metric.name, value);
        }
    }

    void add(const model::LostCondition& lost) {
        out_.signals.push_back(
            wording(lost.condition, lost.row)
                .clear(lost.step,
                       fmt::format("{} was not seen for {} and is "
                                   "forgotten",
                                   lost.row, base::format_duration(TargetMemory::kForgetAfter))));
    }

    // "; The certificate was replaced", where that is what happened.
    std::string explanation(const model::ConditionDef& condition, std::string_view row) const {
        if (!condition.explained_by) return {};
        const auto& levels = observation_.conditions;
        const bool holds = std::ranges::any_of(levels, [&](const model::ConditionLevel& level) {
            const std::string_view other = memory_.series(level.slot).row;
            return level.condition == *condition.explained_by && level.active &&
                   (other == row || other.empty());
        });
        const model::ConditionDef& cause = addon_.conditions[*condition.explained_by];
        if (!holds) return {};
        std::string text = cause.summary.empty() ? cause.name : cause.summary;
        while (text.ends_with('.')) text.pop_back();
        return "; " + text;
    }

    const model::Addon& addon_;
    const model::Observation& observation_;
    const TargetMemory& memory_;
    const model::AlertPolicy& policy_;
    model::PollSignals out_;
};

}  // namespace

model::PollSignals condition_signals(const model::Addon& addon, std::uint16_t group,
                                     const model::Observation& observation,
                                     const TargetMemory& memory, const model::AlertPolicy& policy) {
    return SignalMaker(addon, observation, memory, policy).make(group);
}

std::string rule_text(const model::Addon& addon, const model::ConditionDef& condition) {
    return Wording(addon, condition, nullptr, "").rule();
}

}  // namespace pollux::derive
