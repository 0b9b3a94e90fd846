// The commands as people type them: `poll` against simulated devices, `explain` and `apply` against
// a server.
#include "app/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command_test_support.hpp"
#include "app/control_test_support.hpp"
#include "app/fleet_access.hpp"
#include "app/fleet_workspace.hpp"
#include "lab/fleet_file.hpp"
#include "lab/fleet_server.hpp"
#include "protocol/snmp/test_snmpd.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;

Printed run(const std::vector<std::string>& arguments, config::Environment environment = {}) {
    FleetPorts ports = real_fleet_ports();
    ports.environment = std::move(environment);
    CLI::App app;
    Printed printed;
    add_poll(app, printed.status, ports);
    add_apply(app, printed.status, ports);
    add_explain(app, printed.status);
    add_history(app, printed.status);
    printed.run(app, arguments);
    return printed;
}

class PollCommand : public testing::Test {
  protected:
    void SetUp() override {
        auto started = lab::FleetServer::start({.snmp = 2, .http = 12});
        ASSERT_TRUE(started) << started.error().message;
        lab_ = std::move(*started);
        fleet_ = folder_.file("fleet.yaml");
        ASSERT_TRUE(lab::write_fleet_file(lab_->fleet(), lab_->ports(), fleet_));
    }

    net::test::TempDir folder_;
    std::unique_ptr<lab::FleetServer> lab_;
    std::string fleet_;
};

TEST_F(PollCommand, PollsATargetOfAFleetFile) {
    const std::string device = lab_->fleet().snmp()[0].name();
    const Printed printed = run({"poll", "snmp-system::" + device, "--fleet", fleet_});
    EXPECT_EQ(printed.status, 0) << printed.out << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("snmp-system::" + device + ": ok\n"));
    EXPECT_THAT(printed.out, HasSubstr("uptime"));
}

TEST_F(PollCommand, EveryHttpDeviceLetsItInAndNoSecretIsShown) {
    const std::string password = folder_.read("fleet.yaml.password");
    const std::string token = folder_.read("fleet.yaml.token");
    for (const lab::Device& device : lab_->fleet().http()) {
        const bool json = device.personality() != lab::Personality::kXml;
        const std::string key = (json ? "http-json::" : "http-status::") + device.name();
        const Printed printed = run({"poll", key, "--fleet", fleet_, "--trace"});
        EXPECT_EQ(printed.status, 0) << device.name() << printed.out << printed.err;
        EXPECT_THAT(printed.out, HasSubstr("digest of meaning"));
        for (const std::string& secret : {password, token}) {
            const std::string line = secret.substr(0, secret.find('\n'));
            ASSERT_NE(line, "");
            EXPECT_THAT(printed.out, Not(HasSubstr(line)));
        }
    }
}

TEST_F(PollCommand, PollsADeviceThatIsInNoFleet) {
    const lab::Device& device = lab_->fleet().snmp()[1];
    const Printed printed =
        run({"poll", "snmp-system", "--host", lab::address_text(device.address()), "--port",
             std::to_string(lab_->ports().snmp), "--community", "${COMMUNITY}"},
            {{"COMMUNITY", std::string(device.community())}});
    EXPECT_EQ(printed.status, 0) << printed.out << printed.err;
    EXPECT_THAT(printed.out, HasSubstr(": ok\n"));
}

TEST_F(PollCommand, SaysWhyADeviceDoesNotAnswer) {
    const std::string device = lab_->fleet().http()[0].name();
    ASSERT_TRUE(lab_->set_fault(device, lab::FaultKind::kDown));
    const Printed printed = run({"poll", "http-status::" + device, "--fleet", fleet_});
    EXPECT_EQ(printed.status, 2) << printed.out;
    EXPECT_THAT(printed.out, HasSubstr("transient (http."));
}

TEST_F(PollCommand, SaysWhatIsWrongWithTheCommand) {
    const auto refused = [&](const std::vector<std::string>& arguments) {
        const Printed printed = run(arguments);
        EXPECT_EQ(printed.status, 1) << printed.out;
        EXPECT_EQ(printed.out, "");
        return printed.err;
    };
    EXPECT_THAT(refused({"poll", "http-json::x"}), HasSubstr("--fleet FILE"));
    EXPECT_THAT(refused({"poll", "http-json::nobody", "--fleet", fleet_}),
                HasSubstr("no target http-json::nobody"));
    EXPECT_THAT(refused({"poll", "htpp-json", "--host", "127.0.0.1"}), HasSubstr("htpp-json"));
    EXPECT_THAT(refused({"poll", "http-json", "--host", "127.0.0.1", "--param", "x"}),
                HasSubstr("name=value"));
    EXPECT_THAT(refused({"poll", "snmp-system", "--host", "127.0.0.1", "--community", "${NONE}"}),
                HasSubstr("NONE"));
}

TEST(ExplainCommand, ShowsTheGatesOfATarget) {
    const test::RunningServer server;
    const net::test::TempDir folder;
    const std::string fleet = folder.write(
        "fleet.yaml", "devices: {hall: {address: 127.9.9.1, port: 9, addons: [http-status]}}\n");
    const Printed applied = run({"apply", fleet, "--data", server.data()});
    EXPECT_EQ(applied.status, 0) << applied.err;
    EXPECT_THAT(applied.out, HasSubstr("added, 0 changed, 0 removed\n"));

    const Printed printed = run({"explain", "http-status::hall", "--data", server.data()});
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, testing::StartsWith("http-status::hall\n"));
    for (const char* word : {"enabled", "due", "breaker", "next due", "interval", "failures"}) {
        EXPECT_THAT(printed.out, HasSubstr(word));
    }
    const Printed json = run({"explain", "http-status::hall", "--json", "--data", server.data()});
    EXPECT_EQ(json.status, 0);
    EXPECT_THAT(json.out, HasSubstr("\"gates\""));
    const Printed same =
        run({"explain", "http-status::hall", "-o", "json", "--data", server.data()});
    EXPECT_EQ(same.status, 0) << same.err;
    EXPECT_THAT(same.out, HasSubstr("\"gates\""));
    const Printed yaml =
        run({"explain", "http-status::hall", "-o", "yaml", "--data", server.data()});
    EXPECT_THAT(yaml.out, HasSubstr("gates:\n")) << yaml.err;
    const Printed unknown = run({"explain", "http-status::nobody", "--data", server.data()});
    EXPECT_EQ(unknown.status, 1);
    EXPECT_THAT(unknown.err, HasSubstr("nobody"));
    const Printed alone = run({"explain", "x", "--data", folder.path()});
    EXPECT_EQ(alone.status, 1);
    EXPECT_THAT(alone.err, HasSubstr("pollux serve"));
}

// With the parameters that the addons of the binary take.
TEST(CheckCommand, TheExamplesAreGood) {
    for (const char* folder : {"examples/starter", "examples/campus", "examples/alerting"}) {
        FleetArguments arguments;
        arguments.paths = {folder};
        const CommandOutput checked = run_check(arguments, real_fleet_ports());
        EXPECT_EQ(checked.status, 0) << folder << "\n" << checked.out << checked.err;
    }
}

TEST(ApplyCommand, WorksWithoutAServer) {
    const net::test::TempDir folder;
    const std::string good = folder.write(
        "good.yaml", "devices: {hall: {address: 127.9.9.1, port: 9, addons: [http-status]}}\n");
    const std::string data = folder.file("data");
    EXPECT_EQ(run({"apply", good, "--data", data}).status, 0);
    const Printed again = run({"apply", good, "--data", data});
    EXPECT_THAT(again.out, HasSubstr("0 added, 0 changed, 0 removed\n")) << again.err;
    const Printed bad =
        run({"apply", folder.write("bad.yaml", "devices: {hall: {adons: [x]}}\n"), "--data", data});
    EXPECT_EQ(bad.status, 1);
    EXPECT_THAT(bad.err, HasSubstr("bad.yaml:1"));
    const auto objects = real_fleet_ports().objects(data);
    ASSERT_TRUE(objects) << objects.error().message;
    EXPECT_FALSE(objects->empty());
}

std::string line_of(const std::string& text, std::string_view what) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST_F(PollCommand, KnowsWhatTheServerLearnedOfAnSnmpDevice) {
    const std::string key = "snmp-interfaces::sw-00001";
    const Printed alone = run({"poll", key, "--fleet", fleet_, "--trace"});
    EXPECT_EQ(alone.status, 0) << alone.out << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("learned of SNMP devices: nothing, as of a new device"));
    const std::string fresh = line_of(alone.out, "profile: ");
    ASSERT_NE(fresh, "");
    test::RunningServer server;
    const std::string often =
        folder_.write("often.yaml", "addons: {snmp-interfaces: {interval: 1s}}\n");
    const Printed applied = run({"apply", fleet_, often, "--data", server.data()});
    ASSERT_EQ(applied.status, 0) << applied.err;
    // It is asked until it has learned something.
    Printed known;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
        known = run({"poll", key, "--data", server.data(), "--trace"});
        EXPECT_EQ(known.status, 0) << known.out << known.err;
    } while (line_of(known.out, "profile: ") == fresh &&
             std::chrono::steady_clock::now() < give_up);
    EXPECT_THAT(known.out, HasSubstr("from the running server of " + server.data()));
    EXPECT_NE(line_of(known.out, "profile: "), fresh);
    server.stop();
    const Printed stored = run({"poll", key, "--data", server.data(), "--trace"});
    EXPECT_EQ(stored.status, 0) << stored.err;
    EXPECT_THAT(stored.out, HasSubstr("what is stored in " + server.data()));
    EXPECT_NE(line_of(stored.out, "profile: "), fresh);
    const Printed quiet = run({"poll", key, "--data", server.data()});
    EXPECT_THAT(quiet.out, Not(HasSubstr("learned of SNMP")));
}

// The settings and the addons of the folder hold for a poll by hand too.
TEST_F(PollCommand, TakesSettingsAndAddonsOfTheDataFolder) {
    const std::string data = folder_.file("data");
    const std::string own = folder_.write("data/addons/mine/manifest.yaml",
                                          "schema: pollux/1\nname: mine\nversion: 1.0.0\n"
                                          "title: Mine\nprotocol: tcp\nmetrics:\n"
                                          "  - {name: latency, type: gauge, fact: latency}\n");
    const Printed refused =
        run({"poll", "mine", "--host", "127.0.0.1", "--port", "1", "--data", data});
    EXPECT_THAT(refused.out + refused.err, HasSubstr("127.0.0.1")) << own;
    EXPECT_THAT(refused.err, Not(HasSubstr("no addon")));
    folder_.write("data/system.json", R"({"egressDeny": ["127.0.0.0/8"]})");
    const Printed denied = run({"poll", "http-status", "--host", "127.0.0.1", "--data", data});
    EXPECT_EQ(denied.status, 2) << denied.out << denied.err;
    EXPECT_THAT(denied.out, HasSubstr("http.egress_denied"));
}

TEST_F(PollCommand, AsksADeviceThatIsInNoFleetBySnmpV3) {
    const protocol::snmp::test::Snmpd agent(
        "createUser pollux SHA-256 auth-pass-word AES-256 priv-pass-word\nrouser pollux priv\n"
        "createUser open\nrouser open noauth\n");
    const config::Environment secrets = {
        {"AUTH", "auth-pass-word"}, {"PRIVACY", "priv-pass-word"}, {"WRONG", "another-password"}};
    const auto poll = [&](std::vector<std::string> more) {
        std::vector<std::string> command = {
            "poll", "snmp-system", "--host", "127.0.0.1", "--port", std::to_string(agent.port())};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, secrets);
    };
    const std::vector<std::string> full = {"--username",
                                           "pollux",
                                           "--snmp-auth",
                                           "sha256",
                                           "--snmp-auth-password",
                                           "${AUTH}",
                                           "--snmp-privacy",
                                           "aes256",
                                           "--snmp-privacy-password",
                                           "${PRIVACY}"};
    const Printed good = poll(full);
    EXPECT_EQ(good.status, 0) << good.out << good.err;
    EXPECT_THAT(good.out, HasSubstr("a room"));
    std::vector<std::string> wrong = full;
    wrong[5] = "${WRONG}";
    EXPECT_THAT(poll(wrong).out, HasSubstr("snmp.wrong_digest"));
    const Printed unsafe = poll({"--username", "open", "--snmp-version", "3"});
    EXPECT_EQ(unsafe.status, 0) << unsafe.out << unsafe.err;
    EXPECT_THAT(poll({"--username", "pollux", "--snmp-auth", "sha256"}).err,
                HasSubstr("--snmp-auth needs --snmp-auth-password"));
}

TEST_F(PollCommand, HistoryShowsWhatAServerMeasured) {
    const test::RunningServer server;
    const Printed applied = run({"apply", fleet_, "--data", server.data()});
    ASSERT_EQ(applied.status, 0) << applied.err;
    const std::string key = "snmp-system::sw-00001";
    const auto list = [&] { return run({"history", key, "--data", server.data()}); };
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (list().out.find("uptime") == std::string::npos &&
           std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_THAT(list().out, HasSubstr("seconds"));
    const Printed table = run({"history", key, "uptime", "--data", server.data()});
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("uptime seconds"));
    const Printed csv =
        run({"history", key, "uptime", "--step", "0", "-o", "csv", "--data", server.data()});
    EXPECT_THAT(csv.out, HasSubstr("metric,row,time,count,min,mean,max,last\nuptime,,2"));
    const Printed json = run({"history", key, "uptime", "-o", "json", "--data", server.data()});
    EXPECT_THAT(json.out, HasSubstr("\"metric\":\"uptime\""));

    EXPECT_THAT(run({"history", key, "warmth", "--data", server.data()}).err, HasSubstr("uptime"));
    EXPECT_THAT(run({"history", "snmp-system::nobody", "--data", server.data()}).err,
                HasSubstr("no target"));
    for (const char* option : {"--last", "--from", "--to", "--step"}) {
        const Printed bad =
            run({"history", key, "uptime", option, "soon", "--data", server.data()});
        EXPECT_EQ(bad.status, 1);
        EXPECT_THAT(bad.err, HasSubstr(option));
    }
    EXPECT_THAT(run({"history", key, "--from", "2999-01-01", "--data", server.data()}).err,
                HasSubstr("must lie before"));
}

}  // namespace
}  // namespace pollux::app
