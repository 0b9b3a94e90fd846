// Alerts and what belongs to them, for the store that forgets with its owner.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "store/alert_rules.hpp"

namespace pollux::store {

// Rows by number, found by id too. No two rows have one number.
template <class Row>
class NumberedRows {
  public:
    // No other row may have the number.
    void write(const Row& row) {
        remove(row.id);
        by_number_[row.number] = row;
        numbers_[row.id] = row.number;
    }
    void remove(const std::string& id) {
        const auto found = numbers_.find(id);
        if (found == numbers_.end()) return;
        by_number_.erase(found->second);
        numbers_.erase(found);
    }
    const Row* find(std::string_view id) const {
        const auto found = numbers_.find(id);
        return found == numbers_.end() ? nullptr : &by_number_.at(found->second);
    }
    const std::map<std::uint64_t, Row>& all() const { return by_number_; }

  private:
    std::map<std::uint64_t, Row> by_number_;
    std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

struct MemoryAlerts {
    NumberedRows<model::Alert> alerts;
    NumberedRows<model::Incident> incidents;
    NumberedRows<model::Notification> notifications;
    std::map<std::uint64_t, model::AlertEvent> events;
    std::map<std::pair<std::string, std::string>, ChannelHealth> channels;  // receiver, channel
    std::map<std::string, std::string, std::less<>> memory;
    AlertCursors cursors;
    AlertNumbers numbers;
};

// All or nothing.
base::Result<AlertCommit> apply(MemoryAlerts& content, const AlertBatch& batch);

void load(const MemoryAlerts& content, const LoadVisitor& visitor);

// Both are guarded by the mutex and outlive it.
class MemoryAlertReader final : public AlertReader {
  public:
    MemoryAlertReader(std::mutex& mutex, const MemoryAlerts& content)
        : mutex_(mutex), content_(content) {}

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
    const MemoryAlerts& content_;
};

}  // namespace pollux::store
