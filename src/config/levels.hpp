// The levels of settings of one target, nearest first, and the rules for what is first found.
// Used by expand.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fleet.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"
#include "model/addon.hpp"
#include "model/task_spec.hpp"

namespace pollux::config {

// One place where poll settings were written: "device" "web1".
struct Level {
    const PollSettings* settings = nullptr;
    std::string_view kind;
    std::string_view name;
    bool one_addon = false;  // the settings are of one addon, not of all of a device
};

// From the target to `addons`, which is nearer than the manifest; `defaults` are apart, because
// they are farther than it.
struct Levels {
    std::vector<Level> near;
    const PollSettings* defaults = nullptr;

    // First found among all levels.
    template <class T>
    std::optional<T> find(std::optional<T> PollSettings::* field) const {
        if (auto value = find_near(field)) return value;
        return defaults->*field;
    }
    template <class T>
    std::optional<T> find_near(std::optional<T> PollSettings::* field) const {
        for (const Level& level : near) {
            if (level.settings->*field) return level.settings->*field;
        }
        return std::nullopt;
    }
    // The same for a part of a nested setting, such as `tls.verify`.
    template <class Part, class T>
    std::optional<T> find(Part PollSettings::* part, std::optional<T> Part::* field) const {
        for (const Level& level : near) {
            if (level.settings->*part.*field) return level.settings->*part.*field;
        }
        return defaults->*part.*field;
    }
    // Maps are merged; the nearest level wins for each name.
    template <class T>
    ByName<T> merge(ByName<T> PollSettings::* map) const {
        ByName<T> result;
        for (const Level& level : near) {
            result.insert((level.settings->*map).begin(), (level.settings->*map).end());
        }
        result.insert((defaults->*map).begin(), (defaults->*map).end());
        return result;
    }
};

// What the rules for intervals look at besides the levels.
struct IntervalInput {
    const Levels& levels;
    const model::Addon& addon;
    const ClassOptions* options;  // of `classes`; may be null
    const Settings& settings;
    bool adaptive;  // whether the task may be adaptive: then ADAPTIVE_POLLING_BASE_INTERVAL counts
};

struct IntervalConflict {
    std::string place;    // path for Places
    std::string message;  // what is wrong, and what to do
};

// The cadence of a target's main task. A bound from farther away than the base gives way to it; a
// nearer one that contradicts it is a conflict.
model::Cadence resolve_cadence(const IntervalInput& input,
                               std::optional<IntervalConflict>& conflict);

// The cadence of a poll group with an interval of its own: min = base / 5, max = 2 x base.
model::Cadence group_cadence(base::Duration base);

// Time limit of one poll.
base::Duration resolve_timeout(const IntervalInput& input);

}  // namespace pollux::config
