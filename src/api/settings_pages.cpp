#include "api/settings_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/text.hpp"
#include "config/settings_registry.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using config::SettingDef;
using document::JsonWriter;
using document::Node;

constexpr std::array<std::string_view, 29> kMonitoring = {
    "adaptive_polling_enabled",
    "adaptive_polling_shadow",
    "adaptive_polling_scope",
    "adaptive_polling_base_interval",
    "adaptive_polling_min_interval",
    "adaptive_polling_max_interval",
    "adaptive_policy",
    "adaptive_preset",
    "adaptive_degraded",
    "staleness_bound",
    "default_interval",
    "pve_polling_interval",
    "pbs_polling_interval",
    "pmg_polling_interval",
    "connection_timeout",
    "max_poll_timeout",
    "http_timeout",
    "snmp_timeout",
    "snmp_resends",
    "command_timeout",
    "check_timeout",
    "global_rate",
    "global_slots",
    "device_rate",
    "device_slots",
    "device_class_slots",
    "aging_step",
    "budget_headroom",
    "max_starts_per_step",
};

// Numbers and truth values as such, lists as lists, everything else as its text.
struct ValueWriter {
    JsonWriter& json;
    const SettingDef& row;
    const config::Settings& settings;

    void operator()(bool config::Settings::* field) const { json.value(settings.*field); }
    void operator()(std::int64_t config::Settings::* field) const { json.value(settings.*field); }
    void operator()(double config::Settings::* field) const { json.value(settings.*field); }
    void operator()(std::vector<std::string> config::Settings::* field) const {
        list(settings.*field);
    }
    void operator()(config::ListenList config::Settings::* field) const {
        list((settings.*field).items);
    }
    template <class Other>
    void operator()(const Other&) const {
        json.value(config::format_value(row, settings));
    }
    void list(const std::vector<std::string>& items) const {
        json.array();
        for (const std::string& item : items) json.value(item);
        json.end_array();
    }
};

void write_value(JsonWriter& json, const SettingDef& row, const config::Settings& settings) {
    std::visit(ValueWriter{json, row, settings}, row.field);
}

void write_setting(JsonWriter& json, const SettingDef& row, const runtime::FleetView& view) {
    const config::ValueOrigin origin = config::origin_of(view.settings, row.key);
    json.key(row.key).object().key("value");
    write_value(json, row, view.settings);
    json.key("default");
    write_value(json, row, config::Settings{});
    json.field("origin", config::to_string(origin));
    json.field("locked", origin == config::ValueOrigin::kEnvironment || row.json.empty());
    json.field("environment", row.environment).text_field("name", row.json);
    json.field("applies", config::to_string(row.applies));
    json.field("type", config::describe_type(row)).field("help", row.help).end_object();
}

// The text form that the registry reads; nothing: it is no scalar and no list of them.
std::optional<std::string> text_of(const Node& node) {
    if (node.is_scalar()) return node.scalar();
    if (!node.is_sequence()) return std::nullopt;
    std::string text;
    for (const Node& item : node.items()) {
        if (!item.is_scalar() || item.scalar().find(',') != std::string::npos) return std::nullopt;
        if (!text.empty()) text += ',';
        text += item.scalar();
    }
    return text;
}

base::Status edit_one(const runtime::FleetView& view, const SettingDef& row, const Node& value,
                      config::StoredSettings& stored) {
    if (config::origin_of(view.settings, row.key) == config::ValueOrigin::kEnvironment) {
        return base::config_error(
            "settings.locked",
            fmt::format("the variable {} decides it: unset it and start the server again",
                        row.environment));
    }
    if (value.is_null()) {
        stored.values.erase(std::string(row.json));
        return {};
    }
    const auto text = text_of(value);
    if (!text) {
        return base::config_error("settings.unparsable",
                                  fmt::format("{} is expected", config::describe_type(row)));
    }
    return config::set_value(stored, row.key, *text);
}

void write_changes(JsonWriter& json, const std::vector<config::SettingChange>& changes) {
    json.key("changes").array();
    for (const config::SettingChange& change : changes) {
        const SettingDef* row = config::find_setting_by_json(change.name);
        json.object().field("name", change.name);
        if (row != nullptr) json.field("key", row->key);
        if (!change.before.empty()) json.raw_field("before", change.before);
        if (!change.after.empty()) json.raw_field("after", change.after);
        json.end_object();
    }
    json.end_array();
}

void write_version(JsonWriter& json, const store::SettingsVersion& version) {
    json.field("version", version.object.version).field("at", version.object.changed_at);
    json.field("note", version.note);
}

std::vector<config::SettingChange> changes_between(
    const std::optional<store::SettingsVersion>& before, const store::SettingsVersion& after) {
    const auto old_values = before ? settings_of(*before) : config::StoredSettings{};
    const auto new_values = settings_of(after);
    if (!old_values || !new_values) return {};
    return config::changes(*old_values, *new_values);
}

}  // namespace

bool in_part(SettingsPart part, std::string_view key) {
    return part == SettingsPart::kAll || std::ranges::find(kMonitoring, key) != kMonitoring.end();
}

std::string settings_page(const runtime::FleetView& view, SettingsPart part) {
    std::string page;
    JsonWriter json(page);
    json.object().field("version", view.settings_version).key("settings").object();
    for (const SettingDef& row : config::setting_definitions()) {
        if (in_part(part, row.key)) write_setting(json, row, view);
    }
    json.end_object().end_object();
    return page;
}

base::Result<config::StoredSettings> edited_settings(const runtime::FleetView& view,
                                                     SettingsPart part, const Node& body,
                                                     document::Diagnostics& diagnostics) {
    if (!body.is_map()) {
        diagnostics.error(body.mark(), "", "a map of settings is expected");
        return std::unexpected(diagnostics.as_error("settings.invalid"));
    }
    config::StoredSettings stored = view.stored;
    std::string code = "settings.invalid";
    for (const auto& entry : body.entries()) {
        if (entry.key == "reason") continue;
        const SettingDef* row = config::find_setting(entry.key);
        if (row == nullptr) row = config::find_setting_by_json(entry.key);
        if (row != nullptr && !in_part(part, row->key)) {
            diagnostics.error(entry.key_mark, entry.key, "it is changed at /api/settings");
            continue;
        }
        const base::Status status =
            row == nullptr ? config::set_value(stored, entry.key, "")  // says what is meant
                           : edit_one(view, *row, entry.value, stored);
        if (status) continue;
        if (status.error().code == "settings.locked") code = "settings.locked";
        diagnostics.error(entry.value.mark(), entry.key, status.error().message);
    }
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error(code));
    return stored;
}

base::Result<config::StoredSettings> settings_of(const store::SettingsVersion& version) {
    document::Diagnostics diagnostics;
    auto read = config::read_system_json(version.object.body,
                                         fmt::format("settings version {}", version.object.version),
                                         diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("settings.invalid"));
    return std::move(read.stored);
}

std::string versions_page(const std::vector<store::SettingsVersion>& versions,
                          const std::optional<store::SettingsVersion>& before) {
    std::string page;
    JsonWriter json(page);
    json.object().key("items").array();
    for (std::size_t i = 0; i < versions.size(); ++i) {
        json.object();
        write_version(json, versions[i]);
        write_changes(
            json, changes_between(i + 1 < versions.size() ? std::optional(versions[i + 1]) : before,
                                  versions[i]));
        json.end_object();
    }
    json.end_array();
    if (before) json.field("next", before->object.version + 1);
    json.end_object();
    return page;
}

std::string difference_page(const store::SettingsVersion& from, const store::SettingsVersion& to) {
    std::string page;
    JsonWriter json(page);
    json.object().field("from", from.object.version).field("to", to.object.version);
    write_changes(json, changes_between(from, to));
    json.end_object();
    return page;
}

}  // namespace pollux::api
