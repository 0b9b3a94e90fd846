// What the fleet says about the alerts of a target, over what its addon says: limits, severities,
// delays, and what is switched off, for all rows or for some of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/addon.hpp"
#include "model/alert.hpp"

namespace pollux::model {

// When a target that does not answer raises its alert.
enum class FailureAlert : std::uint8_t {
    kFirst,      // with the first failure
    kConfirmed,  // when the failure ladder has confirmed it
    kOff,
};

// Empty: as the next level says, at last the addon.
struct AlertOverride {
    std::optional<bool> enabled = {};
    std::optional<double> trigger = {};
    // Nothing, but a trigger: as far from it as in the addon.
    std::optional<double> clear = {};
    std::optional<Severity> severity = {};
    std::optional<base::Duration> sustained = {};  // `for`
    std::optional<base::Duration> keep_firing_for = {};
    bool operator==(const AlertOverride&) const = default;
};

// Of one type of alerts of one target, all levels of the fleet taken together.
struct AlertRule {
    AlertOverride all;
    // Rows by name or pattern (* and ?), the most exact first; the first that says something
    // counts.
    std::vector<std::pair<std::string, AlertOverride>> rows;
    bool operator==(const AlertRule&) const = default;
};

struct AlertPolicy {
    FailureAlert failure_alert = FailureAlert::kConfirmed;
    std::map<std::string, AlertRule, std::less<>>
        types;  // those that the fleet says anything about
    bool operator==(const AlertPolicy&) const = default;
};

// What holds for one alert in the end.
struct AlertTerms {
    bool enabled = true;
    std::optional<Severity> severity;  // nothing: what the signal says
    base::Duration sustained{};
    base::Duration keep_firing_for{};
    bool operator==(const AlertTerms&) const = default;
};

// Takes from `far` what `near` does not say.
void fill_from(AlertOverride& near, const AlertOverride& far);

// What the rule says for one row; the row is nearer than the target.
AlertOverride override_of(const AlertRule& rule, std::string_view row);

AlertTerms alert_terms(const Addon& addon, const AlertPolicy& policy, std::string_view type,
                       std::string_view subject);

// * is any text, ? any one byte; everything else stands for itself.
bool fits_pattern(std::string_view text, std::string_view pattern);
// Whether pattern `a` is more exact than `b`: a name before a pattern, then the longer one.
bool is_more_exact(std::string_view a, std::string_view b);

std::string_view to_string(FailureAlert when);

}  // namespace pollux::model
