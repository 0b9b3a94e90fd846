// Who is told, and by which rules: receivers, routes, silences and the settings of alerts, as they
// were at one moment. Immutable; made by the server after each change of the fleet or the settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "alert/alert_settings.hpp"
#include "base/time.hpp"
#include "model/notification.hpp"

namespace pollux::runtime {

struct NotifyPolicy {
    std::vector<model::Receiver> receivers;  // by name
    std::vector<model::NotifyRoute> routes;  // in their order
    std::vector<model::Silence> silences;
    alert::AlertSettings settings;
    bool review = false;       // nothing is sent yet: notifications are recorded as held
    std::string external_url;  // of the pages that messages point to; empty: none
    base::Duration retention = std::chrono::hours(24 * 90);
};

}  // namespace pollux::runtime
