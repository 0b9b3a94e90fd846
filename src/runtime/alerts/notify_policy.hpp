// Who is told, and by which rules: receivers, routes, silences and the settings of alerts, as they
// were at one moment. Immutable; made by the server after each change of the fleet or the settings.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "alert/alert_settings.hpp"
#include "alert/notification_planner.hpp"
#include "alert/self_monitor.hpp"
#include "base/time.hpp"
#include "model/credentials.hpp"
#include "model/notification.hpp"

namespace pollux::runtime {

struct NotifyPolicy {
    std::vector<model::Receiver> receivers;  // by name
    std::vector<model::NotifyRoute> routes;
    std::vector<model::Silence> silences;
    alert::AlertSettings engine;
    alert::PlannerSettings planner;
    alert::SelfLimits self;
    base::Duration retention = std::chrono::hours(24 * 90);
    // What channels name, resolved.
    std::map<std::string, std::shared_ptr<const model::Credentials>, std::less<>> credentials;
    std::string mail_from;       // for channels that name none; empty: none
    std::string sentinel_url;    // where signs of life go; empty: nowhere
    std::string sentinel_watch;  // the other Pollux; empty: none
    base::Duration sentinel_interval = std::chrono::seconds(30);
};

}  // namespace pollux::runtime
