// The table of all settings: one row each with its names, type, range, default and meaning.
// Parsing, system.json, the environment, the reference page and `pollux settings show` all read
// this table, so that a setting is added in two places only: here and in settings.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "config/settings.hpp"

namespace pollux::config {

// A field whose value is one of a few words.
struct ChoiceField {
    std::span<const std::string_view> names;
    std::size_t (*get)(const Settings&);
    void (*set)(Settings&, std::size_t);
};

using SettingField = std::variant<
    bool Settings::*, std::int64_t Settings::*, double Settings::*, base::Duration Settings::*,
    std::string Settings::*, std::vector<std::string> Settings::*, ListenList Settings::*,
    WebAddress Settings::*, FilePath Settings::*, HeaderName Settings::*, HostText Settings::*,
    MailText Settings::*, CredentialName Settings::*, GroupRoles Settings::*, LineText Settings::*,
    GroupNames Settings::*, AdaptiveScope Settings::*, ChoiceField>;

enum class Applies : std::uint8_t {
    kLive,     // from the moment it is stored
    kRestart,  // at the next start
    kKept,     // read and kept for other tools; without effect here yet
};
std::string_view to_string(Applies applies);

// What happens to a number or duration outside of its range.
enum class OutOfRange : std::uint8_t {
    kRefuse,  // an error: the server does not start, an edit is not taken
    kClamp,   // a warning, and the nearest allowed value
    kIgnore,  // a warning, and the value counts as not given
};

struct SettingDef {
    std::string_view key;          // snake_case, unique
    std::string_view json;         // name in system.json; empty: environment only
    std::string_view environment;  // name of the variable
    std::string_view alias;        // another variable with the same meaning; empty: none
    SettingField field;
    double low = 0;  // of numbers; durations in seconds; of places to listen the least port
    double high = 0;
    OutOfRange out_of_range = OutOfRange::kRefuse;
    bool zero_is_unset = false;  // in system.json: 0 keeps the default, as older files have it
    Applies applies = Applies::kLive;
    std::string_view help;
    bool paths = false;  // of lists: absolute paths instead of address ranges
};

std::span<const SettingDef> setting_definitions();
const SettingDef* find_setting(std::string_view key);           // by key
const SettingDef* find_setting_by_json(std::string_view json);  // by name in system.json
std::size_t row_of(const SettingDef& definition);

// Reads the text form, as it stands in a variable or on the command line. `clamped` tells that the
// value was moved into its range. The message says what was seen and what is right.
struct ParsedSetting {
    bool clamped = false;
};
base::Result<ParsedSetting> parse_into(const SettingDef& definition, std::string_view text,
                                       Settings& settings);

// The text form of a value: what parse_into() reads back.
std::string format_value(const SettingDef& definition, const Settings& settings);

// For people: "boolean", "duration, 10 s to 1 h", "one of off, on".
std::string describe_type(const SettingDef& definition);

// docs/settings-reference.md, whole.
std::string settings_reference_markdown();

}  // namespace pollux::config
