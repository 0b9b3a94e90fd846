// Short ways to read fleets and settings in tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/check_fleet.hpp"
#include "config/expand.hpp"
#include "config/fleet_reader.hpp"
#include "config/settings_resolve.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config::testing {

struct Read {
    LoadedFleet loaded;
    document::Diagnostics diagnostics;

    const Fleet& fleet() const { return loaded.fleet; }
};

// Files are called a.yaml, b.yaml, ... in messages.
inline Read read(const std::vector<std::string>& texts) {
    std::vector<FileText> files;
    for (const std::string& text : texts) {
        files.push_back({std::string(1, static_cast<char>('a' + files.size())) + ".yaml", text});
    }
    Read result;
    result.loaded = read_fleet(files, result.diagnostics);
    return result;
}

inline Read read(const std::string& text) { return read(std::vector<std::string>{text}); }

// Complaints of reading, then of checking.
inline std::string complaints(const std::vector<std::string>& texts) {
    Read result = read(texts);
    if (result.diagnostics.ok()) {
        check_fleet(result.fleet(), result.loaded.places, result.diagnostics);
    }
    result.diagnostics.sort();
    return result.diagnostics.text();
}

inline model::Addon addon(std::string name, model::ProtocolKind protocol,
                          std::optional<base::Duration> interval = std::nullopt) {
    model::Addon result;
    result.name = std::move(name);
    result.protocol = protocol;
    result.interval = interval;
    result.groups.emplace_back();
    return result;
}

// Addons of the tests: two with an interval of their own, one with a second poll group.
class Catalogue {
  public:
    Catalogue() {
        using std::chrono::seconds;
        using enum model::ProtocolKind;
        addons_.push_back(addon("snmp-system", kSnmp));
        addons_.push_back(addon("snmp-interfaces", kSnmp, seconds(120)));
        addons_.back().groups.push_back({"inventory", seconds(3600)});
        addons_.push_back(addon("http-status", kHttp));
        addons_.push_back(addon("http-json", kHttp, seconds(90)));
        addons_.push_back(addon("pve", kHttp));
        addons_.push_back(addon("pbs", kHttp));
        addons_.push_back(addon("pmg", kHttp));
        addons_.push_back(addon("traps", kTrap));
        addons_.push_back(addon("alive", kPush));
        give_alerts(addons_[0]);
        addons_[7].any_alert_type = true;
        for (const model::Addon& one : addons_) lookup_[one.name] = &one;
    }
    Catalogue(const Catalogue&) = delete;
    Catalogue& operator=(const Catalogue&) = delete;
    const AddonLookup& lookup() const { return lookup_; }

  private:
    // cpu_high above 90 until 85, port_busy per row, down by a word, and the signal fan_failed.
    static void give_alerts(model::Addon& addon) {
        addon.metrics.resize(2);
        addon.metrics[0].name = "cpu";
        addon.metrics[1].name = "use";
        addon.metrics[1].per_row = true;
        for (const char* name : {"cpu_high", "port_busy", "down"}) {
            model::ConditionDef condition;
            condition.name = name;
            condition.trigger = 90;
            condition.clear = 85;
            addon.conditions.push_back(std::move(condition));
        }
        addon.conditions[1].metric = 1;
        addon.conditions[2].word = "down";
        addon.conditions[2].comparison = model::Comparison::kEqual;
        model::link(addon);
        for (const char* name : {"cpu_high", "down", "fan_failed", "port_busy"}) {
            model::AlertType type;
            type.name = name;
            type.by_condition = type.name != "fan_failed";
            addon.alert_types.push_back(std::move(type));
        }
        addon.alert_types.front().sustained = std::chrono::minutes(1);
    }

    std::vector<model::Addon> addons_;
    AddonLookup lookup_;
};

inline Settings settings(const Environment& environment = {}) {
    document::Diagnostics diagnostics;
    return resolve_settings(environment, {}, diagnostics);
}

struct Expanded {
    Expansion expansion;
    document::Diagnostics diagnostics;

    const model::TaskSpec* task(std::string_view key) const {
        for (const auto& one : expansion.tasks) {
            if (one.key == key) return &one;
        }
        return nullptr;
    }
    const TargetPlanInput* target(std::string_view key) const {
        for (const auto& one : expansion.targets) {
            if (one.key == key) return &one;
        }
        return nullptr;
    }
};

inline Expanded expand_text(const std::string& text, const Environment& environment = {},
                            const TargetIds& ids = {}) {
    static const Catalogue catalogue;
    Read result = read(text);
    Expanded expanded;
    expanded.diagnostics = result.diagnostics;
    expanded.expansion = expand(result.fleet(), result.loaded.places, catalogue.lookup(),
                                settings(environment), ids, expanded.diagnostics);
    return expanded;
}

}  // namespace pollux::config::testing
