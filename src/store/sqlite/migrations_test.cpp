#include "store/sqlite/migrations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/state_schema.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::HasSubstr;

std::unique_ptr<Database> open_file(const std::string& path) {
    auto database = Database::open(path, {true, false, "", "PRAGMA journal_mode = WAL"});
    if (!database) throw std::runtime_error(database.error().message);
    return std::move(*database);
}

// All tables and indexes as they were written, in order.
std::string shape(Database& database) {
    std::string all;
    auto statement = database.prepare(
        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1");
    while (statement->step().value()) all += std::string(statement->text(0)) + "\n";
    return all;
}

std::int64_t version(Database& database) { return database.integer("PRAGMA user_version").value(); }

TEST(Migrations, EveryStepHasAWayBackToTheShapeBefore) {
    TemporaryFolder folder;
    auto database = open_file(folder.file("x.db"));
    const Schema& schema = state_schema();
    std::vector<std::string> shapes;
    for (int number = 0; number <= schema.newest(); ++number) {
        ASSERT_TRUE(migrate_to(*database, schema, number));
        EXPECT_EQ(version(*database), number);
        shapes.push_back(shape(*database));
    }
    for (int number = schema.newest(); number >= 0; --number) {
        ASSERT_TRUE(migrate_to(*database, schema, number));
        EXPECT_EQ(shape(*database), shapes[static_cast<std::size_t>(number)]) << number;
    }
    EXPECT_EQ(shape(*database), "") << "nothing is left at 0";
    ASSERT_TRUE(migrate_to(*database, schema, schema.newest()));
    EXPECT_EQ(shape(*database), shapes.back());
}

TEST(Migrations, DataSurvivesTheWayUpAndACopyIsMadeBefore) {
    TemporaryFolder folder;
    {
        auto database = open_file(folder.file("state.db"));
        ASSERT_TRUE(migrate_to(*database, state_schema(), 1));
        ASSERT_TRUE(database->execute(
            "INSERT INTO meta VALUES ('epoch', 41), ('clean_stop', 1);"
            "INSERT INTO object VALUES (2, 'id-1', 'switch', 0, 3, 7, 99, '{}');"
            "INSERT INTO object VALUES (7, 'id-2', 'settings', 1, 4, 7, 98, '{\"a\":1}');"
            "INSERT INTO change VALUES (12, 'a::b', 0, 0, 1, 3, 5);"));
    }
    auto directory = DataDirectory::open(folder.path());
    auto store = open_sqlite_store(*directory, {});
    ASSERT_TRUE(store) << store.error().message;
    auto all = load_all(**store);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->state.epoch, 42u);
    EXPECT_EQ(all->objects.size(), 2u);
    EXPECT_EQ((*store)->changes({})->size(), 1u);
    auto versions = (*store)->settings_versions(UINT64_MAX, 10);
    ASSERT_EQ(versions->size(), 1u) << "the version that was in force is the first one kept";
    EXPECT_EQ(versions->at(0).object, all->objects.at(1));

    auto copy = open_file(folder.file("state.db.v1.backup"));
    EXPECT_EQ(version(*copy), 1);
    EXPECT_EQ(copy->integer("SELECT value FROM meta WHERE name = 'epoch'").value(), 41);
    EXPECT_EQ(copy->integer("SELECT count(*) FROM object").value(), 2);
}

TEST(Migrations, ANewFileNeedsNoCopy) {
    TemporaryFolder folder;
    auto database = open_file(folder.file("x.db"));
    ASSERT_TRUE(migrate_up(*database, state_schema()));
    ASSERT_TRUE(migrate_up(*database, state_schema()));
    EXPECT_FALSE(std::filesystem::exists(folder.file("x.db.v0.backup")));
}

TEST(Migrations, AFileOfANewerProgramIsRefusedAndKept) {
    TemporaryFolder folder;
    {
        auto database = open_file(folder.file("state.db"));
        ASSERT_TRUE(migrate_up(*database, state_schema()));
        ASSERT_TRUE(database->execute("PRAGMA user_version = 77; CREATE TABLE later (x);"));
    }
    auto directory = DataDirectory::open(folder.path());
    auto store = open_sqlite_store(*directory, {});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, "store.newer");
    EXPECT_THAT(store.error().message, HasSubstr("version 77"));
    EXPECT_THAT(store.error().message, HasSubstr("use the newer pollux"));
    auto database = open_file(folder.file("state.db"));
    EXPECT_EQ(version(*database), 77);
    EXPECT_EQ(database->integer("SELECT count(*) FROM later").value(), 0);
}

TEST(Migrations, AFileOfAnotherProgramIsRefusedAndKept) {
    TemporaryFolder folder;
    {
        auto database = open_file(folder.file("state.db"));
        ASSERT_TRUE(database->execute("CREATE TABLE theirs (x)"));
    }
    auto directory = DataDirectory::open(folder.path());
    auto store = open_sqlite_store(*directory, {});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, "store.foreign");
    auto database = open_file(folder.file("state.db"));
    EXPECT_EQ(shape(*database), "table theirs CREATE TABLE theirs (x)\n");
}

TEST(Migrations, AStepThatFailsLeavesTheShapeBefore) {
    static constexpr Migration kBroken[] = {
        {"fine", "CREATE TABLE a (x)", "DROP TABLE a"},
        {"broken", "CREATE TABLE b (x); CREATE TABLE a (x)", "DROP TABLE b"}};
    const Schema schema{"test", 1234, kBroken};
    TemporaryFolder folder;
    auto database = open_file(folder.file("x.db"));
    const auto status = migrate_up(*database, schema);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr("from version 1 to 2: broken"));
    EXPECT_EQ(version(*database), 1);
    EXPECT_EQ(shape(*database), "table a CREATE TABLE a (x)\n");
}

}  // namespace
}  // namespace pollux::store
