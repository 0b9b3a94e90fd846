// Questions about alerts, answered from state.db.
//
// The text of a question names only columns that have an index; everything else is looked at row
// by row, a bounded number of them (PageFiller). So no question walks a whole table.
#pragma once

#include <memory>
#include <mutex>

#include "store/alert_types.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

class SqliteAlertReader final : public AlertReader {
  public:
    // Both outlive it; the connection is guarded by the mutex and empty after the close.
    SqliteAlertReader(std::mutex& mutex, const std::unique_ptr<Database>& database)
        : mutex_(mutex), database_(database) {}

    base::Result<Page<model::Alert>> alerts(const AlertQuery& query) override;
    base::Result<std::optional<model::Alert>> alert(std::string_view id) override;
    base::Result<std::vector<AlertCount>> alert_counts() override;
    base::Result<Page<model::Incident>> incidents(const IncidentQuery& query) override;
    base::Result<std::optional<model::Incident>> incident(std::string_view id) override;
    base::Result<Page<model::AlertEvent>> events(const AlertEventQuery& query) override;
    base::Result<Page<model::Notification>> notifications(const NotificationQuery& query) override;
    base::Result<std::optional<model::Notification>> notification(std::string_view id) override;
    base::Result<std::vector<ChannelHealth>> channels() override;

  private:
    std::mutex& mutex_;
    const std::unique_ptr<Database>& database_;
};

}  // namespace pollux::store
