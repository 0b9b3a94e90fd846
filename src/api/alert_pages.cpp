#include "api/alert_pages.hpp"

#include <algorithm>
#include <map>

#include "api/shown_number.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;

void write_labels(JsonWriter& json, const model::AlertLabels& labels) {
    json.key("labels").object();
    for (const auto& [name, value] : labels) json.field(name, value);
    json.end_object();
}

void write_acknowledgement(JsonWriter& json, const model::Acknowledgement& given) {
    json.time_field("acknowledged_at", given.at).text_field("acknowledged_by", given.by);
    json.text_field("acknowledged_note", given.note);
    json.time_field("acknowledged_until", given.until);
    json.field("acknowledged_sticky", given.sticky);
}

template <class Row, class Write>
void write_list(JsonWriter& json, std::string_view name, const std::vector<Row>& rows,
                const Write& write) {
    json.key(name).array();
    for (const Row& row : rows) write(row);
    json.end_array();
}

void write_story(JsonWriter& json, const std::vector<model::AlertEvent>& timeline,
                 const std::vector<model::Notification>& notifications) {
    write_list(json, "timeline", timeline, [&](const auto& one) { write_alert_event(json, one); });
    write_list(json, "notifications", notifications,
               [&](const auto& one) { write_notification(json, one); });
}

void write_counts(JsonWriter& json, std::string_view name,
                  const std::map<std::string, std::uint64_t, std::less<>>& counts) {
    json.key(name).object();
    for (const auto& [word, count] : counts) json.field(word, count);
    json.end_object();
}

}  // namespace

void write_alert_fields(JsonWriter& json, const model::Alert& alert) {
    json.field("id", alert.id).field("number", alert.number);
    json.field("fingerprint", alert.fingerprint).field("source", to_string(alert.source));
    json.field("addon", alert.addon).field("alert_type", alert.type);
    json.text_field("subject", alert.subject).text_field("target", alert.target);
    json.text_field("target_id", alert.target_id).text_field("device_name", alert.device);
    json.text_field("device_ip", alert.address);
    write_labels(json, alert.labels);
    json.key("groups").array();
    for (const std::string& group : alert.groups) json.value(group);
    json.end_array();
    json.field("severity", to_string(alert.severity)).text_field("category", alert.category);
    json.field("title", alert.title).text_field("message", alert.message);
    json.field("status", to_string(alert.state));
    json.text_field("suppressed_by", to_string(alert.suppressed_by));
    json.text_field("incident", alert.incident).text_field("previous", alert.previous);
    json.field("occurrence_count", alert.occurrences);
    json.field("first_seen", alert.first_seen).field("last_seen", alert.last_seen);
    json.time_field("active_since", alert.active_since);
    if (alert.acknowledged) write_acknowledgement(json, *alert.acknowledged);
    json.time_field("resolved_at", alert.resolved_at);
    json.text_field("resolved_by", to_string(alert.resolved_by));
    json.text_field("resolved_who", alert.resolved_who);
    json.field("flapping", alert.flapping).field("stale", alert.stale);
    json.field("version", alert.version);
}

void write_incident_fields(JsonWriter& json, const model::Incident& incident) {
    json.field("id", incident.id).field("number", incident.number);
    json.field("cause", to_string(incident.cause)).text_field("root", incident.root);
    json.text_field("device_name", incident.device).field("title", incident.title);
    json.field("severity", to_string(incident.severity));
    json.field("status", incident.resolved_at == base::WallTime{} ? "open" : "resolved");
    json.field("opened_at", incident.opened_at).time_field("resolved_at", incident.resolved_at);
    json.field("affected", incident.affected).key("notes").array();
    for (const model::IncidentNote& note : incident.notes) {
        json.object().field("at", note.at).field("by", note.by).field("text", note.text);
        json.field("public", note.shown).end_object();
    }
    json.end_array().field("version", incident.version);
}

void write_alert(JsonWriter& json, const model::Alert& alert, bool provisional) {
    json.object();
    write_alert_fields(json, alert);
    json.field("provisional", provisional).end_object();
}

std::string alert_page(const model::Alert& alert, const AlertStory& story) {
    std::string text;
    JsonWriter json(text);
    json.object();
    write_alert_fields(json, alert);
    json.field("provisional", story.provisional.contains(alert.id));
    json.key("evidence").object().text_field("rule", alert.rule).key("fields").object();
    for (const auto& [name, value] : alert.fields) json.field(name, value);
    json.end_object().end_object();
    if (story.standing) {
        json.field("flap_percent", shown(story.standing->flap_percent));
        json.key("silenced_by").array();
        for (const std::string& id : story.standing->silenced_by) json.value(id);
        json.end_array();
    }
    if (story.incident) {
        json.key("incident_summary");
        write_incident(json, *story.incident, story.provisional.contains(story.incident->id));
    }
    write_story(json, story.timeline, story.notifications);
    json.end_object();
    return text;
}

void write_incident(JsonWriter& json, const model::Incident& incident, bool provisional) {
    json.object();
    write_incident_fields(json, incident);
    json.field("provisional", provisional).end_object();
}

std::string incident_page(const model::Incident& incident, const IncidentStory& story) {
    std::string text;
    JsonWriter json(text);
    json.object();
    write_incident_fields(json, incident);
    json.field("provisional", story.provisional.contains(incident.id));
    const auto root = std::ranges::find(story.alerts, incident.root, &model::Alert::id);
    if (root != story.alerts.end()) {
        json.key("root_alert");
        write_alert(json, *root, story.provisional.contains(root->id));
    }
    json.key("affected_alerts").array();
    for (const model::Alert& alert : story.alerts) {
        if (alert.id == incident.root) continue;
        write_alert(json, alert, story.provisional.contains(alert.id));
    }
    json.end_array().field("more_alerts", story.more);
    write_story(json, story.timeline, story.notifications);
    json.end_object();
    return text;
}

void write_alert_event(JsonWriter& json, const model::AlertEvent& event) {
    json.object().field("number", event.number).field("at", event.at);
    json.field("kind", to_string(event.kind)).text_field("alert", event.alert);
    json.text_field("incident", event.incident);
    if (!event.alert.empty()) {
        json.field("from", to_string(event.from)).field("to", to_string(event.to));
    }
    json.field("severity", to_string(event.severity)).text_field("cause", event.cause);
    json.text_field("by", event.by).end_object();
}

void write_notification(JsonWriter& json, const model::Notification& notification, bool body) {
    json.object().field("id", notification.id).field("number", notification.number);
    json.text_field("incident", notification.incident).field("receiver", notification.receiver);
    json.field("channel", notification.channel).text_field("route", notification.route);
    json.field("kind", to_string(notification.kind)).field("made", notification.made);
    json.time_field("not_before", notification.not_before);
    json.field("state", to_string(notification.state)).field("attempts", notification.attempts);
    json.time_field("last_attempt", notification.last_attempt);
    json.text_field("last_error", notification.last_error);
    json.field("provisional", notification.provisional);
    if (body && !notification.body.empty()) json.raw_field("body", notification.body);
    json.end_object();
}

void write_channel(JsonWriter& json, const store::ChannelHealth& channel) {
    json.object().field("receiver", channel.receiver).field("channel", channel.channel);
    json.time_field("worked_at", channel.worked_at).time_field("failed_at", channel.failed_at);
    json.text_field("last_error", channel.last_error);
    // A channel that failed after it worked is the one to look at.
    json.field("works",
               channel.worked_at != base::WallTime{} && channel.worked_at >= channel.failed_at);
    json.end_object();
}

void write_sentinel(JsonWriter& json, const model::SentinelStatus& status) {
    json.object();
    if (status.sends) {
        json.key("heartbeat").object().time_field("worked_at", status.last_sent);
        json.text_field("last_error", status.last_send_error).field("sent", status.sent);
        json.field("failed", status.failed).field("skipped", status.skipped);
        const bool works = status.last_sent != base::WallTime{} && status.last_send_error.empty();
        json.field("works", works && !status.last_skipped).end_object();
    }
    if (status.watches) {
        json.key("watch").object().time_field("seen_at", status.peer_seen);
        json.text_field("last_error", status.peer_error);
        json.field("lost", status.peer_lost).end_object();
    }
    json.end_object();
}

std::string alert_stats_page(const std::vector<store::AlertCount>& counts, bool partial,
                             bool review) {
    std::uint64_t active = 0;
    std::uint64_t open = 0;
    std::map<std::string, std::uint64_t, std::less<>> severities;
    std::map<std::string, std::uint64_t, std::less<>> states;
    std::map<std::string, std::uint64_t, std::less<>> addons;
    for (const store::AlertCount& one : counts) {
        states[std::string(to_string(one.state))] += one.count;
        if (one.state == model::AlertState::kActive) active += one.count;
        if (one.state == model::AlertState::kResolved) continue;
        open += one.count;
        severities[std::string(to_string(one.severity))] += one.count;
        addons[one.addon] += one.count;
    }
    std::string text;
    JsonWriter json(text);
    json.object().field("total_active", active).field("total_open", open);
    write_counts(json, "by_severity", severities);
    write_counts(json, "by_status", states);
    write_counts(json, "by_addon", addons);
    json.field("partial", partial).field("review", review).end_object();
    return text;
}

}  // namespace pollux::api
