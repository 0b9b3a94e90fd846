// The filters of lists of alerts, incidents and notifications, out of the parameters of a call; and
// whose they are to see. Filters have the names of the fields they look at.
#pragma once

#include <expected>
#include <vector>

#include "access/principal.hpp"
#include "api/call.hpp"
#include "api/paging.hpp"
#include "store/alert_types.hpp"

namespace pollux::api {

// The parameters that the functions below read.
std::vector<Parameter> alert_filters();
std::vector<Parameter> incident_filters();
std::vector<Parameter> notification_filters();

// With what the one who asks may see.
std::expected<store::AlertQuery, Problem> alert_query(const Call& call);
std::expected<store::IncidentQuery, Problem> incident_query(const Call& call);
std::expected<store::NotificationQuery, Problem> notification_query(const Call& call);

// Alerts are seen, and acted on, by their labels.
bool may_on_alert(const access::Principal& principal, access::Permission permission,
                  const model::Alert& alert);
// The same as a filter of a query; empty for who may see everything.
std::function<bool(const model::Alert&)> sight_of(const access::Principal& principal);

// The number that the cursor of a page holds; `standard` on the first page.
std::uint64_t number_after(const Page& page, std::uint64_t standard);

// Alerts that are not over.
const std::vector<model::AlertState>& open_states();

}  // namespace pollux::api
