// Devices that do what devices should not, through the whole engine: each ends in time with a name
// for what it did, and the others do not notice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "lab/fleet_server.hpp"
#include "lab/http_pages.hpp"
#include "net/gzip.hpp"
#include "net/test_nginx.hpp"
#include "protocol/ssh/test_sshd.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {
namespace {

using net::test::free_port;
using net::test::TempDir;
using testing::Contains;

constexpr std::size_t kBombBytes = 256U << 20U;

// Long intervals: after the first round there is nothing under way but the confirmations.
constexpr const char* kSettings = "interval: {min: 2m, base: 2m, max: 2m}, timeout: 3s";

// What is healthy here logs in for the first time, on a loaded machine: its time limit is long.
constexpr const char* kPatientSettings = "interval: {min: 2m, base: 2m, max: 2m}";

// What a target may say about its device: one of these codes.
struct Expected {
    std::string key;
    std::vector<std::string> codes;
};

class Hostile : public testing::Test {
  protected:
    // The addresses of the fleet's devices with what each of them plays.
    std::string play(lab::FleetServer& fleet) const {
        using lab::FaultKind;
        const std::pair<const char*, FaultKind> faults[] = {
            {"web-00004", FaultKind::kBlackHole}, {"web-00005", FaultKind::kDown},
            {"sw-00001", FaultKind::kWalkLoop},   {"sw-00002", FaultKind::kWalkEndless},
            {"sw-00003", FaultKind::kBlackHole},  {"sw-00004", FaultKind::kWrongId},
            {"sw-00005", FaultKind::kGarbage},    {"sw-00006", FaultKind::kWrongAddress},
            {"sw-00007", FaultKind::kServerError}};
        for (const auto& [name, fault] : faults) EXPECT_TRUE(fleet.set_fault(name, fault));
        std::string text;
        const char* paths[] = {"/as/drip/status", "/as/huge/status", "/as/garbage/status"};
        for (std::size_t i = 0; i < 6; ++i) {
            text += json_device(fleet, i, i < 3 ? paths[i] : "/as/json/status");
        }
        for (std::size_t i = 0; i < 8; ++i) text += snmp_device(fleet, i, "snmp-interfaces");
        return text;
    }

    static void expect_named(const PolluxServer& server, const std::vector<Expected>& expected) {
        for (const auto& [key, codes] : expected) {
            std::string code;
            EXPECT_TRUE(eventually([&] {
                return !(code = server.task_field(key, "code")).empty();
            })) << key
                << "\n"
                << server.log();
            EXPECT_THAT(codes, Contains(code)) << key << ": " << server.task_field(key, "error");
            EXPECT_NE(server.task_field(key, "error"), "") << key;
            // To the driver an answer is an answer, whatever stands in it.
            const std::string asked = code == "read.unreadable" ? "ok" : code;
            EXPECT_GE(server.metrics().sum("pollux_driver_asks_total", {{"code", asked}}), 1)
                << code;
        }
    }

    // Everybody kept the deadline: nobody had to be cut off by the engine.
    static void expect_all_slots_free(const PolluxServer& server) {
        EXPECT_EQ(server.metrics().value("pollux_runs_ended_total", {{"how", "expired"}}), 0);
        EXPECT_TRUE(eventually([&] {
            return server.metrics().sum("pollux_driver_in_flight") == 0;
        })) << server.log();
    }

    const std::vector<Expected> expected_ = {
        {"http-json::web-00001", {"http.timeout"}},
        {"http-json::web-00002", {"http.body_too_large"}},
        // Noise in the place of a document, or of HTTP itself.
        {"http-json::web-00003", {"http.protocol", "read.unreadable", "http.connection_lost"}},
        {"http-json::web-00004", {"http.timeout"}},
        {"http-json::web-00005", {"http.connection_lost", "http.connect_unreachable"}},
        {"http-json::bomb", {"http.body_too_large"}},
        {"http-json::noise", {"read.unreadable"}},
        {"snmp-interfaces::sw-00001", {"snmp.not_increasing"}},
        {"snmp-interfaces::sw-00002", {"snmp.too_many_rows", "snmp.too_many_requests"}},
        {"snmp-interfaces::sw-00003", {"snmp.timeout"}},
        {"snmp-interfaces::sw-00004", {"snmp.timeout"}},
        {"snmp-interfaces::sw-00005", {"snmp.malformed", "snmp.not_snmp", "snmp.timeout"}},
        {"snmp-interfaces::sw-00006", {"snmp.timeout"}},
        {"snmp-interfaces::sw-00007", {"snmp.error_status"}},
    };
    TempDir folder_;
};

TEST_F(Hostile, EachIsCutOffAndNamedWhileOthersStayFresh) {
    auto fleet = lab::FleetServer::start({.snmp = 8, .http = 6}).value();
    const std::uint16_t web_port = free_port();
    folder_.write("www/bomb.json", net::gzip(std::string(kBombBytes, ' ')));
    net::test::Nginx nginx(folder_,
                           fmt::format("server {{ listen 127.0.0.1:{}; root {};\n"
                                       "location = /bomb.json {{ add_header Content-Encoding gzip; "
                                       "}} }}\n",
                                       web_port, folder_.file("www")),
                           web_port);
    folder_.write("www/noise.json", "{\"status\": \xff\xfe");
    std::string text = addon_settings(kSettings) + "devices:\n" + play(*fleet);
    for (const char* file : {"bomb", "noise"}) {
        text += fmt::format(
            "  {}: {{address: 127.0.0.1, port: {}, addons: [{{name: http-json, params: "
            "{{path: /{}.json}}}}]}}\n",
            file, web_port, file);
    }
    PolluxServer server(folder_, folder_.write("fleet.yaml", text));
    ASSERT_NO_FATAL_FAILURE(server.start());

    expect_named(server, expected_);
    for (const char* healthy : {"http-json::web-00006", "snmp-interfaces::sw-00008"}) {
        EXPECT_NE(server.task_field(healthy, "age"), "") << healthy << "\n" << server.log();
        EXPECT_EQ(server.task_field(healthy, "failures"), "0") << healthy;
    }
    expect_all_slots_free(server);
}

// A login that never leads anywhere, a host that is not who it was, and programs of this machine
// that neither stop when they are told to nor know an end.
TEST_F(Hostile, SshHostsAndPluginsAreCutOffAndNamedWhileOthersStayFresh) {
    using protocol::ssh::test::make_key;
    using protocol::ssh::test::Sshd;
    make_key(folder_, "user_key", "ed25519");
    make_key(folder_, "earlier_key", "ed25519");
    folder_.write("authorized_keys", folder_.read("user_key.pub"));
    const Sshd well(folder_);
    // Its session stops after the login, as a host that hangs does, and ends with this test.
    const std::string hold = folder_.write("hold", "");
    folder_.write("stall", "kill -STOP $PPID\nwhile [ -e " + hold +
                               " ]; do sleep 0.2; done\nkill -KILL $PPID\n");
    const Sshd stalls(folder_, "ForceCommand /bin/sh " + folder_.file("stall") + "\n");
    const Sshd changed(folder_);
    const std::string earlier = folder_.read("earlier_key.pub");
    const std::string recorded =
        fmt::format("@cert-authority *.lab {}[127.0.0.1]:{} {}", earlier, changed.port(), earlier);
    folder_.write("data/ssh_known_hosts", recorded);
    const auto plugin = [&](const std::string& name, const std::string& text) {
        const std::string path = folder_.write("plugins/" + name, "#!/bin/sh\n" + text);
        ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    };
    plugin("well", "echo 'OK | load=1'\n");
    plugin("deaf", "trap '' TERM INT HUP\necho $$ >> " + folder_.file("deaf") +
                       "\nwhile :; do sleep 1; done\n");
    plugin("flood", "head -c 67108864 /dev/zero\n");

    std::string text = fmt::format(
        "credentials: {{root: {{username: root, ssh_key: {}}}}}\naddons:\n  linux-ssh: {{{}}}\n  "
        "nagios-plugin: {{{}}}\ndevices:\n",
        folder_.file("user_key"), kPatientSettings, kPatientSettings);
    for (const auto& [name, port, timeout] : {std::tuple{"well", well.port(), "1m"},
                                              {"stalls", stalls.port(), "10s"},
                                              {"changed", changed.port(), "1m"}}) {
        text += fmt::format(
            "  {}: {{address: 127.0.0.1, port: {}, credentials: root, timeout: {}, addons: "
            "[linux-ssh]}}\n",
            name, port, timeout);
    }
    for (const auto& [name, timeout] : {std::pair{"well", "1m"}, {"deaf", "3s"}, {"flood", "1m"}}) {
        text += fmt::format(
            "  run-{}: {{address: 127.0.0.1, addons: [{{name: nagios-plugin, timeout: {}, params: "
            "{{plugin: {}, host_option: \"\"}}}}]}}\n",
            name, timeout, name);
    }
    PolluxServer server(folder_, folder_.write("fleet.yaml", text),
                        {{"POLLUX_PLUGIN_FOLDERS", folder_.file("plugins")}});
    ASSERT_NO_FATAL_FAILURE(server.start());
    expect_named(server, {{"linux-ssh::stalls", {"ssh.timeout"}},
                          {"linux-ssh::changed", {"ssh.host_key_changed"}},
                          {"nagios-plugin::run-deaf", {"exec.timeout"}},
                          {"nagios-plugin::run-flood", {"exec.output_too_large"}}});
    for (const char* healthy : {"linux-ssh::well", "nagios-plugin::run-well"}) {
        EXPECT_TRUE(eventually([&] { return !server.task_field(healthy, "age").empty(); }))
            << healthy << "\n"
            << server.log();
        EXPECT_EQ(server.task_field(healthy, "failures"), "0") << healthy;
    }
    // The stalled one was let in, the changed one was shown nothing, and its key is still that one.
    EXPECT_GE(stalls.logins(), 1U);
    EXPECT_EQ(changed.logins(), 0U);
    EXPECT_THAT(folder_.read("data/ssh_known_hosts"), testing::StartsWith(recorded));
    EXPECT_THAT(server.log(), testing::HasSubstr("lines with @cert-authority"));
    std::ifstream started(folder_.file("deaf"));
    pid_t deaf = 0;
    ASSERT_TRUE(started >> deaf);
    EXPECT_TRUE(eventually([&] { return kill(deaf, 0) != 0; })) << "the plugin lives on";
    expect_all_slots_free(server);
    // Nothing is left behind, whatever was under way at the end.
    EXPECT_EQ(server.stop(), 0) << server.log();
    started.clear();
    while (started >> deaf) EXPECT_NE(kill(deaf, 0), 0) << "a plugin outlives the server";
}

// 200 targets, half of them without an answer.
TEST_F(Hostile, HalfOfTheFleetInABlackHoleDoesNotStarveTheOtherHalf) {
    constexpr std::uint32_t kEach = 100;
    auto fleet = lab::FleetServer::start({.snmp = kEach, .http = kEach}).value();
    std::string text =
        addon_settings("interval: {min: 10s, base: 10s, max: 10s}, timeout: 4s") + "devices:\n";
    std::vector<std::string> healthy;
    std::vector<std::string> silent;
    for (std::size_t i = 0; i < kEach; ++i) {
        text += json_device(*fleet, i);
        text += snmp_device(*fleet, i, "snmp-system");
        const std::string web = fleet->fleet().http()[i].name();
        const std::string switch_name = fleet->fleet().snmp()[i].name();
        auto& keys = i % 2 == 0 ? healthy : silent;
        keys.push_back("http-json::" + web);
        keys.push_back("snmp-system::" + switch_name);
        if (i % 2 == 0) continue;
        ASSERT_TRUE(fleet->set_fault(web, lab::FaultKind::kBlackHole));
        ASSERT_TRUE(fleet->set_fault(switch_name, lab::FaultKind::kBlackHole));
    }
    PolluxServer server(folder_, folder_.write("fleet.yaml", text));
    ASSERT_NO_FATAL_FAILURE(server.start());
    const auto polls = [](const MetricsPage& page, const std::string& key, const char* result) {
        Labels labels = target_labels(key);
        labels["result"] = result;
        return page.value("pulse_monitor_poll_total", labels).value_or(0);
    };
    const auto range = [&](const MetricsPage& page, const std::vector<std::string>& keys,
                           const char* result) {
        std::pair<double, double> least_and_most{1e9, 0};
        for (const std::string& key : keys) {
            const double count = polls(page, key, result);
            least_and_most = {std::min(least_and_most.first, count),
                              std::max(least_and_most.second, count)};
        }
        return least_and_most;
    };
    // By the time the most polled healthy one had six polls, nobody had far less.
    ASSERT_TRUE(eventually([&] { return range(server.metrics(), healthy, "success").second >= 6; }))
        << server.log();
    const MetricsPage page = server.metrics();
    EXPECT_GE(range(page, healthy, "success").first, 4);
    EXPECT_EQ(range(page, healthy, "error").second, 0);
    EXPECT_GE(range(page, silent, "error").first, 2) << "a silent one was forgotten";
    EXPECT_EQ(range(page, silent, "success").second, 0);
    EXPECT_EQ(page.value("pollux_runs_ended_total", {{"how", "expired"}}), 0);
}

}  // namespace
}  // namespace pollux::live
