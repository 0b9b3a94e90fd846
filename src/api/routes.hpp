// The tables of routes, by what they are about. Each adds its rows; handlers run on the API's
// thread and keep a copy of the link.
#pragma once

#include <memory>
#include <vector>

#include "api/route.hpp"
#include "api/server_link.hpp"
#include "base/text.hpp"

namespace pollux::api {

class EventCollector;
class EventHub;
class StaticFiles;
class Accounts;

void add_monitoring_routes(std::vector<Route>& routes, const ServerLink& link);
void add_scheduler_routes(std::vector<Route>& routes, const ServerLink& link);
// The hub and the collector outlive the routes.
void add_event_routes(std::vector<Route>& routes, EventHub& hub, EventCollector& collector);
void add_failure_routes(std::vector<Route>& routes, const ServerLink& link);
void add_fleet_routes(std::vector<Route>& routes, const ServerLink& link);
// All targets at once: the table and the overview. The hub outlives the routes.
void add_fleet_snapshot_routes(std::vector<Route>& routes, const ServerLink& link, EventHub& hub);
// What went on: runs of a target, the scheduler over time, who takes the time.
void add_insight_routes(std::vector<Route>& routes, const ServerLink& link);
// What would be: policies compared, settings tried out.
void add_outlook_routes(std::vector<Route>& routes, const ServerLink& link);
void add_target_routes(std::vector<Route>& routes, const ServerLink& link);
void add_target_bulk_routes(std::vector<Route>& routes, const ServerLink& link);
void add_addon_routes(std::vector<Route>& routes, const ServerLink& link);
// Of these: what changes addons; the head of a row; the addon as it is now.
void add_addon_edit_routes(std::vector<Route>& routes, const ServerLink& link);
Route addon_route(std::string_view method, std::string_view path, std::string_view operation,
                  std::string_view summary);
void answer_with_addon(const ServerLink& link, const std::string& name, int status, Call call);
// The heads that rows of one kind share.
Route target_route(std::string_view method, std::string_view path, std::string_view operation,
                   std::string_view summary);
Route system_route(std::string_view path, std::string_view operation, std::string_view summary);
void add_history_routes(std::vector<Route>& routes, const ServerLink& link);
void add_job_routes(std::vector<Route>& routes, const ServerLink& link);
void add_alert_routes(std::vector<Route>& routes, const ServerLink& link);
// Alertmanager's API v2.
void add_alertmanager_routes(std::vector<Route>& routes, const ServerLink& link);
void add_notification_routes(std::vector<Route>& routes, const ServerLink& link);
void add_settings_routes(std::vector<Route>& routes, const ServerLink& link);
void add_audit_routes(std::vector<Route>& routes, const ServerLink& link);
void add_worker_routes(std::vector<Route>& routes, const ServerLink& link);
void add_system_routes(std::vector<Route>& routes, const ServerLink& link);
// For everybody; the accounts outlive the routes.
void add_status_routes(std::vector<Route>& routes, const ServerLink& link,
                       const Accounts& accounts);
// The dashboard. No operations: added behind the description of the API.
void add_static_routes(std::vector<Route>& routes, std::shared_ptr<const StaticFiles> files);

}  // namespace pollux::api
