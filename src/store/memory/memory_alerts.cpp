#include "store/memory/memory_alerts.hpp"

#include <ranges>
#include <set>
#include <tuple>

namespace pollux::store {

namespace {

bool over(const model::Alert& alert) { return !model::is_open(alert); }
bool over(const model::Incident& incident) { return incident.resolved_at != base::WallTime{}; }
bool over(const model::Notification& one) { return one.state != model::DeliveryState::kWaiting; }

// What an event goes with: its alert, or its incident if it is of that as a whole.
const std::string& owner_of(const model::AlertEvent& event) {
    return event.alert.empty() ? event.incident : event.alert;
}

using Ids = std::set<std::string, std::less<>>;

void remove_events(MemoryAlerts& content, const Ids& owners) {
    if (owners.empty()) return;
    std::erase_if(content.events,
                  [&](const auto& entry) { return owners.contains(owner_of(entry.second)); });
}

// Before anything is changed: a number that a row outside of `removed` has.
template <class Row>
base::Status check_numbers(const NumberedRows<Row>& rows, const std::vector<Row>& written,
                           const std::vector<std::string>& removed, std::string_view kind) {
    const Ids gone(removed.begin(), removed.end());
    std::map<std::uint64_t, std::string_view> taken;
    for (const Row& row : written) {
        const auto stored = rows.all().find(row.number);
        const bool free = stored == rows.all().end() || stored->second.id == row.id ||
                          gone.contains(stored->second.id);
        const auto [holder, fresh] = taken.emplace(row.number, row.id);
        if (!free || (!fresh && holder->second != row.id)) {
            return std::unexpected(number_conflict(kind, row.id, row.number));
        }
    }
    return {};
}

// The ids of rows that are over since before that time, the longest first. Each counts with its
// events; those that do not fit into what is left of the step stay, unless it would begin with one.
template <class Row, class Time, class Free>
Ids expired(const MemoryAlerts& content, const NumberedRows<Row>& rows, base::WallTime before,
            std::uint64_t& left, Time time, Free free) {
    std::multimap<base::WallTime, std::string_view> old;
    for (const Row& row : rows.all() | std::views::values) {
        if (over(row) && time(row) < before && free(row)) old.emplace(time(row), row.id);
    }
    std::map<std::string_view, std::uint64_t> events;
    for (const auto& event : content.events | std::views::values) ++events[owner_of(event)];
    Ids ids;
    for (const auto& [at, id] : old) {
        const std::uint64_t taken = 1 + events[id];
        if (taken > left && left < kMostAlertRemovals) break;
        ids.emplace(id);
        left -= std::min(left, taken);
    }
    return ids;
}

std::uint64_t trim(MemoryAlerts& content, const AlertRetention& retention) {
    std::uint64_t left = kMostAlertRemovals;
    const auto resolved_at = [](const auto& one) { return one.resolved_at; };
    const Ids alerts = expired(content, content.alerts, retention.before, left, resolved_at,
                               [&](const model::Alert& alert) {
                                   const auto* in = content.incidents.find(alert.incident);
                                   return in == nullptr || over(*in);
                               });
    for (const auto& id : alerts) content.alerts.remove(id);
    remove_events(content, alerts);
    std::set<std::string_view> used;
    for (const auto& alert : content.alerts.all() | std::views::values) used.insert(alert.incident);
    const Ids incidents =
        expired(content, content.incidents, retention.before, left, resolved_at,
                [&](const model::Incident& one) { return !used.contains(one.id); });
    for (const auto& id : incidents) content.incidents.remove(id);
    remove_events(content, incidents);
    const Ids notifications = expired(content, content.notifications, retention.before, left,
                                      over_at, [](const auto&) { return true; });
    for (const auto& id : notifications) content.notifications.remove(id);
    return kMostAlertRemovals - left;
}

template <class Row, class Query>
Page<Row> page_of(const std::map<std::uint64_t, Row>& rows, const Query& query) {
    PageFiller<Row> page(query.limit);
    const auto first = rows.upper_bound(query.after);
    const auto end = query.before <= query.after ? first : rows.lower_bound(query.before);
    const auto offer = [&](const Row& row) {
        return !is_searched(query, row) || page.offer(query, row);
    };
    if (query.oldest_first) {
        for (auto it = first; it != end && offer(it->second); ++it) {
        }
    } else {
        for (auto it = end; it != first && offer(std::prev(it)->second); --it) {
        }
    }
    return page.take();
}

template <class Row>
std::optional<Row> copy_of(const Row* found) {
    return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace

base::Result<AlertCommit> apply(MemoryAlerts& content, const AlertBatch& batch) {
    if (auto status = check(batch); !status) return std::unexpected(std::move(status.error()));
    for (const auto& fits :
         {check_numbers(content.alerts, batch.alerts, batch.removed_alerts, "alert"),
          check_numbers(content.incidents, batch.incidents, batch.removed_incidents, "incident"),
          check_numbers(content.notifications, batch.notifications, batch.removed_notifications,
                        "notification")}) {
        if (!fits) return std::unexpected(fits.error());
    }
    remove_events(content, Ids(batch.removed_alerts.begin(), batch.removed_alerts.end()));
    remove_events(content, Ids(batch.removed_incidents.begin(), batch.removed_incidents.end()));
    for (const auto& id : batch.removed_alerts) content.alerts.remove(id);
    for (const auto& id : batch.removed_incidents) content.incidents.remove(id);
    for (const auto& id : batch.removed_notifications) content.notifications.remove(id);
    for (const auto& key : batch.removed_memory) content.memory.erase(key);
    for (const auto& row : batch.alerts) content.alerts.write(row);
    for (const auto& row : batch.incidents) content.incidents.write(row);
    for (const auto& row : batch.notifications) content.notifications.write(row);
    for (const auto& event : batch.events) content.events[event.number] = event;
    for (const auto& one : batch.notifications) {
        ChannelHealth health{one.receiver, one.channel, {}, {}, {}};
        auto& channels = content.channels;
        const auto known = channels.find({one.receiver, one.channel});
        if (known != channels.end()) health = known->second;
        if (note(health, one)) channels[{one.receiver, one.channel}] = std::move(health);
    }
    for (const auto& row : batch.memory) content.memory[row.key] = row.bytes;
    for (const auto& [name, value] : batch.cursors) content.cursors[name] = value;
    raise(content.numbers, batch);
    AlertCommit result;
    if (batch.retention) result.removed = trim(content, *batch.retention);
    return result;
}

void load(const MemoryAlerts& content, const LoadVisitor& visitor) {
    const auto open = [](const auto& rows, const auto& take) {
        if (!take) return;
        for (auto row : rows.all() | std::views::values) {
            if (!over(row)) take(std::move(row));
        }
    };
    open(content.alerts, visitor.alert);
    open(content.incidents, visitor.incident);
    open(content.notifications, visitor.notification);
    for (const auto& [key, bytes] : content.memory) {
        if (visitor.alert_memory) visitor.alert_memory({key, bytes});
    }
    for (const auto& [name, value] : content.cursors) {
        if (visitor.alert_cursor) visitor.alert_cursor(name, value);
    }
}

base::Result<Page<model::Alert>> MemoryAlertReader::alerts(const AlertQuery& query) {
    const std::scoped_lock lock(mutex_);
    return page_of(content_.alerts.all(), query);
}

base::Result<std::optional<model::Alert>> MemoryAlertReader::alert(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    return copy_of(content_.alerts.find(id));
}

base::Result<std::vector<AlertCount>> MemoryAlertReader::alert_counts() {
    const std::scoped_lock lock(mutex_);
    std::map<std::tuple<model::AlertState, model::Severity, std::string>, std::uint64_t> counts;
    for (const auto& alert : content_.alerts.all() | std::views::values) {
        ++counts[{alert.state, alert.severity, alert.addon}];
    }
    std::vector<AlertCount> all;
    for (const auto& [what, count] : counts) {
        const auto& [state, severity, addon] = what;
        all.push_back({state, severity, addon, count});
    }
    return all;
}

base::Result<Page<model::Incident>> MemoryAlertReader::incidents(const IncidentQuery& query) {
    const std::scoped_lock lock(mutex_);
    return page_of(content_.incidents.all(), query);
}

base::Result<std::optional<model::Incident>> MemoryAlertReader::incident(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    return copy_of(content_.incidents.find(id));
}

base::Result<Page<model::AlertEvent>> MemoryAlertReader::events(const AlertEventQuery& query) {
    const std::scoped_lock lock(mutex_);
    return page_of(content_.events, query);
}

base::Result<Page<model::Notification>> MemoryAlertReader::notifications(
    const NotificationQuery& query) {
    const std::scoped_lock lock(mutex_);
    return page_of(content_.notifications.all(), query);
}

base::Result<std::optional<model::Notification>> MemoryAlertReader::notification(
    std::string_view id) {
    const std::scoped_lock lock(mutex_);
    return copy_of(content_.notifications.find(id));
}

base::Result<std::vector<ChannelHealth>> MemoryAlertReader::channels() {
    const std::scoped_lock lock(mutex_);
    std::vector<ChannelHealth> all;
    for (const ChannelHealth& one : content_.channels | std::views::values) {
        if (all.size() < kMostChannelsTold) all.push_back(one);
    }
    return all;
}

}  // namespace pollux::store
