// Alerts in state.db: damage, kill -9, files of the schema before, and how questions are answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_random.hpp"
#include "store/alert_test_support.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/kill_test_support.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/state_schema.hpp"

namespace pollux::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Store> open_at(const std::string& path) {
    return open_sqlite_store(DataDirectory::open(path).value(), {}).value();
}

std::unique_ptr<Database> open_file(const TemporaryFolder& folder) {
    return Database::open(folder.file("state.db"), {true, false, "", ""}).value();
}

TEST(SqliteAlerts, ADamagedRowIsLeftOutAndNamed) {
    TemporaryFolder folder;
    {
        AlertBatch batch;
        batch.alerts = {alert_row(1), alert_row(2), alert_row(3)};
        batch.incidents = {incident_row(1), incident_row(2)};
        ASSERT_TRUE(apply(*open_at(folder.path()), batch));
    }
    ASSERT_TRUE(open_file(folder)->execute(
        "UPDATE alert SET record = x'0102' WHERE number = 2;"
        "UPDATE alert SET record = (SELECT record FROM alert WHERE number = 1) WHERE number = 3;"
        "UPDATE incident SET record = x'' WHERE number = 1"));
    auto store = open_at(folder.path());
    const auto loaded = load_alerts(*store);
    EXPECT_THAT(numbers_of(loaded.alerts), ElementsAre(1));
    EXPECT_THAT(numbers_of(loaded.incidents), ElementsAre(2));
    EXPECT_EQ(loaded.state.damaged_rows, 3U);
    EXPECT_THAT(loaded.state.damage, ElementsAre(HasSubstr(alert_id(2)),
                                                 "alert alert-000003: its record is of another one",
                                                 HasSubstr(incident_id(1))));
    auto& reader = store->alert_reader();
    EXPECT_THAT(numbers_of(reader.alerts({}).value().rows), ElementsAre(1));
    EXPECT_EQ(reader.alert(alert_id(2)).error().code, "store.corrupt");
    AlertBatch again;
    again.alerts = {alert_row(2)};
    ASSERT_TRUE(apply(*store, again)) << "a row can be written over";
    EXPECT_TRUE(reader.alert(alert_id(2)).value());
}

TEST(SqliteAlerts, AFileOfTheSchemaBeforeIsTakenOver) {
    TemporaryFolder folder;
    constexpr int kBefore = 6;
    {
        auto database = open_file(folder);
        ASSERT_TRUE(migrate_to(*database, state_schema(), kBefore));
        ASSERT_TRUE(database->execute(
            "INSERT INTO meta VALUES ('epoch', 7), ('clean_stop', 1), ('next_observation', 12);"
            "INSERT INTO object VALUES (2, 'id-1', 'switch', 0, 3, 7, 99, '{}');"
            "INSERT INTO change VALUES (12, 'a::b', 0, 0, 1, 3, 5);"
            "INSERT INTO observation VALUES (11, 't', 'a::b', 0, 5, '::1', 0, '[]', 'hi');"));
    }
    {
        auto store = open_at(folder.path());
        const auto loaded = load_alerts(*store);
        EXPECT_EQ(loaded.state.epoch, 8U);
        EXPECT_TRUE(loaded.alerts.empty());
        EXPECT_TRUE(loaded.cursors.empty());
        EXPECT_EQ(loaded.state.alert_numbers, AlertNumbers{});
        EXPECT_EQ(store->changes({}).value().size(), 1U);
        EXPECT_EQ(store->observations({}).value().size(), 1U);
        AlertBatch batch;
        batch.alerts = {alert_row(1)};
        batch.cursors = {{"change", 12}, {"observation", 11}};
        ASSERT_TRUE(apply(*store, batch));
    }
    EXPECT_TRUE(std::filesystem::exists(folder.file("state.db.v6.backup")));
    auto database = open_file(folder);
    ASSERT_TRUE(migrate_to(*database, state_schema(), kBefore));
    EXPECT_EQ(database->integer("SELECT count(*) FROM meta WHERE name LIKE 'newest%'").value(), 0);
    EXPECT_EQ(database->integer("SELECT count(*) FROM observation").value(), 1);
}

TEST(SqliteAlerts, ReadingAfterTheEndIsAnError) {
    TemporaryFolder folder;
    auto store = open_at(folder.path());
    auto& reader = store->alert_reader();
    ASSERT_TRUE(store->close());
    EXPECT_EQ(reader.alerts({}).error().code, "store.closed");
    EXPECT_EQ(reader.alert("x").error().code, "store.closed");
    EXPECT_EQ(reader.alert_counts().error().code, "store.closed");
    EXPECT_EQ(reader.incidents({}).error().code, "store.closed");
    EXPECT_EQ(reader.incident("x").error().code, "store.closed");
    EXPECT_EQ(reader.events({}).error().code, "store.closed");
    EXPECT_EQ(reader.notifications({}).error().code, "store.closed");
    EXPECT_EQ(reader.notification("x").error().code, "store.closed");
    EXPECT_EQ(reader.channels().error().code, "store.closed");
}

// The child takes in one change after another: what it makes of it and the cursor are one batch.
[[noreturn]] void take_in_for_ever(const std::string& path, int pipe_fd) {
    auto store = open_at(path);
    const auto loaded = load_alerts(*store);
    const auto known = loaded.cursors.find("change");
    std::uint64_t change = known == loaded.cursors.end() ? 0 : known->second;
    model::Alert alert = loaded.alerts.empty() ? alert_row(1) : loaded.alerts.front();
    if (loaded.alerts.empty()) alert.occurrences = 0;
    for (;;) {
        ++change;
        ++alert.occurrences;
        AlertBatch batch;
        batch.alerts = {alert};
        batch.events = {event_row(change, 1)};
        batch.notifications = {notification_row(change)};
        batch.memory = {{"engine", std::to_string(change)}};
        batch.cursors = {{"change", change}};
        if (!apply(*store, std::move(batch))) _exit(2);
        report(pipe_fd, change);
    }
}

TEST(SqliteAlerts, AfterAKillNothingWasTakenInTwiceOrLost) {
    TemporaryFolder folder;
    base::TestRandom random(4242);
    for (int round = 0; round < 8; ++round) {
        const auto reported = run_and_kill(
            [&](int pipe_fd) { take_in_for_ever(folder.path(), pipe_fd); }, random.below(60'000));
        ASSERT_FALSE(reported.empty()) << "round " << round;
        auto store = open_at(folder.path());
        const auto loaded = load_alerts(*store);
        const std::uint64_t change = loaded.cursors.at("change");
        EXPECT_GE(change, reported.back());
        ASSERT_EQ(loaded.alerts.size(), 1U);
        EXPECT_EQ(loaded.alerts[0].occurrences, change) << "each change counts once";
        EXPECT_EQ(loaded.memory.at("engine"), std::to_string(change));
        ASSERT_EQ(loaded.notifications.size(), change);
        EXPECT_EQ(loaded.notifications.back().number, change);
        EXPECT_EQ(loaded.state.alert_numbers.event, change);
        EXPECT_EQ(store->alert_reader().events({.limit = 1}).value().rows.at(0).number, change);
    }
}

// Which way SQLite goes for a question.
std::string plan(Database& database, const std::string& sql) {
    std::string all;
    auto statement = database.prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_TRUE(statement) << statement.error().message;
    while (statement->step().value()) all += std::string(statement->text(3)) + "\n";
    return all;
}

TEST(SqliteAlerts, QuestionsFollowAnIndexAndSortNothing) {
    TemporaryFolder folder;
    open_at(folder.path());
    auto database = open_file(folder);
    struct Case {
        const char* from;  // as the reader and the load write it
        const char* way;
    };
    const std::string page = " AND number > ?1 AND number < ?2 ORDER BY number DESC";
    for (const auto& [from, way] : {
             Case{"alert WHERE addon = ?3", "alert_by_addon"},
             Case{"alert WHERE type = ?3", "alert_by_type"},
             Case{"alert WHERE device = ?3", "alert_by_device"},
             Case{"alert WHERE target = ?3", "alert_by_target"},
             Case{"alert WHERE incident = ?3", "alert_by_incident"},
             Case{"alert WHERE fingerprint = ?3", "alert_by_fingerprint"},
             Case{"alert WHERE state <> 4", "alert_open"},
             Case{"alert WHERE 1", "PRIMARY KEY"},
             Case{"incident WHERE resolved_at = 0", "incident_open"},
             Case{"incident WHERE device = ?3", "incident_by_device"},
             Case{"alert_event WHERE alert = ?3", "alert_event_by_alert"},
             Case{"alert_event WHERE incident = ?3", "alert_event_by_incident"},
             Case{"notification WHERE state = 0", "notification_waiting"},
             Case{"notification WHERE incident = ?3", "notification_by_incident"},
             Case{"notification WHERE receiver = ?3", "notification_by_receiver"},
         }) {
        const auto found = plan(*database, "SELECT * FROM " + std::string(from) + page);
        EXPECT_THAT(found, HasSubstr(way)) << from;
        EXPECT_THAT(found, Not(HasSubstr("TEMP B-TREE"))) << from;
    }
    EXPECT_THAT(plan(*database,
                     "SELECT state, severity, addon, count(*) FROM alert GROUP BY state, severity, "
                     "addon"),
                HasSubstr("COVERING INDEX alert_counts"));
    EXPECT_THAT(plan(*database,
                     "SELECT number FROM notification WHERE state <> 0 AND max(made, last_attempt) "
                     "< ?1 ORDER BY max(made, last_attempt) LIMIT ?2"),
                HasSubstr("notification_over"));
}

}  // namespace
}  // namespace pollux::store
