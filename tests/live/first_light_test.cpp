// From an empty data folder to fresh values of simulated and real devices.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "lab/fleet_file.hpp"
#include "lab/fleet_server.hpp"
#include "net/test_nginx.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/web_get.hpp"

namespace pollux::live {
namespace {

using net::test::free_port;
using net::test::Process;
using net::test::run_tool;
using net::test::TempDir;

constexpr const char* kIfName = ".1.3.6.1.2.1.31.1.1.1.1";
constexpr const char* kIfAdminStatus = ".1.3.6.1.2.1.2.2.1.7";

bool all_fresh(const MetricsPage& page) {
    return page.sum("pollux_targets", {{"enabled", "true"}}) > 0 &&
           page.sum("pollux_targets_never_seen") == 0 && page.sum("pollux_targets_over_bound") == 0;
}

// Values of a column as net-snmp's own tool reads them, in the order of the rows.
std::vector<std::string> snmp_column(const TempDir& folder, const std::string& peer,
                                     const std::string& community, const std::string& column) {
    const std::string text = run_tool(
        {"snmpwalk", "-v2c", "-c", community, "-m", "", "-t", "30", "-Onvq", peer, column}, folder);
    std::vector<std::string> values;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        std::string value = text.substr(begin, end - begin);
        std::erase(value, '"');
        values.push_back(std::move(value));
        begin = end + 1;
    }
    return values;
}

TEST(FirstLight, EverySimulatedDeviceBecomesFreshAndShowsWhatItSays) {
    TempDir folder;
    auto fleet = lab::FleetServer::start({.snmp = 30, .http = 20}).value();
    const std::string file = folder.file("fleet.yaml");
    ASSERT_TRUE(lab::write_fleet_file(fleet->fleet(), fleet->ports(), file));
    PolluxServer server(folder, file);
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_TRUE(eventually([&] { return all_fresh(server.metrics()); })) << server.log();
    const MetricsPage own = server.metrics();
    EXPECT_EQ(own.sum("pollux_targets"), own.sum("pollux_targets", {{"enabled", "true"}}));
    EXPECT_EQ(own.sum("pollux_sweep_repairs_total"), 0);

    const MetricsPage page = server.device_metrics();
    const lab::Device& device = fleet->fleet().snmp()[3];
    const std::string peer =
        fmt::format("{}:{}", lab::address_text(device.address()), fleet->ports().snmp);
    const std::string community(device.community());
    const auto names = snmp_column(folder, peer, community, kIfName);
    const auto states = snmp_column(folder, peer, community, kIfAdminStatus);
    ASSERT_EQ(names.size(), device.interfaces());
    ASSERT_EQ(states.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(page.value("pollux_device_admin_status",
                             {{"device", device.name()}, {"row", names[i]}}),
                  std::stod(states[i]))
            << names[i];
    }
    // What runs on meanwhile is near, what stands still is equal.
    const std::string uptime = run_tool({"snmpget", "-v2c", "-c", community, "-m", "", "-t", "30",
                                         "-Onvqt", peer, ".1.3.6.1.2.1.1.3.0"},
                                        folder);
    EXPECT_NEAR(page.value("pollux_device_uptime_seconds", {{"device", device.name()}}).value_or(0),
                std::stod(uptime) / 100, 300);
}

// What a device of the fleet says as JSON, read beside Pollux.
document::Node status_of(const lab::FleetServer& fleet, const lab::Device& device) {
    const WebAnswer answer = web_get(fmt::format(
        "http://{}:{}/as/json/status", lab::address_text(device.address()), fleet.ports().http));
    EXPECT_EQ(answer.status, 200) << answer.problem;
    document::Diagnostics diagnostics;
    return document::parse(answer.body, "status", diagnostics).root;
}

TEST(FirstLight, RowsOfAJsonDocumentHaveTheirNamesAndValues) {
    TempDir folder;
    auto fleet = lab::FleetServer::start({.snmp = 0, .http = 3}).value();
    std::string text = "devices:\n";
    for (const lab::Device& device : fleet->fleet().http()) {
        text += fmt::format(
            "  {}:\n    address: {}\n    port: {}\n    addons:\n      - name: http-json\n"
            "        params: {{path: /as/json/status, value_path: $.uptime_seconds, "
            "rows_path: \"$.disks[*]\", row_value_path: $.size_bytes}}\n",
            device.name(), lab::address_text(device.address()), fleet->ports().http);
    }
    PolluxServer server(folder, folder.write("fleet.yaml", text));
    ASSERT_NO_FATAL_FAILURE(server.start());
    ASSERT_TRUE(eventually([&] { return all_fresh(server.metrics()); })) << server.log();
    const MetricsPage page = server.device_metrics();
    for (const lab::Device& device : fleet->fleet().http()) {
        const document::Node status = status_of(*fleet, device);
        ASSERT_NE(status.find("disks"), nullptr);
        for (const document::Node& disk : status.find("disks")->items()) {
            const std::string name = disk.find("name")->scalar();
            EXPECT_EQ(
                page.value("pollux_device_item_value", {{"device", device.name()}, {"row", name}}),
                std::stod(disk.find("size_bytes")->scalar()))
                << device.name() << " " << name;
        }
        EXPECT_NEAR(page.value("pollux_device_value", {{"device", device.name()}}).value_or(0),
                    std::stod(status.find("uptime_seconds")->scalar()), 300);
    }
}

// An addon of the user's own: JSON behind basic authentication.
constexpr const char* kBasicAddon = R"(schema: pollux/1
name: shop-json
version: 1.0.0
title: Orders of a shop
description: How many orders wait, behind basic authentication.
category: application
protocol: http
interval: 10s
timeout: 20s
http:
  base: "http://{host}:{port}"
  auth: basic
  endpoints:
    - {name: orders, path: /orders.json, format: json}
metrics:
  - {name: orders, type: gauge, help: Orders that wait., path: $.orders}
)";

TEST(FirstLight, RealSnmpdAndNginxWithAPasswordFromTheEnvironment) {
    TempDir folder;
    const std::uint16_t snmp_port = free_port();
    const std::uint16_t web_port = free_port();
    folder.write("snmpd.conf", fmt::format("agentaddress udp:127.0.0.1:{}\nrocommunity live-test "
                                           "127.0.0.1\nsysLocation the test\nsysServices 72\n",
                                           snmp_port));
    Process snmpd({"/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", folder.file("snmpd.conf")}, folder,
                  {{"SNMP_PERSISTENT_DIR", folder.file("state")}, {"MIBS", ""}});
    folder.write("www/orders.json", "{\"orders\": 4711}\n");
    const std::string hash = run_tool({"openssl", "passwd", "-apr1", "open-sesame-4711"}, folder);
    folder.write("users", "reader:" + hash);
    net::test::Nginx nginx(
        folder,
        fmt::format("server {{ listen 127.0.0.1:{0}; listen [::1]:{0}; root {1}; auth_basic shop; "
                    "auth_basic_user_file {2}; }}\n",
                    web_port, folder.file("www"), folder.file("users")),
        web_port);
    folder.write("addons/shop-json/manifest.yaml", kBasicAddon);
    const std::string fleet = folder.write(
        "fleet.yaml",
        fmt::format("credentials:\n  shop: {{username: reader, password: \"${{SHOP_PASSWORD}}\"}}\n"
                    "  agent: {{community: \"${{AGENT_COMMUNITY}}\"}}\n"
                    "devices:\n  host: {{address: 127.0.0.1, port: {}, credentials: agent, "
                    "interval: 10s, addons: [snmp-system, snmp-interfaces]}}\n"
                    "  shop: {{address: 127.0.0.1, port: {}, credentials: shop, addons: "
                    "[shop-json, {{name: http-json, params: {{path: /orders.json, value_path: "
                    "$.orders}}}}]}}\n"
                    "  shop6: {{address: \"::1\", port: {}, credentials: shop, addons: "
                    "[shop-json]}}\n",
                    snmp_port, web_port, web_port));
    PolluxServer server(folder, fleet,
                        {{"SHOP_PASSWORD", "open-sesame-4711"}, {"AGENT_COMMUNITY", "live-test"}});
    server.use_addons(folder.file("addons"));
    ASSERT_NO_FATAL_FAILURE(server.start());
    ASSERT_TRUE(eventually([&] { return all_fresh(server.metrics()); })) << server.log();
    EXPECT_EQ(server.device_metrics().value("pollux_device_orders", {{"device", "shop"}}), 4711);
    EXPECT_EQ(server.device_metrics().value("pollux_device_value", {{"device", "shop"}}), 4711);
    EXPECT_EQ(server.device_metrics().value("pollux_device_orders", {{"device", "shop6"}}), 4711);
    const std::string peer = fmt::format("127.0.0.1:{}", snmp_port);
    const std::string uptime = run_tool({"snmpget", "-v2c", "-c", "live-test", "-m", "", "-t", "30",
                                         "-Onvqt", peer, ".1.3.6.1.2.1.1.3.0"},
                                        folder);
    EXPECT_NEAR(server.device_metrics()
                    .value("pollux_device_uptime_seconds", {{"device", "host"}})
                    .value_or(-1000),
                std::stod(uptime) / 100, 300);

    // What the device says next is shown next.
    folder.write("www/orders.json", "{\"orders\": 4712}\n");
    EXPECT_TRUE(eventually([&] {
        return server.device_metrics().value("pollux_device_orders", {{"device", "shop"}}) == 4712;
    })) << server.log();
}

}  // namespace
}  // namespace pollux::live
