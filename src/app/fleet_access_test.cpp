#include "app/fleet_access.hpp"

#include <gtest/gtest.h>

#include "app/control_server.hpp"

namespace pollux::app {
namespace {

std::vector<model::ConfigObject> some_objects() {
    model::ConfigObject device;
    device.kind = model::ObjectKind::kDevice;
    device.id = "0190-1";
    device.name = "hall";
    device.origin = model::Origin::kFile;
    device.version = 3;
    device.changed_at = base::WallTime{1'700'000'000'000'001};
    device.body = "{\"addons\":[\"lamp\"]}";
    model::ConfigObject settings;
    settings.kind = model::ObjectKind::kSettings;
    settings.name = std::string("a\0b\n\xff", 5);
    settings.origin = model::Origin::kDiscovery;
    settings.version = UINT64_MAX;
    settings.changed_at = base::WallTime::min();
    return {device, settings};
}

TEST(FleetAccess, ObjectsComeBackAsTheyWere) {
    EXPECT_EQ(decode_objects(encode_objects(some_objects())).value(), some_objects());
    EXPECT_TRUE(decode_objects(encode_objects({})).value().empty());
}

TEST(FleetAccess, AccountsAreLeftOut) {
    std::vector<model::ConfigObject> objects = some_objects();
    for (const auto kind :
         {model::ObjectKind::kUser, model::ObjectKind::kToken, model::ObjectKind::kSession}) {
        objects.push_back(objects[0]);
        objects.back().kind = kind;
        objects.back().body = "hush";
    }
    const std::string bytes = encode_objects(objects);
    EXPECT_EQ(bytes.find("hush"), std::string::npos);
    EXPECT_EQ(decode_objects(bytes).value(), some_objects());
}

TEST(FleetAccess, DamagedBytesAreRefused) {
    const std::string good = encode_objects(some_objects());
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(decode_objects(good.substr(0, size))) << size;
    }
    EXPECT_FALSE(decode_objects(good + '\0')) << "more than there should be";
    // Whatever a byte becomes: refused, or objects that name what there is.
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const int value : {0, 1, 2, 3, 7, 8, 127, 128, 200, 255}) {
            std::string changed = good;
            changed[at] = static_cast<char>(value);
            const auto read = decode_objects(changed);
            if (!read) {
                EXPECT_EQ(read.error().code, "control.answer");
                continue;
            }
            for (const auto& object : *read) {
                EXPECT_LE(object.kind, model::ObjectKind::kSettings);
                EXPECT_LE(object.origin, model::Origin::kDiscovery);
            }
        }
    }
}

TEST(FleetAccess, ALargeCountCostsNothing) {
    const std::string lie = std::string("\x01") + std::string(9, '\xff') + '\x01';
    EXPECT_FALSE(decode_objects(lie));
    EXPECT_FALSE(decode_files(lie.substr(1)));
}

TEST(FleetAccess, FilesComeBackAsTheyWere) {
    const std::vector<config::FileText> files = {{"a.yaml", "devices: {}\n"},
                                                 {"", std::string("\0\xff", 2)}};
    const std::string good = encode_files(files);
    const auto read = decode_files(good);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 2U);
    EXPECT_EQ(read->at(0).file, "a.yaml");
    EXPECT_EQ(read->at(0).text, "devices: {}\n");
    EXPECT_EQ(read->at(1).text, files[1].text);
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(decode_files(good.substr(0, size))) << size;
    }
    EXPECT_FALSE(decode_files(good + "x"));
    EXPECT_TRUE(decode_files(encode_files({})).value().empty());
}

}  // namespace
}  // namespace pollux::app
