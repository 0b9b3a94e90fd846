#include "runtime/addon_shelf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::ConfigObject;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The lamp of the tests under another version, so that one can tell them apart.
std::string lamp_manifest(const std::string& version) {
    std::string text(test::kLampManifest);
    const std::size_t at = text.find("version: ");
    return text.replace(at, text.find('\n', at) - at, "version: " + version);
}

ConfigObject stored(const std::string& name, const StoredAddon& addon, std::uint64_t version = 1) {
    ConfigObject object;
    object.kind = model::ObjectKind::kAddon;
    object.name = name;
    object.origin = model::Origin::kApi;
    object.version = version;
    object.body = to_body(addon);
    return object;
}

class AddonShelfTest : public ::testing::Test {
  protected:
    AddonShelf shelf(const std::vector<ConfigObject>& objects, const AddonShelf& before = {}) {
        diagnostics_ = document::Diagnostics();
        return make_shelf(given_, objects, before, diagnostics_);
    }
    std::string version_of(const AddonShelf& shelf, const std::string& name) const {
        const auto found = shelf.addons->find(name);
        return found == shelf.addons->end() ? "" : found->second->addon().version;
    }
    base::Result<std::optional<StoredAddon>> plan(AddonVerb verb, const std::string& name,
                                                  const ConfigObject* current,
                                                  std::optional<std::uint64_t> version = {}) {
        return plan_addon({verb, name, "a manifest", version}, given_, current);
    }
    std::string code(AddonVerb verb, const std::string& name, const ConfigObject* current,
                     std::optional<std::uint64_t> version = {}) {
        const auto planned = plan(verb, name, current, version);
        return planned ? "" : planned.error().code;
    }

    AddonSet given_ = {{"lamp", test::lamp_addon()}};
    document::Diagnostics diagnostics_;
};

TEST_F(AddonShelfTest, ABodyIsReadAsItWasWritten) {
    const StoredAddon addon{false, "name: \"x\"\n\ttab \x01 ü\n"};
    const auto read = read_stored_addon(stored("x", addon));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, addon);
    ConfigObject broken = stored("x", addon);
    broken.body = R"({"enabled":"perhaps"})";
    EXPECT_EQ(read_stored_addon(broken).error().code, "config.stored_object");
}

TEST_F(AddonShelfTest, WhatIsStoredTakesThePlaceOfWhatCame) {
    const AddonShelf own = shelf({stored("lamp", {true, lamp_manifest("9.0.0")})});
    EXPECT_TRUE(diagnostics_.ok()) << diagnostics_.text();
    EXPECT_EQ(version_of(own, "lamp"), "9.0.0");
    EXPECT_THAT(own.disabled, IsEmpty());
    const AddonShelf off = shelf({stored("lamp", {false, ""})});
    EXPECT_EQ(off.addons->at("lamp"), given_.at("lamp"));
    EXPECT_THAT(off.disabled, ElementsAre("lamp"));
    EXPECT_EQ(shelf({}).addons->at("lamp"), given_.at("lamp"));
}

TEST_F(AddonShelfTest, IsCompiledOnceWhileItStays) {
    const std::vector<ConfigObject> objects = {stored("lamp", {true, lamp_manifest("9.0.0")})};
    const AddonShelf first = shelf(objects);
    const AddonShelf second = shelf(objects, first);
    EXPECT_EQ(first.addons->at("lamp"), second.addons->at("lamp"));
    const AddonShelf third = shelf({stored("lamp", {true, lamp_manifest("9.0.1")}, 2)}, second);
    EXPECT_EQ(version_of(third, "lamp"), "9.0.1");
}

TEST_F(AddonShelfTest, OneThatCannotBeUsedIsToldAndLeftOut) {
    const AddonShelf broken = shelf({stored("lamp", {true, "name: lamp\n"})});
    EXPECT_FALSE(diagnostics_.ok());
    EXPECT_EQ(broken.addons->at("lamp"), given_.at("lamp")) << "what came stays in force";
}

TEST_F(AddonShelfTest, ChangesAreWhatTheyAreOfTheStateBefore) {
    const ConfigObject own = stored("lamp", {true, "mine"}, 3);
    const ConfigObject off = stored("lamp", {false, ""}, 4);
    const ConfigObject fresh = stored("door", {true, "mine"});

    EXPECT_EQ(code(AddonVerb::kCreate, "lamp", nullptr), "") << "over the one that came";
    EXPECT_EQ(code(AddonVerb::kCreate, "lamp", &own), "object.exists");
    EXPECT_FALSE(plan(AddonVerb::kCreate, "lamp", &off)->value().enabled) << "it stays off";
    EXPECT_EQ(code(AddonVerb::kReplace, "door", nullptr), "object.unknown");
    EXPECT_EQ(code(AddonVerb::kReplace, "lamp", nullptr, 0), "");
    EXPECT_EQ(code(AddonVerb::kReplace, "lamp", &own, 0), "object.version");
    EXPECT_EQ(code(AddonVerb::kReplace, "lamp", &own, 3), "");

    EXPECT_EQ(code(AddonVerb::kRemove, "lamp", nullptr), "addon.given");
    EXPECT_EQ(code(AddonVerb::kRemove, "lamp", &off), "addon.given");
    EXPECT_EQ(*plan(AddonVerb::kRemove, "lamp", &own), std::nullopt);
    EXPECT_EQ(*plan(AddonVerb::kRemove, "door", &fresh), std::nullopt);
    const ConfigObject own_off = stored("lamp", {false, "mine"});
    EXPECT_EQ(*plan(AddonVerb::kRemove, "lamp", &own_off), (StoredAddon{false, ""}))
        << "the one that came is off too";

    EXPECT_EQ(code(AddonVerb::kEnable, "lamp", nullptr), "operator.nothing_to_do");
    EXPECT_EQ(code(AddonVerb::kDisable, "lamp", &off), "operator.nothing_to_do");
    EXPECT_EQ(*plan(AddonVerb::kDisable, "lamp", nullptr), (StoredAddon{false, ""}));
    EXPECT_EQ(*plan(AddonVerb::kEnable, "lamp", &off), std::nullopt) << "nothing is left to say";
    EXPECT_EQ(*plan(AddonVerb::kDisable, "lamp", &own), (StoredAddon{false, "mine"}));
}

}  // namespace
}  // namespace pollux::runtime
