// `pollux audit` on a data folder, as people type it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command_test_support.hpp"
#include "app/commands.hpp"
#include "app/fleet_ports.hpp"
#include "net/test_process.hpp"
#include "store/audit/audit_test_support.hpp"
#include "store/audit/checkpointer.hpp"
#include "store/secret_vault.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;

class AuditCommand : public testing::Test {
  protected:
    void fill(std::uint64_t count) {
        auto directory = store::DataDirectory::open(data()).value();
        auto vault =
            store::SecretVault::open(store::KeySources::of_process(data() + "/pollux.key")).value();
        store::SqliteOptions options;
        options.audit.key =
            store::AuditKey::open_or_make(directory->file(store::kAuditKeyFile), vault).value();
        auto store = store::open_sqlite_store(directory, {}, options).value();
        store::AuditCheckpointer checkpointer(options.audit.key, [](const auto&) {});
        ASSERT_TRUE(checkpointer.start(directory->file(store::kCheckpointFile), {}));
        store::append_entries(*store, 1, count);
        checkpointer.note(store->audit_head());
        ASSERT_TRUE(store->close());
        checkpointer.stop();
    }
    Printed audit(std::vector<std::string> more) {
        std::vector<std::string> arguments = {"audit"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        arguments.insert(arguments.end(), {"--data", data()});
        CLI::App app;
        Printed printed;
        add_audit(app, printed.status, ports_);
        printed.run(app, arguments);
        return printed;
    }
    std::string data() const { return folder_.file("data"); }

    net::test::TempDir folder_;
    FleetPorts ports_;
};

TEST_F(AuditCommand, VerifySaysOkAndThenExactlyWhatIsWrong) {
    fill(30);
    Printed printed = audit({"verify"});
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("30 records, 1 to 30"));
    EXPECT_THAT(printed.out, HasSubstr("ok: everything fits"));
    {
        auto database = store::Database::open(data() + "/state.db", {false, false, "", ""}).value();
        ASSERT_TRUE(database->execute("DELETE FROM audit WHERE number = 12"));
    }
    printed = audit({"verify"});
    EXPECT_EQ(printed.status, 1);
    EXPECT_THAT(printed.out, HasSubstr("audit.missing: record 12 is missing"));
    printed = audit({"verify", "-o", "json"});
    EXPECT_EQ(printed.status, 1);
    EXPECT_THAT(printed.out, HasSubstr(R"("code":"audit.missing","number":12)"));
}

TEST_F(AuditCommand, VerifyOfAFolderWithoutAStateSaysThatItCannotLook) {
    const Printed printed = audit({"verify"});
    EXPECT_EQ(printed.status, 3);
    EXPECT_THAT(printed.err, HasSubstr("state.db"));
}

TEST_F(AuditCommand, ListFiltersAndExportGivesAll) {
    fill(30);
    Printed printed = audit({"ls", "--principal", "user:alice", "--limit", "2"});
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("      30 "));
    EXPECT_THAT(printed.out, HasSubstr("      27 "));
    EXPECT_EQ(std::ranges::count(printed.out, '\n'), 3);
    printed = audit({"ls", "--from", "yesterday"});
    EXPECT_EQ(printed.status, 2);
    printed = audit({"export", "--format", "csv"});
    EXPECT_EQ(printed.status, 0);
    EXPECT_EQ(std::ranges::count(printed.out, '\n'), 31);
    EXPECT_THAT(printed.out, HasSubstr("\n1,2026-09-21T"));
    printed = audit({"export", "--action", "dlq."});
    EXPECT_EQ(std::ranges::count(printed.out, '\n'), 15);
    EXPECT_THAT(printed.out, HasSubstr(R"({"number":1,"at":"2026-09-21T)"));
}

}  // namespace
}  // namespace pollux::app
