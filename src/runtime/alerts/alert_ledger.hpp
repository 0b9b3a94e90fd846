// What the alert engine and the planner decided, on its way into the store and then to people: rows
// gather while a commit is under way, one batch at a time is written, and what it holds is told
// after it. Lives on one loop.
//
// Invariants
// 1. What was added is in exactly one of two places, gathered or under way, until it is committed;
//    a later row of the same id takes the place of an earlier one.
// 2. News and notifications are told once as committed, in the order in which they were added, and
//    at most once before that as provisional.
// 3. A notification is handed over once, provisional or not: the deliverer has it by its id.
// 4. While commits fail, memory is bounded: of what was told as provisional only the newest news of
//    each row and kind wait for the commit, and at most twice kMostNews in all; what is left out
//    is told as such (NewsLost). Of rows that were made since the last commit and are over already,
//    the kMostOver newest of each kind wait, at most twice that; older ones are given up, never
//    written, and counted. What the store has, or is not over, always waits: the engine bounds
//    that. Acts are refused while kMostEntries of the audit trail wait.
// 5. An act is answered once: after its commit, or with store.not_committed when that takes longer
//    than kProvisionalAfter; then it stays in force and is written as soon as the disk takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/audit.hpp"
#include "model/notification.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/alerts/alert_news.hpp"
#include "runtime/signal_news.hpp"
#include "store/alert_overlay.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

class AlertLedger {
  public:
    static constexpr std::size_t kMostEvents = 100'000;  // that wait; the oldest go first
    static constexpr std::size_t kMostNews = 20'000;     // that wait, likewise
    static constexpr std::size_t kMostEntries = 10'000;  // of the audit trail
    static constexpr std::size_t kMostOver = 10'000;     // rows that are over, of each kind
    static constexpr std::size_t kMostMemory = 500'000;  // rows of it; more: erasures are given up

    struct Outlets {
        AlertSink news;
        std::function<void(std::vector<model::Notification>)> deliver;
        // What people see and is not committed; null: nothing. May be empty.
        std::function<void(std::shared_ptr<const store::UncommittedAlerts>)> uncommitted = {};
    };
    using Answer = std::move_only_function<void(base::Status)>;

    AlertLedger(std::shared_ptr<net::EventLoop> loop, store::Store& store, observe::Log& log,
                Outlets outlets);
    ~AlertLedger();

    void add(alert::AlertChange change, base::WallTime at);
    void add(alert::IncidentChange change, base::WallTime at);
    void add(std::vector<model::AlertEvent> events);
    // `deliver`: hand it over after the commit; else only the row changes. `made`: just now.
    void add(model::Notification row, bool deliver, bool made = false);
    // Empty bytes: erase.
    void add_memory(std::string key, std::string bytes);
    void set_cursor(const std::string& name, std::uint64_t value);
    void add_act(std::optional<model::AuditEntry> entry, Answer answer);
    // Rows that are over and older than this go, some with each call.
    void trim(base::WallTime before);

    // Writes what has gathered, unless a commit is under way or the store is given a rest.
    void commit();

    bool idle() const { return !under_way_ && gathered_.empty(); }
    bool failing() const { return failing_since_.has_value(); }
    std::size_t waiting() const;
    // Rows that are never written, since the store began to fail.
    std::uint64_t given_up() const { return given_up_; }
    // No further act can be recorded before the disk takes what waits. Error store.queue_full.
    base::Status room_for_acts() const;

  private:
    struct Act {
        Answer answer;
        base::BootTime since;
    };
    // Rows by id. `fresh`: the store has never had them.
    template <class Row>
    struct Rows {
        std::map<std::string, Row, std::less<>> all;
        std::set<std::string, std::less<>> fresh;
        std::size_t bound = 2 * kMostOver;  // how many there may be before they are looked through

        bool empty() const { return all.empty(); }
        std::size_t size() const { return all.size(); }
    };
    struct Parcel {
        Rows<model::Alert> alerts;
        Rows<model::Incident> incidents;
        Rows<model::Notification> notifications;
        std::map<std::string, std::string, std::less<>> memory;
        std::vector<std::string> removed_alerts;
        std::vector<std::string> removed_incidents;
        std::vector<model::AlertEvent> events;
        store::AlertCursors cursors;
        std::vector<model::AuditEntry> audit;
        std::optional<base::WallTime> trim;
        // Not rows: what becomes of them.
        std::vector<AlertNews> news;
        std::size_t news_told = 0;  // of `news`, the first so many, as provisional
        std::uint64_t news_lost = 0;
        std::vector<std::string> deliver;  // ids of notifications to hand over
        std::vector<Act> acts;

        bool empty() const;
    };
    struct Life;  // tells an answer of the store whether there still is somebody to hear it

    static store::AlertBatch batch_of(const Parcel& parcel);
    void append(Parcel& first, Parcel second);
    void answered(base::Result<store::AlertCommit> result);
    void published(Parcel parcel);
    void give_back(const base::Error& why);
    void tell_provisionally(Parcel& parcel, const base::Error& why);
    static void keep_newest(Parcel& parcel);
    static void bound_news(Parcel& parcel);
    template <class Row>
    static void take_over(Rows<Row>& first, Rows<Row>& second);
    template <class Row>
    static void remove(Rows<Row>& rows, std::vector<std::string>& removed, const std::string& id);
    void bound_rows(Parcel& parcel);
    void show_uncommitted(const Parcel& parcel) const;
    void hand_over(Parcel& parcel, bool provisional);

    std::shared_ptr<net::EventLoop> loop_;
    store::Store& store_;
    observe::Log& log_;
    Outlets outlets_;
    std::shared_ptr<Life> life_;
    Parcel gathered_;
    std::optional<Parcel> under_way_;
    std::optional<base::BootTime> failing_since_;
    std::uint64_t given_up_ = 0;
    net::Timer retry_;
};

}  // namespace pollux::runtime
