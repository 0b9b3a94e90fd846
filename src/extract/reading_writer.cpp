#include "extract/reading_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {

using model::MetricType;
using model::Value;

namespace {

constexpr std::size_t kMaxProblems = 16;
constexpr std::size_t kMaxText = 1024;

std::string shown(const Value& value) {
    if (is_null(value)) return "nothing";
    if (const auto* text = std::get_if<std::string>(&value)) return base::quoted(*text, 60);
    return to_text(value);
}

// At most kMaxText bytes, never inside a UTF-8 character.
void cut(std::string& text) {
    if (text.size() <= kMaxText) return;
    std::size_t end = kMaxText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
}

}  // namespace

ReadingWriter::ReadingWriter(const AddonPlan& plan, std::size_t group, model::Readings& out,
                             Budget& budget, Trace* trace)
    : plan_(plan),
      out_(out),
      budget_(budget),
      trace_(trace),
      keeps_values_(plan.groups[group].keeps_values) {
    if (keeps_values_) values_.resize(plan.rules.size() + 1);
}

void ReadingWriter::problem(std::string text) {
    out_.degraded = true;
    if (out_.problems.size() < kMaxProblems) out_.problems.push_back(std::move(text));
}

void ReadingWriter::miss(const Rule& rule, std::string_view where, std::string_view found) {
    if (rule.optional) return;
    ++out_.missing;
    problem(fmt::format("{}: no value at {}: {}", rule.name, where, found));
}

void ReadingWriter::forget(const std::vector<std::uint16_t>& rules) {
    if (!keeps_values_) return;
    for (const std::uint16_t rule : rules) values_[rule + 1U] = std::monostate();
}

std::uint32_t ReadingWriter::add_row(std::string name) {
    out_.rows.push_back(std::move(name));
    return static_cast<std::uint32_t>(out_.rows.size() - 1);
}

bool ReadingWriter::shape_number(const Rule& rule, Value& value, std::string& why) const {
    Value number = to_number(value);
    if (is_null(number)) {
        why = fmt::format("{} is no number", shown(value));
        return false;
    }
    if (rule.scale != 1) number = multiply(number, rule.scale);
    if (rule.offset != 0) number = add(number, rule.offset);
    value = std::move(number);
    return true;
}

void ReadingWriter::shape_state(const Rule& rule, Value& value) const {
    if (const auto* flag = std::get_if<bool>(&value)) {
        value = static_cast<std::int64_t>(*flag ? 1 : 0);
        return;
    }
    auto* word = std::get_if<std::string>(&value);
    if (word == nullptr) return;
    cut(*word);
    if (!rule.metric) return;
    const auto& states = plan_.addon.metrics[*rule.metric].states;
    const auto known = std::ranges::find(states, *word);
    if (known != states.end() && !word->empty()) {
        value = static_cast<std::int64_t>(known - states.begin());
    }
}

// False: there is no value, and `why` says why.
bool ReadingWriter::shape(const Rule& rule, Value& value, std::string& why) const {
    if (rule.has_map) {
        if (const Value* mapped = rule.map.find(value)) value = *mapped;
    }
    if (rule.as_read) {
        if (auto* text = std::get_if<std::string>(&value)) cut(*text);
        return true;
    }
    switch (rule.type) {
        case MetricType::kGauge:
        case MetricType::kCounter:
            if (!rule.metric && !std::holds_alternative<bool>(value) && is_null(to_number(value))) {
                return true;  // an internal value may be a text
            }
            return shape_number(rule, value, why);
        case MetricType::kState: shape_state(rule, value); return true;
        case MetricType::kText: {
            std::string text = to_text(value);
            cut(text);
            value = std::move(text);
            return true;
        }
    }
    return true;
}

void ReadingWriter::trace_value(const Rule& rule, std::uint32_t row, const std::string& where,
                                const Value& raw, const Value* value, std::string_view why) {
    if (trace_ == nullptr || (row != 0 && !trace_rows_)) return;
    std::string line = rule.name;
    if (row != 0) line += fmt::format(" [{}]", out_.rows[row]);
    line += ": " + where;
    if (rule.source != SourceKind::kNone) line += fmt::format(" found {}", shown(raw));
    if (value == nullptr) {
        line += fmt::format(", no value: {}", why);
    } else {
        line += fmt::format(" -> {}", shown(*value));
        if (rule.metric) {
            const model::MetricDef& metric = plan_.addon.metrics[*rule.metric];
            const auto* number = std::get_if<std::int64_t>(value);
            if (number != nullptr && *number >= 0 &&
                static_cast<std::size_t>(*number) < metric.states.size()) {
                line += " " + metric.states[static_cast<std::size_t>(*number)];
            }
            if (!metric.unit.empty()) line += " " + metric.unit;
        }
    }
    trace_->push_back(std::move(line));
}

bool ReadingWriter::take_value(const Rule& rule, std::uint32_t row, Value raw, WhereFunction where,
                               const void* at) {
    std::string why;
    bool good = true;
    Value value;
    if (rule.value) {
        if (keeps_values_) {
            values_[kRawName] = raw;
            value = rule.value->evaluate(values_);
        } else {
            value = rule.value->evaluate({&raw, 1});
        }
        budget_.spend(rule.value->nodes());
    } else if (trace_ != nullptr) {
        value = raw;
    } else {
        value = std::move(raw);
    }
    if (is_null(value)) {
        good = false;
        why = "nothing there";
    } else {
        good = shape(rule, value, why);
    }
    if (!good) {
        trace_value(rule, row, trace_ != nullptr ? where(at) : "", raw, nullptr, why);
        if (row == 0) miss(rule, where(at), why);
        return false;
    }
    const auto number = as_double(value);
    const bool outside = number && ((rule.valid.low && *number < *rule.valid.low) ||
                                    (rule.valid.high && *number > *rule.valid.high));
    if (outside || out_.values.size() >= budget_.readings || budget_.nodes == 0) {
        ++out_.dropped;
        if (trace_ != nullptr) {
            trace_value(rule, row, where(at), raw, nullptr,
                        outside ? "outside of its valid range" : "too many values");
        }
        return true;
    }
    if (trace_ != nullptr) trace_value(rule, row, where(at), raw, &value, "");
    if (keeps_values_) {
        values_[static_cast<std::size_t>(&rule - plan_.rules.data()) + 1] = value;
    }
    if (rule.metric) out_.values.push_back({*rule.metric, row, std::move(value)});
    return true;
}

}  // namespace pollux::extract
