// Alerts, silences and the state of the server as Alertmanager's API v2 shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_labels.hpp"
#include "alert/silence_book.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/notification.hpp"

namespace pollux::api {

// An open alert, with what is known about it at this moment.
struct ShownAlert {
    model::Alert alert;
    alert::MatchLabels labels;
    std::vector<std::string> silenced_by;  // ids of silences
    std::vector<std::string> receivers;    // who is told

    bool silenced() const { return !silenced_by.empty(); }
    bool inhibited() const { return alert.state == model::AlertState::kSuppressed; }
    bool unprocessed() const { return alert.state == model::AlertState::kPending; }
};

struct AlertmanagerTimes {
    base::WallTime now;
    std::string external_url;  // without a slash at its end; empty: none
};

std::string v2_alerts_page(const std::vector<ShownAlert>& alerts, const AlertmanagerTimes& times);

// One group for each receiver and combination of the labels `group_by`.
std::string v2_groups_page(const std::vector<ShownAlert>& alerts,
                           const std::vector<std::string>& group_by,
                           const AlertmanagerTimes& times);

struct ShownSilence {
    model::Silence silence;
    alert::SilenceState state = alert::SilenceState::kPending;
    base::WallTime changed_at;
};
std::string v2_silence_page(const ShownSilence& silence);
std::string v2_silences_page(const std::vector<ShownSilence>& silences);

std::string v2_status_page(std::string_view version, base::WallTime started_at);
std::string v2_receivers_page(const std::vector<std::string>& names);

}  // namespace pollux::api
