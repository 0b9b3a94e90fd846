#include "config/settings_resolve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/settings_registry.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::Mark;
using document::Node;

// The text form of a JSON value for the type of its row; nothing if the JSON type is wrong.
struct JsonToText {
    const Node& node;

    std::optional<std::string> plain() const {
        if (!node.is_scalar() || node.quoted()) return std::nullopt;
        return node.scalar();
    }
    std::optional<std::string> text() const {
        if (!node.is_scalar() || !node.quoted()) return std::nullopt;
        return node.scalar();
    }
    std::optional<std::string> operator()(bool Settings::*) const {
        const auto word = plain();
        return word == "true" || word == "false" ? word : std::nullopt;
    }
    std::optional<std::string> operator()(std::int64_t Settings::*) const { return plain(); }
    std::optional<std::string> operator()(double Settings::*) const { return plain(); }
    // Seconds as a number, as older files have it, or "1m30s".
    std::optional<std::string> operator()(base::Duration Settings::*) const {
        return node.is_scalar() ? std::optional(node.scalar()) : std::nullopt;
    }
    std::optional<std::string> operator()(std::string Settings::*) const { return text(); }
    std::optional<std::string> operator()(WebAddress Settings::*) const { return text(); }
    std::optional<std::string> operator()(FilePath Settings::*) const { return text(); }
    std::optional<std::string> operator()(HeaderName Settings::*) const { return text(); }
    std::optional<std::string> operator()(HostText Settings::*) const { return text(); }
    std::optional<std::string> operator()(MailText Settings::*) const { return text(); }
    std::optional<std::string> operator()(CredentialName Settings::*) const { return text(); }
    std::optional<std::string> operator()(LineText Settings::*) const { return text(); }
    std::optional<std::string> operator()(GroupNames Settings::*) const { return list(); }
    std::optional<std::string> operator()(GroupRoles Settings::*) const { return list(); }
    std::optional<std::string> operator()(AdaptiveScope Settings::*) const { return text(); }
    std::optional<std::string> operator()(const ChoiceField&) const { return text(); }
    std::optional<std::string> operator()(std::vector<std::string> Settings::*) const {
        return list();
    }
    std::optional<std::string> operator()(ListenList Settings::*) const { return list(); }
    std::optional<std::string> list() const {
        if (!node.is_sequence()) return std::nullopt;
        std::vector<std::string_view> items;
        for (const Node& item : node.items()) {
            if (!item.is_scalar() || !item.quoted()) return std::nullopt;
            items.emplace_back(item.scalar());
        }
        return fmt::format("{}", fmt::join(items, ","));
    }
};

struct TextToJson {
    const Settings& settings;

    Node operator()(bool Settings::* field) const { return Node::boolean(settings.*field); }
    Node operator()(std::int64_t Settings::* field) const { return Node::integer(settings.*field); }
    Node operator()(double Settings::* field) const { return Node::number(settings.*field); }
    Node operator()(base::Duration Settings::* field) const {
        return Node::number(base::to_seconds(settings.*field));
    }
    Node operator()(std::string Settings::* field) const { return Node::text(settings.*field); }
    Node operator()(std::vector<std::string> Settings::* field) const {
        return list(settings.*field);
    }
    Node operator()(ListenList Settings::* field) const { return list((settings.*field).items); }
    Node operator()(WebAddress Settings::*) const { return text(); }
    Node operator()(FilePath Settings::*) const { return text(); }
    Node operator()(HeaderName Settings::*) const { return text(); }
    Node operator()(HostText Settings::*) const { return text(); }
    Node operator()(MailText Settings::*) const { return text(); }
    Node operator()(CredentialName Settings::*) const { return text(); }
    Node operator()(LineText Settings::*) const { return text(); }
    Node operator()(GroupNames Settings::* field) const { return list((settings.*field).items); }
    Node operator()(GroupRoles Settings::* field) const {
        std::vector<std::string> items;
        for (const auto& [group, role] : (settings.*field).items) {
            items.push_back(fmt::format("{}={}", group, role));
        }
        return list(items);
    }
    static Node list(const std::vector<std::string>& items) {
        Node list = Node::sequence();
        for (const std::string& item : items) list.push(Node::text(item));
        return list;
    }
    Node operator()(AdaptiveScope Settings::*) const { return text(); }
    Node operator()(const ChoiceField&) const { return text(); }

    Node text() const { return Node::text(format_value(*definition, settings)); }
    const SettingDef* definition = nullptr;
};

bool is_zero(const Node& node) {
    return node.is_scalar() && !node.quoted() && document::parse_number(node.scalar()) == 0.0;
}

enum class Taken { kYes, kNo };

// Puts one stored value into `settings`; complains at `mark`.
Taken take_stored(const SettingDef& definition, const Node& node, const Mark& mark,
                  Settings& settings, Diagnostics& diagnostics) {
    if (node.is_null() || (definition.zero_is_unset && is_zero(node))) return Taken::kNo;
    const std::string field(definition.json);
    const auto text = std::visit(JsonToText{node}, definition.field);
    if (!text) {
        diagnostics.error(mark, field,
                          fmt::format("{} is not understood: it must be {}",
                                      quoted(document::to_json(node)), describe_type(definition)));
        return Taken::kNo;
    }
    const auto parsed = parse_into(definition, *text, settings);
    if (parsed) {
        if (parsed->clamped) {
            diagnostics.warning(
                mark, field,
                fmt::format("{} is out of range and was set to {}: it must be {}", *text,
                            format_value(definition, settings), describe_type(definition)));
        }
        return Taken::kYes;
    }
    const bool ignore =
        definition.out_of_range == OutOfRange::kIgnore && parsed.error().code == "settings.range";
    if (ignore) {
        diagnostics.warning(mark, field, parsed.error().message + "; it is ignored");
    } else {
        diagnostics.error(mark, field, parsed.error().message);
    }
    return Taken::kNo;
}

Taken take_variable(const SettingDef& definition, std::string_view name, const std::string& text,
                    Settings& settings, Diagnostics& diagnostics) {
    const Mark place{std::make_shared<const std::string>("environment"), 0, 0};
    const auto parsed = parse_into(definition, text, settings);
    if (parsed) {
        if (parsed->clamped) {
            diagnostics.warning(
                place, std::string(name),
                fmt::format("{} is out of range and was set to {}: it must be {}", quoted(text),
                            format_value(definition, settings), describe_type(definition)));
        }
        return Taken::kYes;
    }
    const bool refuse =
        definition.out_of_range == OutOfRange::kRefuse && parsed.error().code == "settings.range";
    if (refuse) {
        diagnostics.error(place, std::string(name), parsed.error().message);
    } else {
        diagnostics.warning(place, std::string(name), parsed.error().message + "; it is ignored");
    }
    return Taken::kNo;
}

// The variable of a row that is set and not empty, or null.
const std::string* find_variable(const Environment& environment, std::string_view name) {
    if (name.empty()) return nullptr;
    const auto found = environment.find(name);
    return found == environment.end() || found->second.empty() ? nullptr : &found->second;
}

void warn_of_mistyped_variables(const Environment& environment, Diagnostics& diagnostics) {
    std::vector<std::string_view> known;
    for (const SettingDef& row : setting_definitions()) {
        known.push_back(row.environment);
        if (!row.alias.empty()) known.push_back(row.alias);
    }
    for (const auto& [name, value] : environment) {
        if (!name.starts_with("POLLUX_") && !name.starts_with("ADAPTIVE_POLLING_")) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const auto suggestion = base::nearest(name, known);
        if (!suggestion) continue;
        diagnostics.warning({std::make_shared<const std::string>("environment"), 0, 0}, name,
                            fmt::format("is no setting; did you mean {}?", *suggestion));
    }
}

// "ADAPTIVE_POLLING_MIN_INTERVAL = 20s (environment)"
std::string named_value(const Settings& settings, std::string_view key) {
    const SettingDef& definition = *find_setting(key);
    const ValueOrigin origin = origin_of(settings, key);
    const std::string_view name =
        origin == ValueOrigin::kStored ? definition.json : definition.environment;
    return fmt::format("{} = {} ({})", name, format_value(definition, settings), to_string(origin));
}

void check_order(const Settings& settings, std::string_view small_key, base::Duration small,
                 std::string_view large_key, base::Duration large, Diagnostics& diagnostics) {
    if (small <= large) return;
    diagnostics.error(
        {}, std::string(find_setting(small_key)->environment),
        fmt::format("{} is greater than {}: the rule is min <= base <= max; change "
                    "one of them",
                    named_value(settings, small_key), named_value(settings, large_key)));
}

void check_combinations(const Settings& settings, Diagnostics& diagnostics) {
    constexpr std::string_view kMin = "adaptive_polling_min_interval";
    constexpr std::string_view kBase = "adaptive_polling_base_interval";
    constexpr std::string_view kMax = "adaptive_polling_max_interval";
    check_order(settings, kMin, settings.adaptive_min_interval, kBase,
                settings.adaptive_base_interval, diagnostics);
    check_order(settings, kBase, settings.adaptive_base_interval, kMax,
                settings.adaptive_max_interval, diagnostics);
    if (settings.device_class_slots > settings.device_slots) {
        diagnostics.error({}, "POLLUX_DEVICE_CLASS_SLOTS",
                          fmt::format("{} is greater than {}: a class cannot have more slots on a "
                                      "device than the device has",
                                      named_value(settings, "device_class_slots"),
                                      named_value(settings, "device_slots")));
    }
    if (settings.history_raw_days > settings.history_minute_days ||
        settings.history_minute_days > settings.history_hour_days) {
        diagnostics.error({}, "POLLUX_HISTORY_RAW_DAYS",
                          fmt::format("{}, {} and {} must not fall: finer history is kept at most "
                                      "as long as coarser",
                                      named_value(settings, "history_raw_days"),
                                      named_value(settings, "history_minute_days"),
                                      named_value(settings, "history_hour_days")));
    }
}

}  // namespace

SystemJson read_system_json(std::string_view text, const std::string& file,
                            Diagnostics& diagnostics) {
    SystemJson result;
    const document::Parsed parsed = document::parse_json(text, file, diagnostics);
    if (!parsed.ok) return result;
    if (!parsed.root.is_map()) {
        if (!parsed.root.is_null()) {
            diagnostics.error(parsed.root.mark(), "",
                              "the settings must be one map of names and values");
        }
        return result;
    }
    Settings probe;
    for (const document::MapEntry& entry : parsed.root.entries()) {
        result.stored.values[entry.key] = document::to_json(entry.value);
        const SettingDef* definition = find_setting_by_json(entry.key);
        if (definition == nullptr) {
            result.foreign.push_back(entry.key);
            continue;
        }
        take_stored(*definition, entry.value, entry.key_mark, probe, diagnostics);
    }
    return result;
}

std::string write_system_json(const StoredSettings& stored) {
    std::string text = "{";
    std::string_view separator = "\n";
    for (const auto& [name, value] : stored.values) {
        text += fmt::format("{}  {}: {}", separator, document::json_string(name), value);
        separator = ",\n";
    }
    return text + (stored.values.empty() ? "}\n" : "\n}\n");
}

base::Status set_value(StoredSettings& stored, std::string_view key, std::string_view text) {
    const SettingDef* definition = find_setting(key);
    if (definition == nullptr) {
        std::vector<std::string_view> keys;
        for (const SettingDef& row : setting_definitions()) keys.push_back(row.key);
        const auto suggestion = base::nearest(key, keys);
        return base::config_error(
            "settings.unknown",
            fmt::format("there is no setting {}{}", quoted(key),
                        suggestion ? fmt::format("; did you mean {}?", *suggestion)
                                   : std::string("; `pollux settings show` lists them")));
    }
    if (definition->json.empty()) {
        return base::config_error(
            "settings.environment_only",
            fmt::format("{} can only be set by the variable {}", key, definition->environment));
    }
    Settings settings;
    const auto parsed = parse_into(*definition, text, settings);
    if (!parsed) {
        return base::config_error(parsed.error().code,
                                  fmt::format("{}: {}", key, parsed.error().message));
    }
    const Node value = std::visit(TextToJson{settings, definition}, definition->field);
    stored.values[std::string(definition->json)] = document::to_json(value);
    return {};
}

std::vector<SettingChange> changes(const StoredSettings& before, const StoredSettings& after) {
    std::vector<SettingChange> result;
    for (const auto& [name, value] : before.values) {
        const auto found = after.values.find(name);
        const std::string now = found == after.values.end() ? std::string() : found->second;
        if (now != value) result.push_back({name, value, now});
    }
    for (const auto& [name, value] : after.values) {
        if (!before.values.contains(name)) result.push_back({name, {}, value});
    }
    std::sort(result.begin(), result.end(),
              [](const SettingChange& a, const SettingChange& b) { return a.name < b.name; });
    return result;
}

Settings resolve_settings(const Environment& environment, const StoredSettings& stored,
                          Diagnostics& diagnostics) {
    Settings settings;
    settings.origins.assign(setting_definitions().size(), ValueOrigin::kDefault);
    const Mark place{std::make_shared<const std::string>("settings"), 0, 0};
    for (const SettingDef& row : setting_definitions()) {
        ValueOrigin& origin = settings.origins[row_of(row)];
        const auto value = stored.values.find(row.json);
        if (value != stored.values.end()) {
            const auto parsed = document::parse_json(value->second, "settings", diagnostics);
            if (parsed.ok &&
                take_stored(row, parsed.root, place, settings, diagnostics) == Taken::kYes) {
                origin = ValueOrigin::kStored;
            }
        }
        for (const std::string_view name : {row.environment, row.alias}) {
            const std::string* variable = find_variable(environment, name);
            if (variable == nullptr) continue;
            if (take_variable(row, name, *variable, settings, diagnostics) == Taken::kYes) {
                origin = ValueOrigin::kEnvironment;
            }
            break;  // the alias counts only where the name itself is not set
        }
    }
    warn_of_mistyped_variables(environment, diagnostics);
    check_combinations(settings, diagnostics);
    return settings;
}

std::string starter_system_json() {
    StoredSettings stored;
    stored.values["adaptivePollingEnabled"] = "true";
    return write_system_json(stored);
}

}  // namespace pollux::config
