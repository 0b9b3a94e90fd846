#include "api/alertmanager_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;

// How long an open alert is good for, for clients that look at its end.
constexpr base::Duration kGoodFor = std::chrono::minutes(5);
// The end of a silence without one, such as a recurring window.
constexpr base::Duration kFarAway = std::chrono::hours(24 * 366);

void write_texts(JsonWriter& json, std::string_view name, const model::AlertLabels& texts) {
    json.key(name).object();
    for (const auto& [key, value] : texts) json.field(key, value);
    json.end_object();
}

void write_words(JsonWriter& json, std::string_view name, const std::vector<std::string>& words) {
    json.key(name).array();
    for (const std::string& word : words) json.value(word);
    json.end_array();
}

model::AlertLabels annotations_of(const model::Alert& alert) {
    model::AlertLabels texts;
    // What another system said about its alert is kept as fields of evidence.
    if (alert.source == model::AlertSource::kExternal) {
        texts.insert(alert.fields.begin(), alert.fields.end());
    }
    texts["summary"] = alert.title;
    if (!alert.message.empty()) texts["description"] = alert.message;
    if (alert.acknowledged) {
        texts["acknowledged_by"] = alert.acknowledged->by;
        if (!alert.acknowledged->note.empty()) {
            texts["acknowledged_note"] = alert.acknowledged->note;
        }
    }
    if (!alert.incident.empty()) texts["incident"] = alert.incident;
    return texts;
}

std::string_view state_of(const ShownAlert& shown) {
    if (shown.unprocessed()) return "unprocessed";
    return shown.silenced() || shown.inhibited() ? "suppressed" : "active";
}

void write_shown(JsonWriter& json, const ShownAlert& shown, const AlertmanagerTimes& times) {
    const model::Alert& alert = shown.alert;
    json.object().field("fingerprint", alert.fingerprint);
    write_texts(json, "labels", shown.labels.values);
    write_texts(json, "annotations", annotations_of(alert));
    const bool begun = alert.active_since != base::WallTime{};
    json.field("startsAt", begun ? alert.active_since : alert.first_seen);
    json.field("endsAt", times.now + kGoodFor).field("updatedAt", alert.last_seen);
    if (!times.external_url.empty()) {
        json.field("generatorURL", fmt::format("{}/alerts/{}", times.external_url, alert.id));
    }
    json.key("receivers").array();
    for (const std::string& name : shown.receivers) json.object().field("name", name).end_object();
    json.end_array().key("status").object().field("state", state_of(shown));
    write_words(json, "silencedBy", shown.silenced_by);
    json.key("inhibitedBy").array();
    if (shown.inhibited()) {
        json.value(alert.incident.empty() ? to_string(alert.suppressed_by)
                                          : std::string_view(alert.incident));
    }
    json.end_array().end_object().end_object();
}

void write_silence(JsonWriter& json, const ShownSilence& shown) {
    const model::Silence& silence = shown.silence;
    json.object().field("id", silence.id);
    json.key("status").object().field("state", to_string(shown.state)).end_object();
    json.field("updatedAt", shown.changed_at).key("matchers").array();
    for (const model::LabelMatcher& matcher : silence.matchers) {
        const bool regex = matcher.op == model::MatchOperator::kMatches ||
                           matcher.op == model::MatchOperator::kNotMatches;
        const bool equal = matcher.op == model::MatchOperator::kEqual ||
                           matcher.op == model::MatchOperator::kMatches;
        json.object().field("name", matcher.label).field("value", matcher.value);
        json.field("isRegex", regex).field("isEqual", equal).end_object();
    }
    const base::WallTime from = silence.from == base::WallTime{} ? shown.changed_at : silence.from;
    const base::WallTime until =
        silence.until == base::WallTime{} ? shown.changed_at + kFarAway : silence.until;
    json.end_array().field("startsAt", from).field("endsAt", until);
    json.field("createdBy", silence.owner).field("comment", silence.reason).end_object();
}

}  // namespace

std::string v2_alerts_page(const std::vector<ShownAlert>& alerts, const AlertmanagerTimes& times) {
    std::string text;
    JsonWriter json(text);
    json.array();
    for (const ShownAlert& alert : alerts) write_shown(json, alert, times);
    json.end_array();
    return text;
}

std::string v2_groups_page(const std::vector<ShownAlert>& alerts,
                           const std::vector<std::string>& group_by,
                           const AlertmanagerTimes& times) {
    std::map<std::pair<std::string, model::AlertLabels>, std::vector<const ShownAlert*>> groups;
    for (const ShownAlert& alert : alerts) {
        model::AlertLabels labels;
        for (const std::string& name : group_by) {
            const std::string_view value = alert.labels.find(name);
            if (!value.empty()) labels.emplace(name, value);
        }
        for (const std::string& receiver : alert.receivers) {
            groups[{receiver, labels}].push_back(&alert);
        }
    }
    std::string text;
    JsonWriter json(text);
    json.array();
    for (const auto& [what, members] : groups) {
        json.object();
        write_texts(json, "labels", what.second);
        json.key("receiver").object().field("name", what.first).end_object();
        json.key("alerts").array();
        for (const ShownAlert* alert : members) write_shown(json, *alert, times);
        json.end_array().end_object();
    }
    json.end_array();
    return text;
}

std::string v2_silence_page(const ShownSilence& silence) {
    std::string text;
    JsonWriter json(text);
    write_silence(json, silence);
    return text;
}

std::string v2_silences_page(const std::vector<ShownSilence>& silences) {
    std::string text;
    JsonWriter json(text);
    json.array();
    for (const ShownSilence& silence : silences) write_silence(json, silence);
    json.end_array();
    return text;
}

std::string v2_status_page(std::string_view version, base::WallTime started_at) {
    std::string text;
    JsonWriter json(text);
    json.object().key("cluster").object().field("status", "disabled");
    json.key("peers").array().end_array().end_object();
    // The configuration of Pollux is no file of Alertmanager's.
    json.key("config").object().field("original", "").end_object();
    json.field("uptime", started_at).key("versionInfo").object();
    json.field("version", fmt::format("pollux-{}", version)).field("branch", "");
    json.field("buildDate", "").field("buildUser", "").field("goVersion", "");
    json.field("revision", "").end_object().end_object();
    return text;
}

std::string v2_receivers_page(const std::vector<std::string>& names) {
    std::string text;
    JsonWriter json(text);
    json.array();
    for (const std::string& name : names) json.object().field("name", name).end_object();
    json.end_array();
    return text;
}

}  // namespace pollux::api
