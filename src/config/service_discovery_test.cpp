#include "config/service_discovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::config {
namespace {

using document::Diagnostics;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ServiceDiscovery, ReadsJsonAndYaml) {
    const std::string json =
        R"([{"targets": ["web1:9100", "[2001:db8::1]:161", "192.0.2.7"], "labels": {"job": "node"}},
            {"targets": []}, {"targets": ["x"], "source": "ignored"}])";
    const std::string yaml =
        "- targets: ['web1:9100', '[2001:db8::1]:161', 192.0.2.7]\n  labels: {job: node}\n"
        "- targets: []\n- targets: [x]\n";
    for (const std::string& text : {json, yaml}) {
        Diagnostics diagnostics;
        const auto targets = read_target_groups(text, "sd", diagnostics);
        ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
        ASSERT_EQ(targets.size(), 4U);
        EXPECT_EQ(targets[0].host, "web1");
        EXPECT_EQ(targets[0].port, 9100);
        EXPECT_EQ(targets[0].labels, (Labels{{"job", "node"}}));
        EXPECT_EQ(targets[1].host, "2001:db8::1");
        EXPECT_EQ(targets[2].port, 0);
        EXPECT_THAT(targets[3].labels, IsEmpty());
    }
}

TEST(ServiceDiscovery, NamesWhatIsWrong) {
    const std::pair<const char*, const char*> cases[] = {
        {"{\"targets\": []}", "sd:1: is a map; a list of target groups is wanted"},
        {"[{\"labels\": {}}]", "[0].targets: is missing; it is required"},
        {"[\n{\"targets\": [\n\"a b\"]}]", "sd:3: [0].targets[0]: \"a b\" is no host or host:port"},
        {"[{\"targets\": [\"a:99999\"]}]", "is no host or host:port"},
        {"[{\"targets\": [[1]]}]", "is no host or host:port"},
        {"[", "sd:1"},
    };
    for (const auto& [text, complaint] : cases) {
        Diagnostics diagnostics;
        read_target_groups(text, "sd", diagnostics);
        EXPECT_FALSE(diagnostics.ok()) << text;
        EXPECT_THAT(diagnostics.text(), HasSubstr(complaint)) << text;
    }
}

ByName<Device> devices_of(const Source& source, const std::string& text) {
    Diagnostics diagnostics;
    auto devices =
        make_devices("s", source, read_target_groups(text, "sd", diagnostics), diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    return devices;
}

TEST(ServiceDiscovery, MakesDevices) {
    Source source;
    source.addons = {"snmp-system"};
    source.groups = {"edge"};
    source.labels = {{"managed-by", "inventory"}};
    source.label_map = {{"__meta_rack", "rack"}, {"junk", ""}};
    source.name_label = "hostname";
    source.region_label = "site";
    const auto devices = devices_of(
        source,
        R"([{"targets": ["192.0.2.1:161"], "labels": {"hostname": "sw1", "__meta_rack": "r7",
            "__meta_x": "y", "junk": "z", "site": "eu"}}])");
    ASSERT_EQ(devices.size(), 1U);
    const Device& device = devices.at("sw1");
    EXPECT_EQ(device.addresses, std::vector<std::string>{"192.0.2.1"});
    EXPECT_EQ(device.poll.port, 161);
    EXPECT_EQ(device.device.region, "eu");
    EXPECT_EQ(device.groups, std::vector<std::string>{"edge"});
    EXPECT_TRUE(device.addons.contains("snmp-system"));
    EXPECT_EQ(
        device.labels,
        (Labels{{"hostname", "sw1"}, {"managed-by", "inventory"}, {"rack", "r7"}, {"site", "eu"}}));
}

TEST(ServiceDiscovery, OneHostWithSeveralPortsIsSeveralDevices) {
    const auto devices =
        devices_of({}, R"([{"targets": ["web:80", "web:81", "db:5432", "db:5432"]}])");
    ASSERT_EQ(devices.size(), 3U);
    EXPECT_EQ(devices.at("web:80").poll.port, 80);
    EXPECT_EQ(devices.at("web:81").poll.port, 81);
    EXPECT_EQ(devices.at("web:80").addresses, std::vector<std::string>{"web"});
    EXPECT_EQ(devices.at("db").poll.port, 5432);
}

TEST(ServiceDiscovery, SeveralAddressesOfOneName) {
    Source source;
    source.name_label = "n";
    const auto devices = devices_of(
        source, R"([{"targets": ["192.0.2.1:161", "[::1]:161"], "labels": {"n": "sw1"}}])");
    EXPECT_EQ(devices.at("sw1").addresses, (std::vector<std::string>{"192.0.2.1", "::1"}));
}

TEST(ServiceDiscovery, FilesCountBeforeSources) {
    Fleet fleet;
    fleet.devices["web"].labels = {{"from", "files"}};
    ByName<Device> found;
    found["web"] = {};
    found["new"] = {};
    Diagnostics diagnostics;
    add_devices(fleet, std::move(found), "s", diagnostics);
    EXPECT_EQ(fleet.devices.size(), 2U);
    EXPECT_EQ(fleet.devices.at("web").labels.at("from"), "files");
    EXPECT_THAT(diagnostics.text(), HasSubstr("sources.s: warning: device \"web\" is described "
                                              "already"));
}

}  // namespace
}  // namespace pollux::config
