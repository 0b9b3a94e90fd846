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

struct ConditionDef {
    std::string name;
    std::uint16_t metric = 0;
    Comparison comparison = Comparison::kAbove;
    double trigger = 0;
    Comparison clear_comparison = Comparison::kAtMost;
    double clear = 0;  // hysteresis: between trigger and clear the level stays
    std::string word;  // compared instead of the numbers for states and texts, if not empty
    std::string severity = "warning";
    std::string summary;
    bool operator==(const ConditionDef&) const = default;
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

}  // namespace pollux::model
