// The rules of store.hpp about alerts, for every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/alert_test_support.hpp"
#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::store {
namespace {

using model::AlertState;
using model::DeliveryState;
using model::Severity;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class AlertConformance : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override { open(); }
    void open() {
        store_.reset();
        if (std::string(GetParam()) == "memory") {
            store_ = open_memory_store(disk_, {});
            return;
        }
        auto directory = DataDirectory::open(folder_.path());
        ASSERT_TRUE(directory) << directory.error().message;
        SqliteOptions options;
        options.audit.key = key_;
        auto store = open_sqlite_store(*directory, {}, options);
        ASSERT_TRUE(store) << store.error().message;
        store_ = std::move(*store);
    }
    base::Result<AlertCommit> write(AlertBatch batch) { return apply(*store_, std::move(batch)); }
    AlertReader& reader() { return store_->alert_reader(); }
    std::vector<std::uint64_t> alerts(const AlertQuery& query = {}) {
        return numbers_of(reader().alerts(query).value().rows);
    }
    std::vector<std::uint64_t> incidents(const IncidentQuery& query = {}) {
        return numbers_of(reader().incidents(query).value().rows);
    }
    std::vector<std::uint64_t> events(const AlertEventQuery& query = {}) {
        return numbers_of(reader().events(query).value().rows);
    }
    std::vector<std::uint64_t> notifications(const NotificationQuery& query = {}) {
        return numbers_of(reader().notifications(query).value().rows);
    }

    TemporaryFolder folder_;
    std::shared_ptr<const AuditKey> key_ = AuditKey::random();
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_;
};

TEST_P(AlertConformance, WhatIsOpenComesBackAsItWas) {
    AlertBatch batch;
    model::Alert full = engine::sample_alert();
    batch.alerts = {alert_row(2), full, alert_row(1, AlertState::kResolved)};
    batch.incidents = {incident_row(9), incident_row(3, false)};
    batch.incidents[0].notes = {{base::WallTime{1}, "user:bob", "cable"}};
    batch.notifications = {notification_row(5), notification_row(4, DeliveryState::kDelivered)};
    batch.notifications[0].provisional = true;
    batch.memory = {{"engine/a", std::string("x\0y", 3)}, {"planner", "p"}};
    batch.cursors = {{"change", UINT64_MAX}, {"observation", 7}};
    ASSERT_TRUE(write(batch));
    open();
    const auto loaded = load_alerts(*store_);
    ASSERT_EQ(loaded.alerts.size(), 2U) << "what is resolved is not loaded";
    EXPECT_EQ(loaded.alerts[0], batch.alerts[0]);
    EXPECT_EQ(loaded.alerts[1], full);
    ASSERT_EQ(loaded.incidents.size(), 1U);
    EXPECT_EQ(loaded.incidents[0], batch.incidents[0]);
    ASSERT_EQ(loaded.notifications.size(), 1U);
    EXPECT_EQ(loaded.notifications[0], batch.notifications[0]);
    EXPECT_THAT(loaded.memory,
                ElementsAre(Pair("engine/a", std::string("x\0y", 3)), Pair("planner", "p")));
    EXPECT_THAT(loaded.cursors, ElementsAre(Pair("change", UINT64_MAX), Pair("observation", 7)));
    EXPECT_EQ(loaded.state.damaged_rows, 0U);
    EXPECT_EQ(reader().alert(alert_id(1)).value(), batch.alerts[2]);
    EXPECT_EQ(reader().incident(incident_id(3)).value(), batch.incidents[1]);
    EXPECT_EQ(reader().notification(batch.notifications[1].id).value(), batch.notifications[1]);
    EXPECT_FALSE(reader().alert("nobody").value());
    EXPECT_FALSE(reader().incident("").value());
    EXPECT_FALSE(reader().notification("x").value());
}

TEST_P(AlertConformance, EveryStateOfADeliveryComesBackAsItWas) {
    AlertBatch batch;
    for (const DeliveryState state :
         {DeliveryState::kWaiting, DeliveryState::kDelivered, DeliveryState::kFailed,
          DeliveryState::kCancelled, DeliveryState::kHeld}) {
        batch.notifications.push_back(notification_row(batch.notifications.size() + 1, state));
    }
    ASSERT_TRUE(write(batch));
    open();
    for (const model::Notification& one : batch.notifications) {
        EXPECT_EQ(reader().notification(one.id).value(), one);
    }
}

TEST_P(AlertConformance, RowsAreReplacedWholeAndRemovedFirst) {
    AlertBatch batch;
    batch.alerts = {alert_row(1), alert_row(2)};
    batch.incidents = {incident_row(1), incident_row(2)};
    batch.events = {event_row(1, 1, 1), event_row(2, 0, 1), event_row(3, 2)};
    batch.notifications = {notification_row(1), notification_row(2)};
    batch.memory = {{"a", "1"}, {"b", "2"}};
    batch.cursors = {{"change", 1}, {"observation", 2}};
    ASSERT_TRUE(write(batch));

    AlertBatch next;
    next.removed_alerts = {alert_id(1), "unknown"};
    next.removed_incidents = {incident_id(1)};
    next.removed_notifications = {batch.notifications[0].id};
    next.removed_memory = {"a", "b"};
    next.alerts = {alert_row(2, AlertState::kResolved)};
    next.incidents = {incident_row(2, false)};
    next.notifications = {notification_row(2, DeliveryState::kFailed)};
    next.memory = {{"b", "3"}};
    next.cursors = {{"change", 5}};
    ASSERT_TRUE(write(next));
    ASSERT_TRUE(write(next)) << "a batch may come twice";
    open();
    EXPECT_THAT(alerts(), ElementsAre(2));
    EXPECT_EQ(reader().alert(alert_id(2)).value(), next.alerts[0]);
    EXPECT_THAT(incidents(), ElementsAre(2));
    EXPECT_THAT(events(), ElementsAre(3)) << "events go with their alert or incident";
    EXPECT_EQ(reader().notifications({}).value().rows, next.notifications);
    const auto loaded = load_alerts(*store_);
    EXPECT_THAT(loaded.alerts, IsEmpty());
    EXPECT_THAT(loaded.memory, ElementsAre(Pair("b", "3")));
    EXPECT_THAT(loaded.cursors, ElementsAre(Pair("change", 5), Pair("observation", 2)));
}

TEST_P(AlertConformance, ANumberOfAnotherRowIsAConflictAndNothingOfTheBatchStays) {
    AlertBatch batch;
    batch.alerts = {alert_row(1)};
    batch.cursors = {{"change", 1}};
    ASSERT_TRUE(write(batch));
    model::Alert other = alert_row(1);
    other.id = "another";
    AlertBatch wrong;
    wrong.incidents = {incident_row(1)};
    wrong.alerts = {alert_row(2), other};
    wrong.events = {event_row(1, 2)};
    wrong.notifications = {notification_row(1)};
    wrong.memory = {{"a", "1"}};
    wrong.cursors = {{"change", 2}};
    wrong.audit = {model::AuditEntry{}};
    const auto refused = write(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "store.conflict");
    EXPECT_THAT(refused.error().message, HasSubstr("alert another"));
    EXPECT_THAT(alerts(), ElementsAre(1));
    EXPECT_THAT(incidents(), IsEmpty());
    EXPECT_THAT(events(), IsEmpty());
    EXPECT_THAT(notifications(), IsEmpty());
    EXPECT_THAT(load_alerts(*store_).memory, IsEmpty());
    EXPECT_THAT(load_alerts(*store_).cursors, ElementsAre(Pair("change", 1)));
    EXPECT_EQ(store_->audit_head().number, 0U);
    wrong.removed_alerts = {alert_id(1)};
    EXPECT_TRUE(write(wrong)) << "the number is free when its row goes in the same batch";
    EXPECT_EQ(store_->audit_head().number, 1U);
}

TEST_P(AlertConformance, ARowWithoutIdOrNumberIsRefused) {
    AlertBatch batch;
    batch.alerts = {model::Alert{}};
    EXPECT_EQ(write(batch).error().code, "store.internal");
    batch = {};
    batch.incidents = {incident_row(0)};
    EXPECT_EQ(write(batch).error().code, "store.internal");
    batch = {};
    batch.events = {event_row(0, 1)};
    EXPECT_EQ(write(batch).error().code, "store.internal");
    batch = {};
    batch.notifications = {notification_row(0)};
    EXPECT_EQ(write(batch).error().code, "store.internal");
}

TEST_P(AlertConformance, NumbersAreRememberedWhenTheirRowsAreGone) {
    EXPECT_EQ(load_alerts(*store_).state.alert_numbers, AlertNumbers{});
    AlertBatch batch;
    batch.alerts = {alert_row(12), alert_row(11)};
    batch.incidents = {incident_row(13)};
    batch.events = {event_row(14, 12)};
    batch.notifications = {notification_row(15)};
    ASSERT_TRUE(write(batch));
    AlertBatch removal;
    removal.removed_alerts = {alert_id(12), alert_id(11)};
    removal.removed_incidents = {incident_id(13)};
    removal.removed_notifications = {batch.notifications[0].id};
    ASSERT_TRUE(write(removal));
    open();
    EXPECT_EQ(load_alerts(*store_).state.alert_numbers, (AlertNumbers{12, 13, 14, 15}));
}

TEST_P(AlertConformance, AlertsAreFoundByWhatTheyAre) {
    AlertBatch batch;
    for (std::uint64_t i = 1; i <= 4; ++i) batch.alerts.push_back(alert_row(i));
    auto& one = batch.alerts[0];
    auto& two = batch.alerts[1];
    auto& three = batch.alerts[2];
    auto& four = batch.alerts[3];
    one.state = AlertState::kAcknowledged;
    one.severity = Severity::kCritical;
    one.labels = {{"site", "Basel"}, {"team", "net"}};
    two.addon = "snmp";
    two.type = "link_down";
    two.target = "snmp::sw1";
    two.device = "sw1";
    two.groups = {"rack-1", "access"};
    two.source = model::AlertSource::kMessage;
    three = alert_row(3, AlertState::kResolved);
    three.fingerprint = one.fingerprint;
    three.incident = incident_id(7);
    four.message = "Battery LOW";
    ASSERT_TRUE(write(batch));
    open();
    EXPECT_THAT(alerts(), ElementsAre(4, 3, 2, 1));
    EXPECT_THAT(alerts({.oldest_first = true}), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(alerts({.states = {AlertState::kAcknowledged}}), ElementsAre(1));
    EXPECT_THAT(alerts({.states = {AlertState::kActive, AlertState::kResolved}}),
                ElementsAre(4, 3, 2));
    EXPECT_THAT(alerts({.severities = {Severity::kCritical}}), ElementsAre(1));
    EXPECT_THAT(alerts({.sources = {model::AlertSource::kMessage}}), ElementsAre(2));
    EXPECT_THAT(alerts({.addon = "snmp"}), ElementsAre(2));
    EXPECT_THAT(alerts({.type = "down"}), ElementsAre(4, 3, 1));
    EXPECT_THAT(alerts({.device = "sw1"}), ElementsAre(2));
    EXPECT_THAT(alerts({.target = "pve::node1"}), ElementsAre(4, 3, 1));
    EXPECT_THAT(alerts({.incident = incident_id(7)}), ElementsAre(3));
    EXPECT_THAT(alerts({.fingerprint = one.fingerprint}), ElementsAre(3, 1));
    EXPECT_THAT(alerts({.group = "access"}), ElementsAre(2));
    EXPECT_THAT(alerts({.labels = {{"team", "net"}}}), ElementsAre(1));
    EXPECT_THAT(alerts({.labels = {{"team", "net"}, {"site", "x"}}}), IsEmpty());
    EXPECT_THAT(alerts({.text = "battery low"}), ElementsAre(4));
    EXPECT_THAT(alerts({.text = "BASEL"}), ElementsAre(1)) << "the value of a label";
    EXPECT_THAT(alerts({.text = "rack"}), ElementsAre(2));
    EXPECT_THAT(alerts({.addon = "pve", .device = "node1", .text = "alert 3"}), ElementsAre(3));
    EXPECT_THAT(alerts({.from = base::WallTime{3501}}), ElementsAre(4, 2, 1))
        << "3 was over at 3500";
    EXPECT_THAT(alerts({.from = base::WallTime{3500}, .until = base::WallTime{4000}}),
                ElementsAre(3, 2, 1));
    EXPECT_THAT(alerts({.visible = [](const auto& alert) { return alert.number % 2 == 0; }}),
                ElementsAre(4, 2));
}

TEST_P(AlertConformance, PagesAreBoundedAndGoOn) {
    AlertBatch batch;
    for (std::uint64_t i = 1; i <= 1005; ++i) {
        batch.alerts.push_back(
            alert_row(i, i % 2 == 0 ? AlertState::kResolved : AlertState::kActive));
    }
    ASSERT_TRUE(write(batch));
    const auto most = reader().alerts({.limit = 5000}).value();
    EXPECT_EQ(most.rows.size(), kMostAlertsPerQuery);
    EXPECT_EQ(most.next, 6U);
    EXPECT_EQ(reader().alerts({.limit = 0}).value().rows.size(), 1U);
    for (const bool oldest_first : {false, true}) {
        AlertQuery query{.oldest_first = oldest_first, .states = {AlertState::kActive}, .limit = 7};
        std::vector<std::uint64_t> seen;
        std::uint64_t pages = 0;
        for (;;) {
            const auto page = reader().alerts(query).value();
            ASSERT_LE(page.rows.size(), 7U);
            for (const auto number : numbers_of(page.rows)) seen.push_back(number);
            ++pages;
            if (page.next == 0) break;
            (oldest_first ? query.after : query.before) = page.next;
        }
        EXPECT_EQ(pages, 72U);
        ASSERT_EQ(seen.size(), 503U);
        if (!oldest_first) std::ranges::reverse(seen);
        for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 2 * i + 1);
    }
    EXPECT_THAT(alerts({.after = 3, .before = 6}), ElementsAre(5, 4));
    EXPECT_THAT(alerts({.after = 6, .before = 3}), IsEmpty());
}

TEST_P(AlertConformance, ASearchThatFindsLittleStopsAndCanGoOn) {
    for (std::uint64_t part = 0; part < 3; ++part) {
        AlertBatch batch;
        for (std::uint64_t i = 1; i <= 7000; ++i) {
            batch.alerts.push_back(alert_row(part * 7000 + i));
        }
        if (part == 0) batch.alerts[0].message = "needle";
        ASSERT_TRUE(write(std::move(batch)));
    }
    AlertQuery query{.text = "needle"};
    const auto first = reader().alerts(query).value();
    EXPECT_THAT(first.rows, IsEmpty());
    EXPECT_EQ(first.next, 21'000 - kMostAlertsScanned + 1);
    query.before = first.next;
    const auto second = reader().alerts(query).value();
    EXPECT_THAT(numbers_of(second.rows), ElementsAre(1));
    EXPECT_EQ(second.next, 0U);
}

TEST_P(AlertConformance, CountsAreByStateSeverityAndAddon) {
    EXPECT_THAT(reader().alert_counts().value(), IsEmpty());
    AlertBatch batch;
    for (std::uint64_t i = 1; i <= 5; ++i) batch.alerts.push_back(alert_row(i));
    batch.alerts[1].addon = "snmp";
    batch.alerts[2].severity = Severity::kCritical;
    batch.alerts[3] = alert_row(4, AlertState::kResolved);
    ASSERT_TRUE(write(batch));
    EXPECT_THAT(reader().alert_counts().value(),
                ElementsAre(AlertCount{AlertState::kActive, Severity::kWarning, "pve", 2},
                            AlertCount{AlertState::kActive, Severity::kWarning, "snmp", 1},
                            AlertCount{AlertState::kActive, Severity::kCritical, "pve", 1},
                            AlertCount{AlertState::kResolved, Severity::kWarning, "pve", 1}));
}

TEST_P(AlertConformance, IncidentsAreFoundByWhatTheyAre) {
    AlertBatch batch;
    batch.incidents = {incident_row(1), incident_row(2, false), incident_row(3)};
    batch.incidents[0].device = "router";
    batch.incidents[2].severity = Severity::kCritical;
    ASSERT_TRUE(write(batch));
    open();
    EXPECT_THAT(incidents(), ElementsAre(3, 2, 1));
    EXPECT_THAT(incidents({.oldest_first = true, .limit = 2}), ElementsAre(1, 2));
    EXPECT_THAT(incidents({.open = true}), ElementsAre(3, 1));
    EXPECT_THAT(incidents({.open = false}), ElementsAre(2));
    EXPECT_THAT(incidents({.severities = {Severity::kCritical}}), ElementsAre(3));
    EXPECT_THAT(incidents({.device = "router"}), ElementsAre(1));
    EXPECT_THAT(incidents({.text = "INCIDENT 2"}), ElementsAre(2));
    EXPECT_THAT(incidents({.text = "rout"}), ElementsAre(1));
    EXPECT_THAT(incidents({.from = base::WallTime{2600}, .until = base::WallTime{3000}}),
                ElementsAre(1));
    EXPECT_THAT(incidents({.visible = [](const auto& one) { return one.number != 3; }}),
                ElementsAre(2, 1));
    EXPECT_EQ(reader().incidents({.limit = 2}).value().next, 2U);
}

TEST_P(AlertConformance, IncidentsThatWereOverBeforeAreNotSearched) {
    constexpr std::uint64_t kOver = kMostAlertsScanned + 100;
    AlertBatch batch;
    batch.incidents = {incident_row(1), incident_row(2, false)};
    batch.incidents[1].resolved_at = base::WallTime{1'000'000'000};
    for (std::uint64_t i = 0; i < kOver; ++i) batch.incidents.push_back(incident_row(3 + i, false));
    ASSERT_TRUE(write(std::move(batch)));
    IncidentQuery query{.from = base::WallTime{1'000'000'000}};
    const auto found = reader().incidents(query).value();
    EXPECT_THAT(numbers_of(found.rows), ElementsAre(2, 1));
    EXPECT_EQ(found.next, 0U);
    query.oldest_first = true;
    query.limit = 1;
    const auto first = reader().incidents(query).value();
    EXPECT_THAT(numbers_of(first.rows), ElementsAre(1));
    query.after = first.next;
    EXPECT_THAT(incidents(query), ElementsAre(2));
    EXPECT_THAT(incidents({.open = true, .from = query.from}), ElementsAre(1));
    EXPECT_THAT(incidents({.open = false, .from = query.from}), ElementsAre(2));
    EXPECT_THAT(incidents({.device = "nobody", .from = query.from}), IsEmpty());
    EXPECT_THAT(incidents({.device = "switch-1", .from = query.from}), ElementsAre(2, 1));
}

TEST_P(AlertConformance, TheTimelineIsOfAnAlertOrAnIncident) {
    AlertBatch batch;
    batch.events = {event_row(1, 1), event_row(2, 1, 5), event_row(3, 2, 5), event_row(4, 0, 5),
                    event_row(5, 3)};
    ASSERT_TRUE(write(batch));
    open();
    EXPECT_THAT(events({.alert = alert_id(1)}), ElementsAre(2, 1));
    EXPECT_THAT(events({.oldest_first = true, .incident = incident_id(5)}), ElementsAre(2, 3, 4));
    EXPECT_THAT(events({.alert = alert_id(1), .incident = incident_id(5)}), ElementsAre(2));
    EXPECT_THAT(events({.before = 4, .limit = 2}), ElementsAre(3, 2));
    EXPECT_EQ(reader().events({.limit = 1}).value().rows, std::vector{batch.events[4]});
}

TEST_P(AlertConformance, TheLogOfDeliveriesAndWhenAChannelLastWorked) {
    AlertBatch batch;
    batch.notifications = {notification_row(1, DeliveryState::kDelivered), notification_row(2),
                           notification_row(3, DeliveryState::kFailed),
                           notification_row(4, DeliveryState::kCancelled)};
    batch.notifications[1].receiver = "boss";
    batch.notifications[3].channel = "hook";
    batch.notifications[3].incident = incident_id(2);
    ASSERT_TRUE(write(batch));
    AlertBatch retried;
    retried.notifications = {batch.notifications[1]};
    retried.notifications[0].last_error = "refused";
    retried.notifications[0].last_attempt = base::WallTime{2500};
    ASSERT_TRUE(write(retried));
    open();
    EXPECT_THAT(notifications(), ElementsAre(4, 3, 2, 1));
    EXPECT_THAT(notifications({.incident = incident_id(2)}), ElementsAre(4));
    EXPECT_THAT(notifications({.receiver = "boss"}), ElementsAre(2));
    EXPECT_THAT(notifications({.receiver = "on-call", .channel = "hook"}), ElementsAre(4));
    EXPECT_THAT(notifications({.states = {DeliveryState::kWaiting}}), ElementsAre(2));
    EXPECT_THAT(notifications({.oldest_first = true,
                               .states = {DeliveryState::kFailed, DeliveryState::kDelivered}}),
                ElementsAre(1, 3));
    const ChannelHealth boss{"boss", "mail", {}, base::WallTime{2500}, "refused"};
    const ChannelHealth mail{"on-call", "mail", base::WallTime{1100}, base::WallTime{3100},
                             "no route to host"};
    EXPECT_THAT(reader().channels().value(), ElementsAre(boss, mail));

    AlertBatch late;  // an older failure than the one that is known says nothing new
    late.notifications = {batch.notifications[0], batch.notifications[2]};
    late.notifications[1].last_attempt = base::WallTime{2000};
    late.notifications[1].last_error = "older";
    ASSERT_TRUE(write(late));
    EXPECT_THAT(reader().channels().value(), ElementsAre(boss, mail));
}

TEST_P(AlertConformance, RetentionTakesWhatIsOverAndNothingElse) {
    AlertBatch batch;
    batch.alerts = {alert_row(1, AlertState::kResolved), alert_row(2),
                    alert_row(3, AlertState::kResolved), alert_row(9, AlertState::kResolved)};
    batch.alerts[0].incident = incident_id(1);  // over
    batch.alerts[2].incident = incident_id(2);  // still open
    batch.incidents = {incident_row(1, false), incident_row(2), incident_row(3, false)};
    batch.alerts[1].incident = incident_id(3);  // over, but not its alert
    batch.events = {event_row(1, 1, 1), event_row(2, 0, 1), event_row(3, 2), event_row(4, 3),
                    event_row(5, 0, 3)};
    batch.notifications = {notification_row(1, DeliveryState::kDelivered), notification_row(2),
                           notification_row(3, DeliveryState::kFailed),
                           notification_row(8, DeliveryState::kCancelled)};
    batch.notifications[2].last_attempt = base::WallTime{7001};
    ASSERT_TRUE(write(batch));
    AlertBatch retention;
    retention.retention = AlertRetention{base::WallTime{7000}};
    EXPECT_EQ(write(retention).value().removed, 5U);
    EXPECT_EQ(write(retention).value().removed, 0U);
    open();
    EXPECT_THAT(alerts(), ElementsAre(9, 3, 2));
    EXPECT_THAT(incidents(), ElementsAre(3, 2));
    EXPECT_THAT(events(), ElementsAre(5, 4, 3));
    EXPECT_THAT(notifications(), ElementsAre(8, 3, 2));
    EXPECT_EQ(reader().channels().value().size(), 1U) << "when it last worked stays known";
}

TEST_P(AlertConformance, RetentionGoesInBoundedSteps) {
    AlertBatch batch;
    for (std::uint64_t i = 1; i <= 1500; ++i) {
        batch.alerts.push_back(alert_row(i, AlertState::kResolved));
        batch.events.push_back(event_row(2 * i, i));
        batch.events.push_back(event_row(2 * i + 1, i));
    }
    ASSERT_TRUE(write(batch));
    AlertBatch retention;
    retention.retention = AlertRetention{base::WallTime::max()};
    std::uint64_t removed = 0;
    int steps = 0;
    for (;;) {
        const std::uint64_t now = write(retention).value().removed;
        EXPECT_LE(now, kMostAlertRemovals);
        if (now == 0) break;
        ++steps;
        removed += now;
    }
    EXPECT_EQ(removed, 4500U);
    EXPECT_EQ(steps, 3);
    EXPECT_THAT(alerts(), IsEmpty());
    EXPECT_THAT(events(), IsEmpty());
}

TEST_P(AlertConformance, StatsCountAndTheEndIsTheEnd) {
    AlertBatch batch;
    batch.alerts = {alert_row(1)};
    batch.cursors = {{"change", 1}};
    ASSERT_TRUE(write(batch));
    EXPECT_THAT(alerts(), ElementsAre(1));
    EXPECT_EQ(store_->stats().alert_commits, 1U);
    EXPECT_EQ(store_->stats().rows, 2U);
    EXPECT_EQ(store_->stats().reads, 1U);
    ASSERT_TRUE(store_->submit(AlertBatch{}, {})) << "nobody has to listen";
    ASSERT_TRUE(store_->close());
    const auto late = store_->submit(AlertBatch{}, {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, "store.closed");
}

INSTANTIATE_TEST_SUITE_P(Backends, AlertConformance, testing::Values("memory", "sqlite"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace pollux::store
