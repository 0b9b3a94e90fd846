// The fleet as configured objects and back, without loss; and the difference between what is stored
// and what files want. Pure: ids come from time and random bits that are handed in.
//
// Bodies are canonical JSON. Those of credentials may hold literal secrets: the caller seals them
// before they are stored and opens them before they come here.
//
// One object of kind `defaults` holds the sections defaults, addons, classes and resources. There
// is one object of kind `target` for every target, with the body {} if `targets` says nothing about
// it: history and alerts refer to its id.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "config/expand.hpp"
#include "config/fleet.hpp"
#include "model/object.hpp"

namespace pollux::config {

inline constexpr std::string_view kDefaultsName = "defaults";

// Objects without id, version or time, sorted by kind and name: what files want. The devices in
// `discovered` and their targets are of origin `discovery`, everything else is of origin `file`.
std::vector<model::ConfigObject> to_objects(const Fleet& fleet,
                                            const std::set<std::string>& discovered = {});

// The fleet that stored objects describe, of every origin; addons and settings are left out. Fails,
// naming the object and the field, if a body is not what to_objects() writes.
base::Result<Fleet> from_objects(std::span<const model::ConfigObject> objects);

// Ids of the targets, for expand().
TargetIds target_ids(std::span<const model::ConfigObject> objects);

struct FieldChange {
    std::string field;   // "interval.base", "addons[1]"
    std::string before;  // canonical JSON; empty: was not there
    std::string after;   // canonical JSON; empty: is gone
    bool operator==(const FieldChange&) const = default;
};

struct ObjectChange {
    model::ConfigObject before;
    model::ConfigObject after;  // id and name of `before`, body as wanted, version one higher
    std::vector<FieldChange> fields;
    bool operator==(const ObjectChange&) const = default;
};

// A name that another origin owns.
struct Conflict {
    model::ConfigObject current;
    std::string message;  // who owns it, and how to adopt it
    bool operator==(const Conflict&) const = default;
};

struct FleetDiff {
    std::vector<model::ConfigObject> additions;  // without id, version 1
    std::vector<ObjectChange> changes;
    std::vector<model::ConfigObject> removals;
    std::vector<Conflict> conflicts;

    bool empty() const {
        return additions.empty() && changes.empty() && removals.empty() && conflicts.empty();
    }
    bool operator==(const FleetDiff&) const = default;
};

struct DiffOptions {
    bool adopt = false;      // take over what another origin owns, instead of a conflict
    bool discovery = false;  // `wanted` holds all discovered devices too: remove those it lacks
};

// Objects are matched by kind and name. Only those of the wanted origin are changed, only those of
// origin `file` are removed, and kinds that files do not describe (addon, settings) are left alone.
FleetDiff diff(std::span<const model::ConfigObject> current,
               std::span<const model::ConfigObject> wanted, const DiffOptions& options = {});

// 128 random bits at a time.
using RandomBits = std::function<std::pair<std::uint64_t, std::uint64_t>()>;

// What to store for a diff without conflicts: additions with fresh ids, changes, and the time.
struct ObjectEdits {
    std::vector<model::ConfigObject> upserts;
    std::vector<model::ConfigObject> removals;
};
ObjectEdits make_edits(const FleetDiff& difference, base::WallTime now, const RandomBits& random);

// The state after the edits, sorted by kind and name.
std::vector<model::ConfigObject> apply_edits(std::span<const model::ConfigObject> current,
                                             const ObjectEdits& edits);

// For people: one line per object, and one per field; secrets are not shown.
std::string describe(const FleetDiff& difference);

// For the audit trail: what an object that people name was and is, as JSON, of a target with its
// device: {"device web-1":{"version":3,"fields":{"tier":"high"}}}. What came or went has its whole
// body as "spec". Of a credential there are only names of fields. Without a name: of all objects.
struct ObjectStates {
    std::string before;  // empty: there was none
    std::string after;
    bool operator==(const ObjectStates&) const = default;
};
ObjectStates states_of(const FleetDiff& difference, std::string_view name);

}  // namespace pollux::config
