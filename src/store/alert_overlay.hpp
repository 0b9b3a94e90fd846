// Alerts as they are now, also those that could not be written yet: committed rows under those that
// wait for the disk. For questions of people while the store fails; otherwise it is the reader
// underneath.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/alert_types.hpp"

namespace pollux::store {

// Rows that wait for the disk; each takes the place of the committed one of its id.
struct UncommittedAlerts {
    std::map<std::string, model::Alert, std::less<>> alerts;
    std::map<std::string, model::Incident, std::less<>> incidents;
    std::set<std::string, std::less<>> removed_alerts;
    std::set<std::string, std::less<>> removed_incidents;
    std::vector<model::AlertEvent> events;  // after all that are committed
};

class OverlaidAlerts final : public AlertReader {
  public:
    // `over` null: everything is committed. `under` outlives it.
    OverlaidAlerts(AlertReader& under, std::shared_ptr<const UncommittedAlerts> over)
        : under_(under), over_(std::move(over)) {}

    // Not committed yet.
    bool is_provisional(const model::Alert& alert) const {
        return over_ != nullptr && over_->alerts.contains(alert.id);
    }
    bool is_provisional(const model::Incident& incident) const {
        return over_ != nullptr && over_->incidents.contains(incident.id);
    }

    base::Result<Page<model::Alert>> alerts(const AlertQuery& query) override;
    base::Result<std::optional<model::Alert>> alert(std::string_view id) override;
    base::Result<std::vector<AlertCount>> alert_counts() override;
    base::Result<Page<model::Incident>> incidents(const IncidentQuery& query) override;
    base::Result<std::optional<model::Incident>> incident(std::string_view id) override;
    // New steps stand at the end of a timeline that is read from its beginning.
    base::Result<Page<model::AlertEvent>> events(const AlertEventQuery& query) override;
    // As they are committed.
    base::Result<Page<model::Notification>> notifications(const NotificationQuery& query) override {
        return under_.notifications(query);
    }
    base::Result<std::optional<model::Notification>> notification(std::string_view id) override {
        return under_.notification(id);
    }
    base::Result<std::vector<ChannelHealth>> channels() override { return under_.channels(); }

  private:
    AlertReader& under_;
    std::shared_ptr<const UncommittedAlerts> over_;
};

}  // namespace pollux::store
