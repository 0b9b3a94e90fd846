// Defects of OpsConductor, a predecessor, that show only against something real: an agent, a
// sender of webhooks, a database. Each test is named after what went wrong there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "alert/alert_test_support.hpp"
#include "api/alert_pages.hpp"
#include "document/json_writer.hpp"
#include "runtime/inbound/desk_test_support.hpp"
#include "store/alert_test_support.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kWalk = R"({"id": "fans", "name": "Fans", "method": "snmp_poll",
    "snmp_poll": {"default_community": "public", "poll_groups": [{"name": "fans",
        "oids": [{"oid": "1.3.6.1.4.1.9.13.1", "type": "walk", "field": "fan"}],
        "alert_condition": {"field": "fan", "value": 3, "alert_type": "fan"}}]},
    "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]})";

// The end of a walk was found by comparing texts, so a walk of ...13.1 took in all of ...13.10,
// which only begins like it.
TEST(OpsConductorDefect, AWalkGoesOnIntoTheSubtreeThatOnlyBeginsLikeIt) {
    const net::test::TempDir folder;
    const std::uint16_t port = net::test::free_port();
    folder.write("snmpd.conf", fmt::format("agentaddress udp:127.0.0.1:{}\nrocommunity public\n"
                                           "override .1.3.6.1.4.1.9.13.1.1.1 integer 3\n"
                                           "override .1.3.6.1.4.1.9.13.1.1.2 integer 1\n"
                                           "override .1.3.6.1.4.1.9.13.10.1.1 integer 3\n"
                                           "override .1.3.6.1.4.1.9.13.100 integer 3\n",
                                           port));
    const net::test::Process agent({"/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c",
                                    folder.file("snmpd.conf"), "-I", "override,snmpv3mibs"},
                                   folder,
                                   {{"SNMP_PERSISTENT_DIR", folder.file("state")}, {"MIBS", ""}});
    const auto compiled = extract::compile(kWalk, "fans.json");
    ASSERT_NE(compiled.addon, nullptr) << compiled.diagnostics.text();
    ImportedDevice asker;
    auto binding = asker.binding();
    binding.port = port;
    binding.timeout = 1s;
    ImportedDevice::Poll poll;
    const base::BootTime until = net::boot_now() + net::test::kPatience;
    do {  // the agent needs a moment to begin
        poll = asker.poll(*compiled.addon, binding);
        if (poll.failed) std::this_thread::sleep_for(20ms);
    } while (poll.failed && net::boot_now() < until);
    ASSERT_FALSE(poll.failed) << agent.output();
    const auto& walks = std::get<model::SnmpReply>(poll.replies.at(0)->answer).walks;
    ASSERT_EQ(walks.size(), 1U);
    EXPECT_EQ(walks[0].size(), 2U);
    EXPECT_THAT(poll.told(), ElementsAre("fan/1.1 warning"));
}

constexpr const char* kHook = R"({"id": "hook", "name": "Hook", "method": "webhook",
    "webhook": {"endpoint_path": "/webhooks/hook", "auth_token": "from-the-manifest-0123456789"},
    "parser": {"field_mappings": {"alert_type": "t"}},
    "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]})";

// The token of a webhook was documented and never checked: whoever knew the path raised alerts.
TEST(OpsConductorDefect, TheTokenOfAWebhookIsNotChecked) {
    runtime::test::DeskStage stage;
    stage.start(runtime::test::image_of({runtime::test::inbound_target(kHook, "door")}));
    const auto post = [&](const std::string& path, std::vector<std::string> more = {}) {
        more.insert(more.end(), {"-H", "Content-Type: application/json", "-d", R"({"t": "fan"})"});
        return stage.curl(path, std::move(more));
    };
    EXPECT_THAT(post("/webhooks/hook"), EndsWith(" 404"));
    EXPECT_THAT(post("/hooks"), EndsWith(" 404"));
    EXPECT_THAT(post("/hooks/hook"), EndsWith(" 404"));
    EXPECT_THAT(post("/hooks/from-the-manifest-0123456789"), EndsWith(" 404"));
    EXPECT_THAT(post("/hooks", {"-H", "Authorization: Bearer token-of-door-0123456788"}),
                EndsWith(" 404"));
    EXPECT_THAT(stage.rows(), IsEmpty());
    EXPECT_THAT(stage.explain("hook::door").find("raised")->items(), IsEmpty());
    EXPECT_THAT(post("/hooks", {"-H", "Authorization: Bearer token-of-door-0123456789"}),
                EndsWith(" 200"));
    ASSERT_TRUE(stage.wait_for_rows(1)) << stage.log();
    EXPECT_EQ(stage.explain("hook::door").find("raised")->items().size(), 1U);
}

// The API showed when an alert was acknowledged, and no column of the database had it.
TEST(OpsConductorDefect, WhenAnAlertWasAcknowledgedIsNotStored) {
    alert::EngineDriver driver(alert::fleet_of({"a"}));
    driver.give({alert::observed("snmp::a", "fan")});
    driver.idle(90s);
    alert::Act act;
    act.who = "user:eve";
    act.alerts = {driver.last("fan").id};
    driver.give({act});
    const base::WallTime when = driver.now().wall;
    driver.idle(1h);

    const net::test::TempDir folder;
    const auto open = [&] {
        auto directory = store::DataDirectory::open(folder.path());
        POLLUX_CHECK(directory.has_value());
        return store::open_sqlite_store(*directory, {}, {}).value();
    };
    store::AlertBatch batch;
    batch.alerts = {driver.last("fan")};
    auto kept = open();
    ASSERT_TRUE(store::apply(*kept, std::move(batch)));
    kept.reset();
    kept = open();
    const auto read = kept->alert_reader().alert(driver.last("fan").id).value();
    ASSERT_TRUE(read && read->acknowledged);
    EXPECT_EQ(read->acknowledged->at, when);
    std::string shown;
    document::JsonWriter json(shown);
    api::write_alert(json, *read);
    std::string wanted;
    document::JsonWriter field(wanted);
    field.object().field("acknowledged_at", when).end_object();
    EXPECT_THAT(shown, HasSubstr(wanted.substr(1, wanted.size() - 2)));
    EXPECT_THAT(shown, HasSubstr(R"("acknowledged_by":"user:eve")"));
}

}  // namespace
}  // namespace pollux::tests
