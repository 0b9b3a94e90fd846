#include "model/alert_policy.hpp"

#include <tuple>

namespace pollux::model {
namespace {

template <class T>
void fill(std::optional<T>& near, const std::optional<T>& far) {
    if (!near) near = far;
}

}  // namespace

void fill_from(AlertOverride& near, const AlertOverride& far) {
    // A clear belongs to its trigger: one from farther away is not meant for a nearer trigger.
    if (!near.trigger) fill(near.clear, far.clear);
    fill(near.trigger, far.trigger);
    fill(near.enabled, far.enabled);
    fill(near.severity, far.severity);
    fill(near.sustained, far.sustained);
    fill(near.keep_firing_for, far.keep_firing_for);
}

AlertOverride override_of(const AlertRule& rule, std::string_view row) {
    AlertOverride out;
    if (!row.empty()) {
        for (const auto& [pattern, values] : rule.rows) {
            if (fits_pattern(row, pattern)) fill_from(out, values);
        }
    }
    fill_from(out, rule.all);
    return out;
}

AlertTerms alert_terms(const Addon& addon, const AlertPolicy& policy, std::string_view type,
                       std::string_view subject) {
    AlertTerms terms;
    if (const AlertType* known = find_alert_type(addon, type)) {
        terms.sustained = known->sustained;
        terms.keep_firing_for = known->keep_firing_for;
    }
    const auto found = policy.types.find(type);
    if (found == policy.types.end()) return terms;
    const AlertOverride over = override_of(found->second, subject);
    terms.enabled = over.enabled.value_or(true);
    terms.severity = over.severity;
    terms.sustained = over.sustained.value_or(terms.sustained);
    terms.keep_firing_for = over.keep_firing_for.value_or(terms.keep_firing_for);
    return terms;
}

// Goes back to the last star only: linear in practice, at most text times pattern.
bool fits_pattern(std::string_view text, std::string_view pattern) {
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool is_more_exact(std::string_view a, std::string_view b) {
    const auto rank = [](std::string_view pattern) {
        const bool exact = pattern.find_first_of("*?") == std::string_view::npos;
        return std::tuple(exact ? 0 : 1, -static_cast<std::int64_t>(pattern.size()), pattern);
    };
    return rank(a) < rank(b);
}

std::string_view to_string(FailureAlert when) {
    switch (when) {
        case FailureAlert::kFirst: return "first";
        case FailureAlert::kConfirmed: return "confirmed";
        case FailureAlert::kOff: return "never";
    }
    return "confirmed";
}

}  // namespace pollux::model
