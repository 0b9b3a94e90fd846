#include "lab/fleet_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lab/fleet_control.hpp"
#include "net/test_process.hpp"

namespace pollux::lab {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr FleetPorts kPorts{.snmp = 1161, .http = 8080, .https = 8443, .control = 9};

TEST(FleetFile, DescribesEveryDevice) {
    const Fleet fleet(120, 300, 1, find_profile("demo").value());
    const std::string text = fleet_file_text(fleet, kPorts, "/data/lab.yaml");
    EXPECT_THAT(text, HasSubstr("\nschema: pollux-fleet/1\n"));
    EXPECT_THAT(text, HasSubstr("  switches: {port: 1161}\n"));
    EXPECT_THAT(text, HasSubstr("  web-tls: {port: 8443, tls: {verify: false}}\n"));
    EXPECT_THAT(text, HasSubstr("  sw-00001:\n    address: 127.16.0.1\n    groups: [switches]\n"));
    EXPECT_THAT(text, HasSubstr("\n    parents: [sw-00051]\n"));
    EXPECT_THAT(text, HasSubstr("\n    credentials: lab-private\n"));
    EXPECT_THAT(text, HasSubstr("\n    credentials: lab-digest\n"));
    EXPECT_THAT(text, HasSubstr("params: {scheme: https, path: /health}"));
    for (const std::vector<Device>* devices : {&fleet.snmp(), &fleet.http()}) {
        for (const Device& device : *devices) {
            EXPECT_THAT(text, HasSubstr("\n  " + device.name() + ":\n    address: " +
                                        address_text(device.address()) + "\n"));
        }
    }
    EXPECT_THAT(text, Not(HasSubstr(std::string(kPassword)))) << "secrets are named, not held";
    EXPECT_THAT(text, Not(HasSubstr(std::string(kToken))));
}

TEST(FleetFile, KeepsSecretsInFilesOfTheirOwn) {
    const net::test::TempDir folder;
    const Fleet fleet(2, 2, 1, find_profile("calm").value());
    const std::string path = folder.file("lab.yaml");
    ASSERT_TRUE(write_fleet_file(fleet, kPorts, path));
    EXPECT_THAT(folder.read("lab.yaml"), HasSubstr("password: \"file:" + path + ".password\""));
    EXPECT_EQ(folder.read("lab.yaml.password"), std::string(kPassword) + "\n");
    struct stat facts{};
    ASSERT_EQ(stat((path + ".token").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    const auto refused = write_fleet_file(fleet, kPorts, folder.file("no/such/folder"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("--write-fleet"));
}

TEST(FleetControl, ReadsTimes) {
    EXPECT_EQ(parse_duration("60s"), std::chrono::seconds(60));
    EXPECT_EQ(parse_duration("1.5m"), std::chrono::seconds(90));
    EXPECT_EQ(parse_duration("500ms"), std::chrono::milliseconds(500));
    EXPECT_EQ(parse_duration("2"), std::chrono::seconds(2));
    for (const char* text : {"", "s", "-1s", "0s", "5 min", "nan", "1e99h", "inf"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

}  // namespace
}  // namespace pollux::lab
