#include "config/target_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"
#include "document/parse.hpp"

namespace pollux::config {
namespace {

using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read;

Node json(const std::string& text) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(text, "test", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return parsed.root;
}

class TargetEdit : public ::testing::Test {
  protected:
    TargetEdit() {
        take(diff({}, to_objects(read(R"(
groups: {g: {match: {role: web}, addons: [y]}}
devices: {f: {addons: [x]}}
)")
                                     .fleet())));
    }
    void take(const FleetDiff& difference) {
        objects_ = apply_edits(objects_, make_edits(difference, base::WallTime{1'000'000}, [this] {
                                   return std::pair{std::uint64_t{0}, ++ids_};
                               }));
    }
    std::string perform(const base::Result<std::vector<WantedObject>>& wanted) {
        if (!wanted) return wanted.error().code;
        const auto planned = plan_edit(objects_, *wanted, diagnostics_);
        if (!planned) return planned.error().code;
        take(*planned);
        return "";
    }
    std::string add(const std::string& key, const Node& device = {}, const Node& settings = {}) {
        return perform(
            add_target(objects_, *parse_target_name(key), device, settings, diagnostics_));
    }
    std::string remove(const std::string& key, std::optional<std::uint64_t> if_version = {}) {
        return perform(remove_target(objects_, *parse_target_name(key), if_version));
    }
    std::vector<std::string> names(ObjectKind kind) const {
        std::vector<std::string> found;
        for (const ConfigObject& one : objects_) {
            if (one.kind == kind) found.push_back(one.name);
        }
        return found;
    }

    std::vector<ConfigObject> objects_;
    document::Diagnostics diagnostics_;
    std::uint64_t ids_ = 0;
};

TEST_F(TargetEdit, TheFirstTargetMakesItsDeviceAndTheLastTakesItAlong) {
    EXPECT_EQ(add("x::web", json(R"({"address":"192.0.2.1"})"), json(R"({"tier":"high"})")), "");
    EXPECT_EQ(add("z::web"), "");
    EXPECT_THAT(names(ObjectKind::kDevice), ElementsAre("f", "web"));
    EXPECT_THAT(names(ObjectKind::kTarget), ElementsAre("x::f", "x::web", "z::web"));
    const auto fleet = from_objects(objects_);
    ASSERT_TRUE(fleet);
    EXPECT_EQ(fleet->devices.at("web").addresses.at(0), "192.0.2.1");
    EXPECT_EQ(fleet->targets.at("x::web").tier, model::Tier::kHigh);
    EXPECT_EQ(remove("x::web"), "");
    EXPECT_THAT(names(ObjectKind::kTarget), ElementsAre("x::f", "z::web"));
    EXPECT_EQ(remove("z::web"), "");
    EXPECT_THAT(names(ObjectKind::kDevice), ElementsAre("f"));
}

TEST_F(TargetEdit, WhatCannotBeIsRefused) {
    EXPECT_EQ(add("x::f"), "object.exists");
    EXPECT_EQ(add("z::f"), "object.owned") << "its device belongs to files";
    EXPECT_EQ(remove("x::f"), "object.owned");
    EXPECT_EQ(remove("x::nobody"), "object.unknown");
    ASSERT_EQ(add("x::web", json(R"({"labels":{"role":"web"}})")), "");
    EXPECT_EQ(remove("y::web"), "object.owned") << "its group gives it";
    EXPECT_EQ(add("z::web", json("{}")), "object.exists") << "the device is there already";
    EXPECT_EQ(add("z::new", json(R"([1])")), "object.invalid");
}

TEST_F(TargetEdit, AddonsWithSettingsKeepThem) {
    ASSERT_EQ(add("x::web", json(R"({"addons":[{"name":"w","port":8080}]})")), "");
    ASSERT_EQ(add("z::web"), "");
    ASSERT_EQ(remove("x::web"), "");
    const auto fleet = from_objects(objects_);
    ASSERT_TRUE(fleet);
    EXPECT_EQ(fleet->devices.at("web").addons.at("w").port, 8080);
    EXPECT_EQ(fleet->devices.at("web").addons.size(), 2U);
}

TEST_F(TargetEdit, RemovesOnlyTheVersionThatWasSeen) {
    ASSERT_EQ(add("x::web", json("{}")), "");
    const auto found =
        std::ranges::find_if(objects_, [](const auto& one) { return one.name == "x::web"; });
    ASSERT_NE(found, objects_.end());
    EXPECT_EQ(remove("x::web", found->version + 1), "object.version");
    EXPECT_EQ(remove("x::web", found->version), "");
}

TEST_F(TargetEdit, KeysOfTargets) {
    const auto name = parse_target_name("x::web#slow");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->device, "web");
    EXPECT_EQ(name->key(), "x::web");
    const auto wrong = parse_target_name("web");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("addon::device"));
}

}  // namespace
}  // namespace pollux::config
