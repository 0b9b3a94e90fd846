// Alerts, incidents, their timeline and the notifications about them, as they are kept: what the
// alert engine and the planner of notifications decided in one step is one batch.
//
// Exactly once: a batch carries the cursors of the logs that it was made of (changes, messages of
// devices). After a crash the engine goes on behind them, so nothing is taken in twice or left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/alert_event.hpp"
#include "model/audit.hpp"
#include "model/notification.hpp"
#include "store/store_types.hpp"

namespace pollux::store {

// Removes what is over, the oldest first and a bounded number at a time: ask again while the
// answer says that something went. Never what is open, nor a notification that waits; an incident
// goes after its last alert, events go with what they are about.
struct AlertRetention {
    base::WallTime before;  // what was resolved, delivered or given up earlier than that
};

// Applied whole or not at all, in the order of the fields; a whole row replaces the one of its id.
// May be submitted again after a failure. That one fingerprint has one open alert is the rule of
// the engine, not of the store.
struct AlertBatch {
    std::vector<std::string> removed_alerts;     // ids; their events go too
    std::vector<std::string> removed_incidents;  // ids; events of them as a whole go too
    std::vector<std::string> removed_notifications;
    std::vector<std::string> removed_memory;
    std::vector<model::Alert> alerts;
    std::vector<model::Incident> incidents;
    std::vector<model::AlertEvent> events;
    std::vector<model::Notification> notifications;
    // Of the engine and the planner, opaque here; apart from the learned memory of targets.
    std::vector<MemoryRow> memory;
    AlertCursors cursors;                       // those that are not named stay
    std::vector<model::AuditEntry> audit = {};  // of the act; in the same transaction
    std::optional<AlertRetention> retention = {};
};

struct AlertCommit {
    std::uint64_t removed = 0;  // rows that retention took
};

inline constexpr std::size_t kMostAlertsPerQuery = 1000;
inline constexpr std::size_t kMostAlertsScanned = 20'000;  // rows looked at for one page
inline constexpr std::size_t kMostChannelsTold = 10'000;
inline constexpr std::uint64_t kMostAlertRemovals = 2000;  // rows that one retention step takes

// A page is ordered by number, which rises with the time of making. `next` is the number to go on
// from (as `before`, or as `after` with oldest_first); 0: there is no more. A page may be short
// or even empty and still have a next one: the search stops after kMostAlertsScanned rows.
template <class Row>
struct Page {
    std::vector<Row> rows;
    std::uint64_t next = 0;
};

// Everything that is set must hold. Numbers are between `after` and `before`, without them.
struct AlertQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    bool oldest_first = false;
    std::vector<model::AlertState> states = {};    // any of them; empty: all
    std::vector<model::Severity> severities = {};  // any of them; empty: all
    std::vector<model::AlertSource> sources = {};  // any of them; empty: all
    std::optional<std::string> addon = {};
    std::optional<std::string> type = {};
    std::optional<std::string> device = {};
    std::optional<std::string> target = {};    // key
    std::optional<std::string> incident = {};  // id
    std::optional<std::string> fingerprint = {};
    std::optional<std::string> group = {};  // one of the groups of the device
    model::AlertLabels labels = {};         // all of them, with these values
    // Somewhere in title, message, device, target, address, type, subject, group or value of a
    // label; the case of ASCII letters does not count.
    std::string text = {};
    // Was open at some time in [from, until).
    std::optional<base::WallTime> from = {};
    std::optional<base::WallTime> until = {};
    // What the one who asks may see; empty: everything. Called under a lock: only looks.
    std::function<bool(const model::Alert& alert)> visible = {};
    std::size_t limit = 100;  // at most kMostAlertsPerQuery
};

struct IncidentQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    bool oldest_first = false;
    std::optional<bool> open = {};
    std::vector<model::Severity> severities = {};  // any of them; empty: all
    std::optional<std::string> device = {};        // of the root
    std::string text = {};                         // in title or device
    // As in AlertQuery. What was over before `from` is not searched: an index leaves it out.
    std::optional<base::WallTime> from = {};
    std::optional<base::WallTime> until = {};
    std::function<bool(const model::Incident& incident)> visible = {};
    std::size_t limit = 100;  // at most kMostAlertsPerQuery
};

// The timeline of one alert, or of what names an incident; of all if neither is set.
struct AlertEventQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    bool oldest_first = false;
    std::optional<std::string> alert = {};     // id
    std::optional<std::string> incident = {};  // id
    std::size_t limit = 100;                   // at most kMostAlertsPerQuery
};

// The log of deliveries.
struct NotificationQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    bool oldest_first = false;
    std::optional<std::string> incident = {};  // id
    std::optional<std::string> receiver = {};
    std::optional<std::string> channel = {};
    std::vector<model::DeliveryState> states = {};  // any of them; empty: all
    std::size_t limit = 100;                        // at most kMostAlertsPerQuery
};

struct AlertCount {
    model::AlertState state = model::AlertState::kPending;
    model::Severity severity = model::Severity::kInfo;
    std::string addon;
    std::uint64_t count = 0;
    bool operator==(const AlertCount&) const = default;
};

// What is known of one channel of a receiver, from the notifications that were written.
struct ChannelHealth {
    std::string receiver;
    std::string channel;
    base::WallTime worked_at;  // last delivery; zero: never
    base::WallTime failed_at;  // last attempt that failed; zero: never
    std::string last_error;    // of that attempt; stays when it works again
    bool operator==(const ChannelHealth&) const = default;
};

// Questions of people. Committed rows only. From any thread, also while commits run; each call is
// one bounded read.
class AlertReader {
  public:
    virtual ~AlertReader() = default;
    AlertReader(const AlertReader&) = delete;
    AlertReader& operator=(const AlertReader&) = delete;

    virtual base::Result<Page<model::Alert>> alerts(const AlertQuery& query) = 0;
    virtual base::Result<std::optional<model::Alert>> alert(std::string_view id) = 0;
    // Of all that are kept, by state, severity, addon, in this order; none with 0.
    virtual base::Result<std::vector<AlertCount>> alert_counts() = 0;
    virtual base::Result<Page<model::Incident>> incidents(const IncidentQuery& query) = 0;
    virtual base::Result<std::optional<model::Incident>> incident(std::string_view id) = 0;
    virtual base::Result<Page<model::AlertEvent>> events(const AlertEventQuery& query) = 0;
    virtual base::Result<Page<model::Notification>> notifications(
        const NotificationQuery& query) = 0;
    virtual base::Result<std::optional<model::Notification>> notification(std::string_view id) = 0;
    // By receiver and channel, at most kMostChannelsTold.
    virtual base::Result<std::vector<ChannelHealth>> channels() = 0;

  protected:
    AlertReader() = default;
};

}  // namespace pollux::store
