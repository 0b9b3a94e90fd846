// From the fleet as written to what the scheduler and the runtime are given. Pure and
// deterministic: the same fleet, addons and settings give the same tasks in the same order.
//
// What counts, first found: `targets` > the addon's entry of the device > the device > its groups
// (nearest first, see membership.hpp; within a group its entry of the addon comes first) > `addons`
// > the manifest > `classes` > the settings of the class > `defaults` > the settings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/fleet.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"

namespace pollux::config {

// Addons by name. The pointers outlive the call.
using AddonLookup = ByName<const model::Addon*>;
// Target key `addon::device` -> id of its stored object.
using TargetIds = ByName<std::string>;

// One task of one target, as the runtime needs it to make its asks.
struct TargetPlanInput {
    std::string key;        // of the task: `addon::device` or `addon::device#group`
    std::string target;     // `addon::device`
    std::string target_id;  // empty: not stored yet
    std::size_t group = 0;  // index in Addon::groups; 0 is the main one
    std::string addon;
    std::string device;
    std::vector<std::string> addresses;  // at least one
    std::optional<std::uint16_t> port;   // nothing: what the addon or the protocol says
    Parameters params;
    std::string credentials;  // name of the credential; empty: none
    SnmpOverrides snmp;
    TlsOverrides tls;
    base::Duration timeout{};  // of one poll, with all its requests and resends
    std::uint32_t resends = 0;
    Labels labels;
    std::vector<std::string> groups;  // of the device, nearest first, with their parents
    model::AlertPolicy alerts;
    bool operator==(const TargetPlanInput&) const = default;
};

// One target whose device speaks first: traps, webhooks, pushes. It is no task: nothing is asked.
struct InboundInput {
    std::string key;        // `addon::device`
    std::string target_id;  // empty: not stored yet
    std::string addon;
    std::string device;
    std::vector<std::string> addresses;  // at least one
    Parameters params;
    std::string credentials;  // name of the credential; empty: none
    std::optional<SecretReference> community;
    std::optional<base::Duration> interval;  // push: between two heartbeats; nothing: the addon's
    std::optional<base::Duration> grace;     // push; nothing: the addon's
    bool confirm = false;
    bool enabled = true;
    model::AlertPolicy alerts;
    bool operator==(const InboundInput&) const = default;
};

// `tasks[i]` is polled as `targets[i]` says. Sorted by key.
struct Expansion {
    std::vector<model::TaskSpec> tasks;
    std::vector<TargetPlanInput> targets;
    std::vector<InboundInput> inbound;  // sorted by key
    std::vector<model::DeviceSpec> devices;
    std::vector<model::ClassSettings> classes;  // every addon in use, and what `classes` names
    std::vector<model::ResourceSettings> resources;
    bool operator==(const Expansion&) const = default;
};

// Complaints (unknown addon, min > base, too large a name, ...) name the place of the object; what
// cannot be expanded is left out. TaskSpec::version is a hash of the task's content: it changes
// when, and only when, something about the task does (what is said about its alerts is not).
Expansion expand(const Fleet& fleet, const Places& places, const AddonLookup& addons,
                 const Settings& settings, const TargetIds& ids,
                 document::Diagnostics& diagnostics);

}  // namespace pollux::config
