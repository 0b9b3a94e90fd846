// Manifests of what devices send by themselves: traps by snmptrap, webhooks by curl, heard by the
// real desk and read back from its store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/time_text.hpp"
#include "runtime/inbound/desk_test_support.hpp"
#include "runtime/inbound/message_text.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using runtime::test::DeskStage;
using runtime::test::image_of;
using runtime::test::inbound_target;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Signals = std::vector<model::Signal>;

struct Heard {
    std::string key;  // of the target that it was for
    Signals signals;
};

class ImportedMessages : public ::testing::Test {
  protected:
    void start(const std::vector<std::string>& names) {
        std::vector<std::shared_ptr<runtime::InboundTarget>> targets;
        for (const std::string& name : names) {
            targets.push_back(inbound_target(imported_text(name).c_str(), name));
        }
        stage_.start(image_of(std::move(targets)));
    }
    // The newest message of the store, once there is one more than before.
    Heard next() {
        if (!stage_.wait_for_rows(++heard_)) {
            ADD_FAILURE() << "nothing was stored\n" << stage_.log();
            return {};
        }
        const store::Observation row = stage_.rows().back();
        const auto signals = runtime::read_signals(row.signals);
        EXPECT_TRUE(signals.has_value()) << row.signals;
        return {row.key, signals.value_or(Signals{})};
    }
    Heard trap(const std::string& oid, const std::vector<std::string>& values = {}) {
        std::vector<std::string> after = {"4242", oid};
        after.insert(after.end(), values.begin(), values.end());
        const runtime::test::Ran ran =
            stage_.send("snmptrap", {"-v2c", "-c", "public"}, std::move(after));
        EXPECT_EQ(ran.code, 0) << ran.output;
        return next();
    }
    Heard trap_v1(const std::string& enterprise, const std::string& specific) {
        const runtime::test::Ran ran = stage_.send("snmptrap", {"-v1", "-c", "public"},
                                                   {enterprise, "", "6", specific, "4242"});
        EXPECT_EQ(ran.code, 0) << ran.output;
        return next();
    }
    Signals hook(const std::string& device, const std::string& body,
                 const std::string& type = "application/json") {
        const std::string answer =
            stage_.curl(fmt::format("/hooks/token-of-{}-0123456789", device),
                        {"-H", "Content-Type: " + type, "--data-binary", body});
        EXPECT_THAT(answer, EndsWith(" 200"));
        return next().signals;
    }

    DeskStage stage_;
    std::size_t heard_ = 0;
};

TEST_F(ImportedMessages, GenericTrapsAreReadAndPaired) {
    start({"snmp-generic"});
    const auto link = [&](const std::string& oid) {
        return trap(oid, {"1.3.6.1.2.1.2.2.1.1.3", "i", "3"}).signals;
    };
    const Signals down = link("1.3.6.1.6.3.1.1.5.3");
    ASSERT_THAT(told_of(down), ElementsAre("link_down major"));
    EXPECT_EQ(down[0].title, "Link down on 127.0.0.1");
    EXPECT_EQ(down[0].message, "A link went down");
    EXPECT_THAT(down[0].fields, ElementsAre(Pair("ifIndex", "3")));
    EXPECT_THAT(told_of(link("1.3.6.1.6.3.1.1.5.4")), ElementsAre("clear link_down major"));
    const Signals cold = trap("1.3.6.1.6.3.1.1.5.1").signals;
    ASSERT_THAT(told_of(cold), ElementsAre("cold_start warning"));
    EXPECT_EQ(cold[0].title, "Generic SNMP traps: Cold Start on 127.0.0.1");
    EXPECT_THAT(told_of(trap("1.3.6.1.6.3.1.1.5.2").signals), ElementsAre("warm_start info"));
    EXPECT_THAT(trap("1.3.6.1.6.3.1.1.5.9").signals, IsEmpty());
}

TEST_F(ImportedMessages, EachEnterpriseGoesToItsAddonAndTheRestToTheGenericOne) {
    start({"cisco_asa", "siklu", "eaton-traps", "snmp-generic"});
    EXPECT_EQ(trap("1.3.6.1.4.1.9.9.221.0.1").key, "cisco_asa::cisco_asa");
    EXPECT_EQ(trap("1.3.6.1.4.1.31926.20.0.7").key, "siklu::siklu");
    EXPECT_EQ(trap("1.3.6.1.4.1.534.1.11.4.1.0.7").key, "eaton::eaton-traps");
    EXPECT_EQ(trap("1.3.6.1.6.3.1.1.5.3").key, "snmp-generic::snmp-generic");
    // As texts this would begin like Cisco's 1.3.6.1.4.1.9.
    EXPECT_EQ(trap("1.3.6.1.4.1.99.1.0.1").key, "snmp-generic::snmp-generic");
}

TEST_F(ImportedMessages, CiscoTunnelsAreToldApartAndPairedByAMap) {
    start({"cisco_asa"});
    const auto tunnel = [&](const std::string& oid, const std::string& peer) {
        return told_of(trap(oid, {"1.3.6.1.4.1.9.9.171.1.3.2.1.5.1", "s", peer}).signals);
    };
    const std::string down = "1.3.6.1.4.1.9.9.171.2.0.8";
    const std::string up = "1.3.6.1.4.1.9.9.171.2.0.7";
    EXPECT_THAT(tunnel(down, "north"), ElementsAre("ipsec_tunnel_down/north major"));
    EXPECT_THAT(tunnel(down, "south"), ElementsAre("ipsec_tunnel_down/south major"));
    EXPECT_THAT(tunnel(up, "north"), ElementsAre("clear ipsec_tunnel_down/north major"));
    const Signals busy =
        trap("1.3.6.1.4.1.9.9.109.2.0.1", {"1.3.6.1.4.1.9.9.109.1.1.1.1.7.1", "u", "97"}).signals;
    ASSERT_THAT(told_of(busy), ElementsAre("cpu_high warning"));
    EXPECT_EQ(busy[0].title, "127.0.0.1 is at 97 %");
    EXPECT_EQ(busy[0].category, "security");
    EXPECT_THAT(told_of(trap("1.3.6.1.4.1.9.9.109.2.0.2").signals),
                ElementsAre("clear cpu_high warning"));
    EXPECT_THAT(trap("1.3.6.1.4.1.9.9.41.2.0.1").signals, IsEmpty());   // its row disables it
    EXPECT_THAT(trap("1.3.6.1.4.1.9.9.109.2.0.9").signals, IsEmpty());  // no type, no row
    EXPECT_EQ(stage_.explain("cisco_asa::cisco_asa").find("raised")->items().size(), 1U);
}

TEST_F(ImportedMessages, SikluClearsByItsSuffix) {
    start({"siklu"});
    const Signals weak =
        trap("1.3.6.1.4.1.31926.20.0.1", {"1.3.6.1.4.1.31926.2.1.1.18.1", "i", "-57",
                                          "1.3.6.1.4.1.31926.2.1.1.1.1", "s", "roof"})
            .signals;
    ASSERT_THAT(told_of(weak), ElementsAre("rsl_low warning"));
    EXPECT_EQ(weak[0].title, "-57 dBm at 127.0.0.1");
    EXPECT_EQ(weak[0].message, "The signal is weak");
    EXPECT_THAT(weak[0].fields, ElementsAre(Pair("Radio Name", "ROOF"), Pair("rsl", "-57")));
    EXPECT_THAT(told_of(trap("1.3.6.1.4.1.31926.20.0.2").signals),
                ElementsAre("clear rsl_low warning"));
    EXPECT_THAT(told_of(trap("1.3.6.1.4.1.31926.20.0.8").signals),
                ElementsAre("link_down critical"));
    EXPECT_THAT(told_of(trap("1.3.6.1.4.1.31926.20.0.9").signals),
                ElementsAre("clear link_down clear"));
    EXPECT_THAT(trap("1.3.6.1.4.1.31926.20.0.13").signals, IsEmpty());  // in no row
    EXPECT_THAT(stage_.explain("siklu::siklu").find("raised")->items(), IsEmpty());
    EXPECT_THAT(load_imported("siklu").diagnostics.text(),
                HasSubstr("severity: warning: is not known: ignored"));
}

TEST_F(ImportedMessages, EatonClearsByPairsInVersion1Too) {
    start({"eaton-traps"});
    const Signals battery =
        trap("1.3.6.1.4.1.534.1.11.4.1.0.3", {"1.3.6.1.4.1.534.1.2.1.0", "i", "840"}).signals;
    ASSERT_THAT(told_of(battery), ElementsAre("on_battery critical"));
    EXPECT_EQ(battery[0].title, "127.0.0.1 has 840 s left");
    EXPECT_EQ(battery[0].message, "It runs on battery");
    const Signals back = trap_v1("1.3.6.1.4.1.534.1.11.4.1", "5").signals;
    EXPECT_THAT(told_of(back), ElementsAre("clear on_battery critical"));
    EXPECT_THAT(told_of(trap_v1("1.3.6.1.4.1.534.1.11.4.1", "11").signals),
                ElementsAre("on_bypass major"));
    EXPECT_THAT(told_of(trap_v1("1.3.6.1.4.1.534.1.11.4.1", "17").signals),
                ElementsAre("clear on_bypass major"));
    EXPECT_THAT(trap("1.3.6.1.4.1.534.1.11.4.1.0.15").signals, IsEmpty());  // disabled
}

TEST_F(ImportedMessages, StandardTrapsArePairedAcrossTheirTrees) {
    start({"snmp_trap"});
    const Signals down =
        trap("1.3.6.1.2.1.15.0.2", {"1.3.6.1.2.1.15.3.1.14.192.0.2.1", "x", "0400"}).signals;
    ASSERT_THAT(told_of(down), ElementsAre("bgp_down critical"));
    EXPECT_THAT(down[0].fields, Contains(Pair("lastError", testing::_)));
    EXPECT_THAT(told_of(trap("1.3.6.1.2.1.15.0.1").signals),
                ElementsAre("clear bgp_down critical"));
    EXPECT_THAT(told_of(trap_v1("1.3.6.1.2.1.33.2", "1").signals),
                ElementsAre("ups_on_battery critical"));
    EXPECT_THAT(trap("1.3.6.1.2.1.33.2.0.99").signals, IsEmpty());
}

TEST_F(ImportedMessages, PrtgTellsOfItsSensors) {
    start({"prtg"});
    const Signals down = hook("prtg", R"json({"statusid": 5, "host": "srv1 (192.0.2.33)",
        "device": "srv1", "datetime": "2026-02-03 04:05:06",
        "sensor": {"name": "Ping", "message": "timeout"}})json");
    ASSERT_THAT(told_of(down), ElementsAre("sensor_down/Ping critical"));
    EXPECT_EQ(down[0].title, "Ping of srv1 is down");
    EXPECT_EQ(down[0].message, "timeout");
    EXPECT_EQ(down[0].device_address, "192.0.2.33");
    EXPECT_EQ(down[0].device_name, "srv1");
    ASSERT_TRUE(down[0].at.has_value());
    EXPECT_EQ(extract::iso_time(*down[0].at), "2026-02-03T04:05:06Z");
    EXPECT_THAT(down[0].fields, Contains(Pair("relay", "127.0.0.1")));
    EXPECT_THAT(told_of(hook("prtg", R"({"statusid": 3, "sensor": {"name": "Ping"}})")),
                ElementsAre("clear sensor_down/Ping clear", "clear sensor_warning/Ping clear"));
    EXPECT_THAT(told_of(hook("prtg", R"({"statusid": 12, "sensor": {"name": "Ping"}})")),
                ElementsAre("12/Ping info"));                     // a code that no word stands for
    EXPECT_THAT(hook("prtg", R"({"statusid": 99})"), IsEmpty());  // not in its mappings
    EXPECT_THAT(hook("prtg", "[]"), IsEmpty());
}

TEST_F(ImportedMessages, PrtgMaySendAFormWhereJsonIsExpected) {
    start({"prtg"});
    const Signals out =
        hook("prtg", "statusid=4&host=192.0.2.34&device=srv2", "application/x-www-form-urlencoded");
    ASSERT_THAT(told_of(out), ElementsAre("sensor_warning warning"));
    EXPECT_EQ(out[0].device_address, "192.0.2.34");
}

TEST_F(ImportedMessages, MilestoneSendsFormsAndTheEndsOfEvents) {
    start({"milestone"});
    const std::string form = "application/x-www-form-urlencoded";
    const Signals out = hook(
        "milestone",
        "EventType=communication_error&Message=no+video&SourceName=Gate&SourceAddress=192.0.2.40",
        form);
    ASSERT_THAT(told_of(out), ElementsAre("communication_error major"));
    EXPECT_EQ(out[0].message, "no video");
    EXPECT_EQ(out[0].device_address, "192.0.2.40");
    EXPECT_EQ(out[0].device_name, "Gate");
    EXPECT_THAT(told_of(hook("milestone", "EventType=communication_error_ended", form)),
                ElementsAre("clear communication_error major"));
}

}  // namespace
}  // namespace pollux::tests
