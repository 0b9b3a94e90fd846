// What devices send by themselves, to the real binary: curl, snmptrap and snmpinform as senders.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "net/test_nginx.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHookAddon = R"(schema: pollux/1
name: hook
version: 1.0.0
title: Hook
protocol: webhook
webhook:
  fields: {state: $.state}
signals:
  - {type: alarm, when: state == 'bad', severity: critical, title: "it is {state}"}
)";

class Inbound : public InboundStage {
  protected:
    Inbound() {
        add_addon("alive", kPushAddon);
        add_addon("hook", kHookAddon);
        add_addon("traps", kTrapAddon);
    }
};

constexpr const char* kDoor = R"(
devices:
  door: {address: 127.0.0.1, addons: [alive, hook, traps]}
)";

TEST_F(Inbound, WhatWasAnsweredSurvivesAKill) {
    ASSERT_NO_FATAL_FAILURE(start(kDoor));
    const std::string push = url("push", "alive::door");
    const std::string hook = url("hook", "hook::door");
    EXPECT_THAT(push, HasSubstr(fmt::format("http://127.0.0.1:{}/push/", http_port_)));
    EXPECT_EQ(field("alive::door", "state"), "unknown");
    for (int life = 0; life < 3; ++life) {
        EXPECT_THAT(curl(hook, {"-d", fmt::format(R"x({{"state": "bad", "life": {}}})x", life)}),
                    EndsWith(" 200"));
        EXPECT_THAT(curl(fmt::format("{}?msg=life-{}", push, life)), EndsWith(" 200"));
        server_->kill();
        ASSERT_NO_FATAL_FAILURE(server_->start());
        EXPECT_EQ(url("push", "alive::door"), push) << "an address that was given away stays good";
        EXPECT_EQ(field("alive::door", "state"), "up") << "nothing can have been missed";
        EXPECT_EQ(field("alive::door", "message"), fmt::format("life-{}", life));
        const CommandResult events =
            server_->command({"messages", "--target", "hook::door", "-o", "json"});
        EXPECT_EQ(events.code, 0) << events.output;
        EXPECT_THAT(events.output, HasSubstr(fmt::format("\\\"life\\\": {}", life)));
    }
    const CommandResult text = server_->command({"messages"});
    EXPECT_THAT(text.output, HasSubstr("alarm critical: it is bad"));
    EXPECT_THAT(text.output, HasSubstr("alive::door from 127.0.0.1"));
    const CommandResult explained = server_->command({"explain", "alive::door"});
    EXPECT_EQ(explained.code, 0);
    EXPECT_THAT(explained.output, HasSubstr("up: the last heartbeat came"));
    EXPECT_THAT(server_->command({"explain", "hook::door"}).output, HasSubstr("raised     alarm"));
}

// Signed traps carry the clock of their sender; a recorded one may be played back after a crash of
// ours. Net-SNMP's tool signs with any clock it is told to.
TEST_F(Inbound, ARecordedTrapIsRefusedAlsoAfterAKill) {
    ASSERT_NO_FATAL_FAILURE(
        start(R"(
credentials:
  trapper:
    username: trapper
    snmp_auth: sha256
    snmp_auth_password: ${TRAP_AUTH}
    snmp_privacy: aes256
    snmp_privacy_password: ${TRAP_PRIVACY}
devices:
  door: {address: 127.0.0.1, credentials: trapper, addons: [traps]}
)",
              {{"TRAP_AUTH", "auth-pass-word"}, {"TRAP_PRIVACY", "priv-pass-word"}}));
    const auto send = [&](const std::string& clock) {
        const CommandResult sent = run({"snmptrap",
                                        "-Lo",
                                        "-M",
                                        "",
                                        "-m",
                                        "",
                                        "-v3",
                                        "-u",
                                        "trapper",
                                        "-l",
                                        "authPriv",
                                        "-a",
                                        "SHA-256",
                                        "-A",
                                        "auth-pass-word",
                                        "-x",
                                        "AES-256",
                                        "-X",
                                        "priv-pass-word",
                                        "-e",
                                        "0x8000000001020304",
                                        "-Z",
                                        clock,
                                        fmt::format("udp:127.0.0.1:{}", trap_port_),
                                        "",
                                        "1.3.6.1.6.3.1.1.5.3"});
        EXPECT_EQ(sent.code, 0) << sent.output;
    };
    const auto counted = [&](const std::string& result) {
        return server_->metrics().value("pollux_inbound_messages_total",
                                        {{"kind", "trap"}, {"result", result}});
    };
    send("6,5000");
    ASSERT_TRUE(eventually([&] { return counted("stored") == 1; })) << server_->log();
    ASSERT_TRUE(eventually([&] {
        return run({"sqlite3", "-readonly", server_->data() + "/state.db",
                    "SELECT count(*) FROM target_memory WHERE key = "
                    "'trap-sender/8000000001020304'"})
            .output.starts_with("1");
    }));
    server_->kill();
    ASSERT_NO_FATAL_FAILURE(server_->start());
    send("6,4000");
    ASSERT_TRUE(eventually([&] { return counted("refused") == 1; })) << server_->log();
    send("5,9000");
    ASSERT_TRUE(eventually([&] { return counted("refused") == 2; })) << server_->log();
    EXPECT_THAT(server_->command({"inbound"}).output,
                HasSubstr("pollux inbound forget 8000000001020304"));
    send("6,6000");
    ASSERT_TRUE(eventually([&] { return counted("stored") == 1; })) << server_->log();

    // The device was reset to what it was in the factory: a person says so.
    const CommandResult forgotten = server_->command({"inbound", "forget", "8000000001020304"});
    EXPECT_EQ(forgotten.code, 0) << forgotten.output;
    send("1,30");
    EXPECT_TRUE(eventually([&] { return counted("stored") == 2; })) << server_->log();
    const CommandResult unknown = server_->command({"inbound", "forget", "80000000ff"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.output, HasSubstr("no clock of the engine 80000000ff is known"));
}

TEST_F(Inbound, SendersMaySpeakTls) {
    const auto first = net::test::make_self_signed(folder_, "first", 30);
    ASSERT_NO_FATAL_FAILURE(start(kDoor, {{"POLLUX_INBOUND_TLS_CERTIFICATE", first.certificate},
                                          {"POLLUX_INBOUND_TLS_KEY", first.key}}));
    const std::string push = url("push", "alive::door");
    EXPECT_THAT(push, HasSubstr(fmt::format("https://127.0.0.1:{}/push/", http_port_)));
    EXPECT_THAT(curl(push, {"--cacert", first.certificate}), EndsWith(" 200"));
    EXPECT_THAT(curl(url("hook", "hook::door"),
                     {"--cacert", first.certificate, "-d", R"x({"state": "bad"})x"}),
                EndsWith(" 200"));
    EXPECT_THAT(curl(push), HasSubstr(" 000")) << "nobody vouches for it";
    EXPECT_THAT(curl("http" + push.substr(5)), HasSubstr(" 000")) << "no token in the open";
    EXPECT_EQ(field("alive::door", "state"), "up");
    EXPECT_THAT(server_->command({"messages"}).output, HasSubstr("alarm critical: it is bad"));

    // A new certificate in the same files is shown after a restart.
    server_->stop();
    const auto second = net::test::make_self_signed(folder_, "second", 30);
    std::filesystem::rename(second.certificate, first.certificate);
    std::filesystem::rename(second.key, first.key);
    ASSERT_NO_FATAL_FAILURE(server_->start());
    EXPECT_THAT(curl(push, {"--cacert", first.certificate}), EndsWith(" 200"));
}

TEST_F(Inbound, TokensAreNowhereButInTheirAddress) {
    ASSERT_NO_FATAL_FAILURE(
        start(std::string(kDoor) + R"(
targets:
  "hook::door": {credentials: planted}
credentials:
  planted: {token: "${PLANTED_TOKEN}"}
)",
              {{"PLANTED_TOKEN", "planted-token-31415926"}, {"POLLUX_LOG_LEVEL", "debug"}}));
    const std::string push = url("push", "alive::door");
    const std::string token = push.substr(push.rfind('/') + 1);
    EXPECT_EQ(url("hook", "hook::door"),
              fmt::format("http://127.0.0.1:{}/hooks/planted-token-31415926", http_port_));
    EXPECT_THAT(curl(push), EndsWith(" 200"));
    EXPECT_THAT(curl(url("hook", "hook::door") + "/x?y=z", {"-d", "{}"}), EndsWith(" 200"));
    EXPECT_THAT(curl(url("hook", "hook::door"), {"-d", "no json"}), EndsWith(" 400"));
    EXPECT_THAT(curl(push + "wrong"), EndsWith(" 404"));
    const CommandResult wrong = server_->command({"push", "url", "traps::door"});
    EXPECT_EQ(wrong.code, 1);
    for (const std::string& text :
         {server_->log(), server_->metrics().text(), server_->command({"export"}).output,
          server_->command({"messages", "-o", "json"}).output,
          server_->command({"inbound", "-o", "json"}).output,
          server_->command({"explain", "alive::door", "--json"}).output,
          server_->command({"settings", "show"}).output}) {
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find(token), std::string::npos) << text;
        EXPECT_EQ(text.find("planted-token"), std::string::npos) << text;
    }
    server_->stop();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(server_->data())) {
        if (!entry.is_regular_file()) continue;
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in),
                                std::istreambuf_iterator<char>()};
        EXPECT_EQ(bytes.find(token), std::string::npos) << entry.path();
        EXPECT_EQ(bytes.find("planted-token"), std::string::npos) << entry.path();
    }
}

TEST_F(Inbound, AFloodOfWebhooksIsStoredAndPollingGoesOn) {
    const auto fleet = lab::FleetServer::start({.snmp = 0, .http = 20}).value();
    std::string text = addon_settings("interval: 2s") + std::string(kDoor);
    for (std::size_t i = 0; i < 20; ++i) text += json_device(*fleet, i);
    ASSERT_NO_FATAL_FAILURE(
        start(text, {{"POLLUX_INBOUND_SOURCE_RATE", "100000"}, {"POLLUX_INBOUND_RATE", "100000"}}));
    ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    const double before = server_->metrics().sum("pulse_monitor_poll_total");
    const std::string hook = url("hook", "hook::door");
    const CommandResult flood =
        run({"curl", "-s", "-Z", "--parallel-max", "50", "-o", "/dev/null", "-w", "%{http_code}\n",
             "-d", R"x({"state": "bad"})x", hook + "/[1-5000]"});
    EXPECT_EQ(flood.code, 0) << flood.output.substr(0, 2000);
    std::size_t good = 0;
    for (std::size_t at = flood.output.find("200\n"); at != std::string::npos;
         at = flood.output.find("200\n", at + 4)) {
        ++good;
    }
    EXPECT_EQ(good, 5000u);
    const MetricsPage page = server_->metrics();
    EXPECT_EQ(
        page.value("pollux_inbound_messages_total", {{"kind", "webhook"}, {"result", "stored"}}),
        5000);
    EXPECT_GT(page.sum("pulse_monitor_poll_total"), before) << "polling went on meanwhile";
    EXPECT_EQ(page.sum("pulse_monitor_poll_total", {{"result", "error"}}), 0);
    const CommandResult events = server_->command({"messages", "--limit", "1", "-o", "json"});
    EXPECT_THAT(events.output, HasSubstr("\"id\":5000"));
}

TEST_F(Inbound, ATrapLetsItsDeviceBePolledAtOnce) {
    const auto fleet = lab::FleetServer::start({.snmp = 0, .http = 1}).value();
    const lab::Device& device = fleet->fleet().http()[0];
    ASSERT_NO_FATAL_FAILURE(start(
        fmt::format("devices:\n  lamp:\n    addresses: [{}, 127.0.0.1, \"::1\"]\n    port: {}\n"
                    "    addons: [{{name: http-json, interval: 1h, params: {{path: "
                    "/as/json/status}}}}, {{name: "
                    "traps, confirm: true}}]\n",
                    lab::address_text(device.address()), fleet->ports().http)));
    ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    const auto polls = [&] { return server_->metrics().sum("pulse_monitor_poll_total"); };
    const double before = polls();
    EXPECT_THAT(server_->command({"explain", "traps::lamp"}).output, HasSubstr("waits for traps"));
    const CommandResult sent =
        run({"snmpinform", "-m", "", "-v2c", "-c", "public", "-t", "30",
             fmt::format("udp6:[::1]:{}", trap_port_), "", "1.3.6.1.6.3.1.1.5.3"});
    EXPECT_EQ(sent.code, 0) << sent.output;
    EXPECT_TRUE(eventually([&] { return polls() > before; })) << server_->log();
    EXPECT_EQ(server_->metrics().sum("pollux_inbound_confirms_total", {{"result", "asked"}}), 1);
    EXPECT_TRUE(eventually(
        [&] { return !lines_with(server_->lines(), "signal raised", "traps::lamp").empty(); }));
}

TEST_F(Inbound, UsersOfVersion3ComeFromTheFleet) {
    ASSERT_NO_FATAL_FAILURE(start(R"(
devices:
  door: {address: 127.0.0.1, addons: [{name: traps, credentials: trapper}]}
credentials:
  trapper:
    username: trapper
    snmp_auth: sha256
    snmp_auth_password: "${AUTH}"
    snmp_privacy: aes256
    snmp_privacy_password: "${PRIVACY}"
)",
                                  {{"AUTH", "auth-pass-word"}, {"PRIVACY", "priv-pass-word"}}));
    const std::vector<std::string> to = {fmt::format("udp:127.0.0.1:{}", trap_port_), "",
                                         "1.3.6.1.6.3.1.1.5.3"};
    const auto send = [&](std::vector<std::string> command) {
        command.insert(command.end(), to.begin(), to.end());
        return run(command);
    };
    const CommandResult good =
        send({"snmpinform", "-m", "", "-v3", "-u", "trapper", "-l", "authPriv", "-a", "SHA-256",
              "-A", "auth-pass-word", "-x", "AES-256", "-X", "priv-pass-word", "-t", "30"});
    EXPECT_EQ(good.code, 0) << good.output << server_->log();
    const CommandResult wrong = send({"snmpinform", "-m",      "",   "-v3",
                                      "-u",         "trapper", "-l", "authPriv",
                                      "-a",         "SHA-256", "-A", "another-password",
                                      "-x",         "AES-256", "-X", "priv-pass-word",
                                      "-t",         "1",       "-r", "0"});
    EXPECT_NE(wrong.code, 0);
    EXPECT_EQ(send({"snmptrap", "-m", "", "-v2c", "-c", "public"}).code, 0);
    EXPECT_TRUE(eventually([&] {
        return server_->metrics().sum("pollux_inbound_messages_total", {{"result", "refused"}}) >=
               2;
    }));
    EXPECT_EQ(server_->metrics().sum("pollux_inbound_messages_total", {{"result", "stored"}}), 1);
    EXPECT_THAT(server_->command({"inbound"}).output, HasSubstr("unknown senders"));
}

TEST_F(Inbound, ATargetThatNothingListensForSaysSo) {
    server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", kDoor));
    server_->use_addons(folder_.file("addons"));
    ASSERT_NO_FATAL_FAILURE(server_->start());
    EXPECT_THAT(server_->command({"explain", "alive::door"}).output,
                HasSubstr("set POLLUX_INBOUND_LISTEN"));
    const CommandResult url = server_->command({"push", "url", "alive::door"});
    EXPECT_EQ(url.code, 1);
    EXPECT_THAT(url.output, HasSubstr("set POLLUX_INBOUND_LISTEN"));
    EXPECT_THAT(server_->log(), HasSubstr("set POLLUX_TRAP_LISTEN"));
    EXPECT_THAT(server_->command({"inbound"}).output, HasSubstr("off"));
}

}  // namespace
}  // namespace pollux::live
