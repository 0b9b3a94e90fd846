// Alerts, incidents, their timeline and what people were told of them, as JSON. Names that
// OpsConductor has for alerts (alert_type, device_name, device_ip, status, occurrence_count) are
// kept; docs/alerts-api.md lists all fields.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/paging.hpp"
#include "document/json_writer.hpp"
#include "model/alert.hpp"
#include "model/alert_event.hpp"
#include "model/notification.hpp"
#include "runtime/alerts/alert_desk.hpp"
#include "store/alert_types.hpp"

namespace pollux::api {

// The fields of an alert, into an object that is open.
void write_alert_fields(document::JsonWriter& json, const model::Alert& alert);
void write_incident_fields(document::JsonWriter& json, const model::Incident& incident);

// One alert as lists have it. `provisional`: it could not be stored yet.
void write_alert(document::JsonWriter& json, const model::Alert& alert, bool provisional = false);

// What belongs to one alert, beside itself.
struct AlertStory {
    std::optional<model::Incident> incident;
    std::vector<model::AlertEvent> timeline;         // oldest first
    std::vector<model::Notification> notifications;  // of its incident, newest first
    std::optional<runtime::AlertStanding> standing;  // nothing: nobody could say
    std::set<std::string, std::less<>> provisional;  // ids of what could not be stored yet
};
// The same with evidence, timeline, incident and notifications.
std::string alert_page(const model::Alert& alert, const AlertStory& story);

void write_incident(document::JsonWriter& json, const model::Incident& incident,
                    bool provisional = false);

// An incident as a tree: the root, and what it explains.
struct IncidentStory {
    std::vector<model::Alert> alerts;  // those that the one who asks may see, oldest first
    bool more = false;                 // there are more alerts than the list has
    std::vector<model::AlertEvent> timeline;
    std::vector<model::Notification> notifications;
    std::set<std::string, std::less<>> provisional;  // ids of what could not be stored yet
};
std::string incident_page(const model::Incident& incident, const IncidentStory& story);

void write_alert_event(document::JsonWriter& json, const model::AlertEvent& event);

// `body`: also what it says.
void write_notification(document::JsonWriter& json, const model::Notification& notification,
                        bool body = false);

void write_sentinel(document::JsonWriter& json, const model::SentinelStatus& status);
void write_channel(document::JsonWriter& json, const store::ChannelHealth& channel);

// A page of rows with its `next`.
template <class Row, class Write>
std::string rows_page(const Page& page, const store::Page<Row>& found, const Write& write) {
    std::string body;
    document::JsonWriter json(body);
    json.object().key("items").array();
    for (const Row& row : found.rows) write(json, row);
    json.end_array();
    page.write_next(json, found.next != 0, std::to_string(found.next));
    json.end_object();
    return body;
}

// total_active, total_open, by_severity and by_addon of what is open, by_status of everything.
// `partial`: there were more alerts than were counted. `review`: nobody is told yet.
std::string alert_stats_page(const std::vector<store::AlertCount>& counts, bool partial,
                             bool review);

}  // namespace pollux::api
