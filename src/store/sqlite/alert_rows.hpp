// The tables of alerts in state.db, row by row: how each kind is written and read back.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "store/alert_types.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

// A number that another row has is a conflict.
base::Status write_alerts(Database& database, const std::vector<model::Alert>& rows);
base::Status write_incidents(Database& database, const std::vector<model::Incident>& rows);
base::Status write_notifications(Database& database, const std::vector<model::Notification>& rows);
base::Status write_events(Database& database, const std::vector<model::AlertEvent>& rows);
// What the attempts of these tell about their channels.
base::Status note_channels(Database& database, const std::vector<model::Notification>& rows);

// What to select for the functions below, in their order.
inline constexpr std::string_view kAlertColumns = "number, id, record";
inline constexpr std::string_view kIncidentColumns = "number, id, record";
inline constexpr std::string_view kNotificationColumns =
    "number, id, incident, receiver, channel, route, kind, made, not_before, body, provisional, "
    "state, attempts, last_attempt, last_error";
inline constexpr std::string_view kEventColumns =
    "number, at, kind, alert, incident, from_state, to_state, severity, cause, by";

// An error names the row and what is wrong with its record.
base::Result<model::Alert> read_alert(const Statement& row);
base::Result<model::Incident> read_incident(const Statement& row);
base::Result<model::Notification> read_notification(const Statement& row);
base::Result<model::AlertEvent> read_event(const Statement& row);

}  // namespace pollux::store
