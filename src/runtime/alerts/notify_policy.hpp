// Who is told, and by which rules: receivers, routes, silences and the settings of alerts, as they
// were at one moment. Immutable; made by the server after each change of the fleet or the settings.
#pragma once

#include <vector>

#include "alert/alert_settings.hpp"
#include "alert/notification_planner.hpp"
#include "alert/self_monitor.hpp"
#include "base/time.hpp"
#include "model/notification.hpp"

namespace pollux::runtime {

struct NotifyPolicy {
    std::vector<model::Receiver> receivers;  // by name
    std::vector<model::NotifyRoute> routes;
    std::vector<model::Silence> silences;
    alert::AlertSettings engine;
    alert::PlannerSettings planner;
    base::Duration retention = std::chrono::hours(24 * 90);
};

}  // namespace pollux::runtime
