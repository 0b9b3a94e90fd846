// Settings from their sources, in this order: environment, stored settings (mirrored in
// system.json), default. Called at the start and whenever the stored settings changed; pure, so the
// caller decides whether the old values stay when something is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fleet.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config {

using Environment = ByName<std::string>;

// What is stored: name in system.json -> its value as canonical JSON. Keys of other tools are kept.
struct StoredSettings {
    ByName<std::string> values;
    bool operator==(const StoredSettings&) const = default;
};

struct SystemJson {
    StoredSettings stored;
    std::vector<std::string> foreign;  // keys that are not ours: kept, without effect
};

// Reads the text of system.json. With errors in `diagnostics` the old values stay: a bad edit
// changes nothing.
SystemJson read_system_json(std::string_view text, const std::string& file,
                            document::Diagnostics& diagnostics);

// One key per line, sorted; reads back as the same settings.
std::string write_system_json(const StoredSettings& stored);

// Sets one value by its key in the registry, from its text form.
base::Status set_value(StoredSettings& stored, std::string_view key, std::string_view text);

struct SettingChange {
    std::string name;    // in system.json
    std::string before;  // canonical JSON; empty: was not there
    std::string after;   // canonical JSON; empty: is gone
    bool operator==(const SettingChange&) const = default;
};

// What a hand edit changed, by name. Empty: nothing worth a new version.
std::vector<SettingChange> changes(const StoredSettings& before, const StoredSettings& after);

// The values in force. Warnings: a variable that is not understood (it is ignored), a value moved
// into its range. Errors: a value that is refused, and combinations that cannot be, such as
// min > max; then the result must not be used.
Settings resolve_settings(const Environment& environment, const StoredSettings& stored,
                          document::Diagnostics& diagnostics);

// What a new installation starts with, as text of system.json: adaptive polling on.
std::string starter_system_json();

}  // namespace pollux::config
