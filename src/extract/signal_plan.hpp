// Signals as a manifest says them, compiled: when one is raised or cleared, and what it looks
// like. Made by addon_builder_signals.cpp, used by signal_writer.cpp; private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "extract/expression.hpp"
#include "extract/placeholder.hpp"
#include "model/oid.hpp"

namespace pollux::extract {

// What the signals of a type look like; a rule may say it too, for its own.
struct SignalLook {
    bool enabled = true;
    std::optional<std::string> severity;  // nothing: warning
    std::optional<std::string> category;  // nothing: the addon's
    std::optional<Template> title;
    std::optional<Template> message;
    std::vector<std::string> clears;  // types that end when this one comes
};

struct SignalType {
    std::string type;  // "*": every other one
    SignalLook look;
    base::Duration sustained{};  // `for`
    base::Duration keep_firing_for{};
};

struct SignalRule {
    std::string name;  // unique; what Signal::rule says
    std::uint16_t group = 0;
    std::optional<std::uint16_t> row_set;     // one record per row
    std::string type;                         // as written
    std::optional<Template> type_template;    // the type is read: it must be among the known types
    std::optional<Expression> when;           // nothing: always
    std::optional<Expression> clear_when;     // the record ends what it would raise otherwise
    std::optional<std::string> clear_suffix;  // a type that ends so clears the one without it
    std::optional<model::Oid> trap;
    std::optional<model::Oid> clear_trap;
    SignalLook look;
    bool one_subject = false;                // fingerprint_fields: [] also for rows
    std::vector<std::uint16_t> fingerprint;  // rules whose values are the subject
    std::vector<std::pair<std::string, std::uint16_t>> fields;  // shown name, rule
    std::optional<std::uint16_t> device_address;                // rules that say so
    std::optional<std::uint16_t> device_name;
    std::optional<std::uint16_t> time;
    bool reconcile = true;                 // polls: what is no longer raised is over
    std::vector<std::uint16_t> endpoints;  // http: what must have been read for a decision
};

struct TrapPlan {
    std::vector<model::Oid> enterprises;  // prefixes
    bool any_enterprise = false;          // "*"
};

struct PushPlan {
    base::Duration interval = std::chrono::minutes(1);
    base::Duration grace = std::chrono::seconds(30);
};

}  // namespace pollux::extract
