// An addon as plain data: what a manifest says, checked and with names resolved to indices. How
// values are read from replies is compiled beside it (extract/); what becomes of them follows from
// the definitions here (derive/, later alert/).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace pollux::model {

enum class ProtocolKind : std::uint8_t {
    kHttp,
    kSnmp,
    kSsh,
    kExec,
    kTcp,
    kTls,
    kIcmp,
    kDns,
    // Inbound: the device speaks first, nothing is asked.
    kTrap,
    kWebhook,
    kPush,
};

enum class MetricType : std::uint8_t {
    kGauge,    // a number that goes up and down
    kCounter,  // free-running; stored and shown as a rate per second
    kState,    // a number or word from a small set: every change counts
    kText,     // a fact for people (model, version): kept, not charted
};

struct Range {
    std::optional<double> low;
    std::optional<double> high;
    bool operator==(const Range&) const = default;
};

// A gauge that derive/ makes from the rate of one metric and the value of another of the same row:
// rate(of) * factor / to. The utilisation of an interface is bytes per second * 800 / bits.
struct RateRatio {
    std::uint16_t of = 0;  // a counter
    std::uint16_t to = 0;  // a gauge
    double factor = 1;
    bool operator==(const RateRatio&) const = default;
};

struct MetricDef {
    std::string name;  // [a-z][a-z0-9_]*; unique in the addon
    MetricType type = MetricType::kGauge;
    std::string unit;  // "bytes", "seconds", "percent", ...; a counter's rate is unit per second
    std::string help;
    bool per_row = false;           // one value per row (interface, disk) instead of one per target
    std::uint8_t counter_bits = 0;  // 32 or 64 where known; 0: found out from the values
    Range valid;                    // values outside are sentinels: dropped, counted
    std::vector<std::string> states;        // kState: the words, by number; empty: no word for it
    std::uint16_t group = 0;                // index into Addon::groups: the task that reads it
    std::optional<RateRatio> ratio;         // derived, not read
    std::vector<std::uint16_t> conditions;  // by link(): what is decided by it
    std::optional<std::uint16_t> change;    // by link(): index into Addon::change
    bool operator==(const MetricDef&) const = default;
};

enum class Comparison : std::uint8_t { kAbove, kAtLeast, kBelow, kAtMost, kEqual, kNotEqual };

enum class ConditionKind : std::uint8_t {
    kValue,    // the value itself
    kRate,     // how fast a gauge moves
    kAbsent,   // answers come, but without the value
    kChanged,  // a text or state is another than at the poll before
};

// A worse step of a condition: one alert whose severity rises and falls.
struct SeverityStep {
    double trigger = 0;
    double clear = 0;
    std::string severity;
    bool operator==(const SeverityStep&) const = default;
};

struct ConditionDef {
    std::string name;  // the type of the alert
    std::uint16_t metric = 0;
    ConditionKind kind = ConditionKind::kValue;
    Comparison comparison = Comparison::kAbove;
    double trigger = 0;
    Comparison clear_comparison = Comparison::kAtMost;
    double clear = 0;  // hysteresis: between trigger and clear the level stays
    std::string word;  // compared instead of the numbers for states and texts, if not empty
    std::string severity = "warning";
    std::vector<SeverityStep> steps;  // past the first; each lies beyond the one before
    std::string summary;
    base::Duration rate_unit{};        // kRate: the change is counted per so long
    base::Duration window{};           // kRate: looked at over so long; zero: between two polls
    base::Duration absent{};           // kAbsent: for so long
    std::uint16_t failures = 1;        // polls in a row until it is raised, or is worse
    std::uint16_t recoveries = 1;      // polls in a row until it is over, or is better
    bool after_clear = false;          // raised only where it was seen clear before
    double min_delta = 0;              // an update is told when the value moved so far; zero: never
    base::Duration sustained{};        // `for`: the alert waits so long; see alert/
    base::Duration keep_firing_for{};  // the alert stays so long after it is over; see alert/
    std::vector<std::uint16_t> show;   // metrics of the row or the target that people want to see
    std::optional<std::uint16_t> explained_by;  // index of the condition that says why it is over
    bool operator==(const ConditionDef&) const = default;
};

inline constexpr std::size_t kMaxSeveritySteps = 4;  // past the first
// The longest `for` and `keep_firing_for`.
inline constexpr base::Duration kLongestPatience = std::chrono::hours(24 * 7);

// One type of alert that an addon can raise, by a condition or by a signal.
struct AlertType {
    std::string name;
    bool by_condition = false;
    base::Duration sustained{};
    base::Duration keep_firing_for{};
    bool operator==(const AlertType&) const = default;
};

// A metric whose movement counts as a change although it is a number: by more than `tolerance`
// (absolute), or by more than `share` of the value that last counted.
struct ChangeField {
    std::uint16_t metric = 0;
    double tolerance = 0;
    double share = 0;
    bool operator==(const ChangeField&) const = default;
};

// One task of a target: the requests that are asked together. The main group has no name; a group
// with an interval of its own is the task `addon::device#group`.
struct PollGroup {
    std::string name;
    std::optional<base::Duration> interval;
    bool operator==(const PollGroup&) const = default;
};

struct Addon {
    std::string name;     // [a-z0-9_-]{1,64}: the class of its targets
    std::string version;  // semver
    std::string title;
    std::string description;
    std::string category;
    ProtocolKind protocol = ProtocolKind::kHttp;
    std::optional<base::Duration> interval;  // of the main group
    std::optional<base::Duration> timeout;
    std::vector<PollGroup> groups;  // at least the main one, which is the first
    std::vector<MetricDef> metrics;
    std::vector<ConditionDef> conditions;
    std::vector<ChangeField> change;
    std::vector<AlertType> alert_types;  // sorted by name
    bool any_alert_type = false;         // messages name types that nobody listed
    bool operator==(const Addon&) const = default;
};

inline constexpr std::size_t kMaxConditionsPerMetric = 8;

// Fills in which conditions and which change field each metric has, so that a poll need not search.
// Indices must be right; at most kMaxConditionsPerMetric conditions per metric.
void link(Addon& addon);

bool is_inbound(ProtocolKind protocol);
std::string_view to_string(ProtocolKind protocol);
std::string_view to_string(MetricType type);
std::string_view to_string(Comparison comparison);  // ">", "==", ...
bool is_upward(Comparison comparison);              // > and >=
bool is_equality(Comparison comparison);            // == and !=

const AlertType* find_alert_type(const Addon& addon, std::string_view name);  // null: none

}  // namespace pollux::model
