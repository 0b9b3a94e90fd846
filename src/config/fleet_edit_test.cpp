#include "config/fleet_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using model::ConfigObject;
using model::ObjectKind;
using model::Origin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read;

constexpr const char* kFleet = R"(
groups: {g: {match: {role: web}, addons: [y]}}
devices:
  db: {address: 192.0.2.2, addons: [x]}
)";

document::Node json(const std::string& text) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(text, "test", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return parsed.root;
}

class FleetEdit : public ::testing::Test {
  protected:
    FleetEdit() {
        const FleetDiff difference = diff({}, to_objects(read(kFleet).fleet()));
        take(difference);
    }
    void take(const FleetDiff& difference) {
        objects_ = apply_edits(objects_, make_edits(difference, base::WallTime{1'000'000}, [this] {
                                   return std::pair{std::uint64_t{0}, ++ids_};
                               }));
    }
    // The code of the refusal; empty: taken.
    std::string edit(const WantedObject& wanted) {
        diagnostics_ = document::Diagnostics();
        const auto planned = plan_edit(objects_, {&wanted, 1}, diagnostics_);
        if (!planned) {
            message_ = planned.error().message;
            return planned.error().code;
        }
        take(*planned);
        return "";
    }
    std::string create(const std::string& name, const std::string& body) {
        return edit({EditVerb::kCreate, ObjectKind::kDevice, name, json(body), std::nullopt});
    }
    const ConfigObject* find(ObjectKind kind, std::string_view name) const {
        for (const ConfigObject& one : objects_) {
            if (one.kind == kind && one.name == name) return &one;
        }
        return nullptr;
    }
    std::vector<std::string> targets() const {
        std::vector<std::string> names;
        for (const ConfigObject& one : objects_) {
            if (one.kind == ObjectKind::kTarget) names.push_back(one.name);
        }
        return names;
    }

    std::vector<ConfigObject> objects_;
    document::Diagnostics diagnostics_;
    std::string message_;
    std::uint64_t ids_ = 0;
};

TEST_F(FleetEdit, ANewDeviceBringsItsTargets) {
    EXPECT_EQ(create("web", R"({"address":"192.0.2.1","labels":{"role":"web"},"addons":["x"]})"),
              "");
    EXPECT_THAT(targets(), ElementsAre("x::db", "x::web", "y::web"));
    EXPECT_EQ(find(ObjectKind::kDevice, "web")->origin, Origin::kApi);
    EXPECT_EQ(find(ObjectKind::kDevice, "web")->version, 1U);
    EXPECT_EQ(find(ObjectKind::kTarget, "y::web")->origin, Origin::kApi);
    EXPECT_EQ(find(ObjectKind::kTarget, "x::db")->origin, Origin::kFile) << "left alone";
}

TEST_F(FleetEdit, AnAddonTakenOffTakesItsTargetAlong) {
    ASSERT_EQ(create("web", R"({"addons":["x","z"]})"), "");
    const std::string id = find(ObjectKind::kTarget, "x::web")->id;
    EXPECT_EQ(
        edit({EditVerb::kReplace, ObjectKind::kDevice, "web", json(R"({"addons":["x"]})"), 1}), "");
    EXPECT_THAT(targets(), ElementsAre("x::db", "x::web"));
    EXPECT_EQ(find(ObjectKind::kTarget, "x::web")->id, id) << "its history stays with it";
    EXPECT_EQ(find(ObjectKind::kDevice, "web")->version, 2U);
}

TEST_F(FleetEdit, ARemovedDeviceIsGoneWithItsTargets) {
    ASSERT_EQ(create("web", R"({"addons":["x"]})"), "");
    EXPECT_EQ(edit({EditVerb::kRemove, ObjectKind::kDevice, "web", {}, 1}), "");
    EXPECT_THAT(targets(), ElementsAre("x::db"));
    EXPECT_EQ(find(ObjectKind::kDevice, "web"), nullptr);
    EXPECT_NE(find(ObjectKind::kDevice, "db"), nullptr) << "what files own is not touched";
}

TEST_F(FleetEdit, WhatSomebodyElseChangedMeanwhileIsRefused) {
    ASSERT_EQ(create("web", "{}"), "");
    ASSERT_EQ(edit({EditVerb::kPut, ObjectKind::kDevice, "web", json(R"({"addons":["x"]})"), 1}),
              "");
    EXPECT_EQ(edit({EditVerb::kPut, ObjectKind::kDevice, "web", json("{}"), 1}), "object.version");
    EXPECT_THAT(message_, HasSubstr("is at version 2 now, not 1"));
    EXPECT_EQ(edit({EditVerb::kRemove, ObjectKind::kDevice, "web", {}, 1}), "object.version");
    EXPECT_THAT(targets(), ElementsAre("x::db", "x::web"));
    EXPECT_EQ(edit({EditVerb::kPut, ObjectKind::kDevice, "gone", json("{}"), 3}), "object.version");
}

TEST_F(FleetEdit, WhatFilesOwnIsRefusedUntilItIsAdopted) {
    EXPECT_EQ(edit({EditVerb::kPut, ObjectKind::kDevice, "db", json("{}"), std::nullopt}),
              "object.owned");
    EXPECT_THAT(message_, HasSubstr("adopt it first"));
    EXPECT_EQ(edit({EditVerb::kAdopt, ObjectKind::kDevice, "db", {}, std::nullopt}), "");
    EXPECT_EQ(find(ObjectKind::kDevice, "db")->origin, Origin::kApi);
    EXPECT_THAT(find(ObjectKind::kDevice, "db")->body, HasSubstr("192.0.2.2")) << "as it was";
    EXPECT_EQ(edit({EditVerb::kPut, ObjectKind::kDevice, "db", json("{}"), 2}), "");
    EXPECT_THAT(targets(), IsEmpty());
}

TEST_F(FleetEdit, NamesThatAreTakenOrMissingAreRefused) {
    EXPECT_EQ(create("db", "{}"), "object.exists");
    EXPECT_EQ(edit({EditVerb::kReplace, ObjectKind::kDevice, "web", json("{}"), std::nullopt}),
              "object.unknown");
    EXPECT_EQ(edit({EditVerb::kRemove, ObjectKind::kGroup, "web", {}, std::nullopt}),
              "object.unknown");
    EXPECT_EQ(edit({EditVerb::kAdopt, ObjectKind::kGroup, "web", {}, std::nullopt}),
              "object.unknown");
    EXPECT_EQ(edit({EditVerb::kRemove, ObjectKind::kTarget, "x::db", {}, std::nullopt}),
              "object.owned");
    EXPECT_NE(create(std::string(300, 'n'), "{}"), "");
}

TEST_F(FleetEdit, AWrongBodyNamesItsFields) {
    EXPECT_EQ(create("web", R"({"adress":"192.0.2.1","interval":"soon"})"), "object.invalid");
    std::vector<std::string> fields;
    for (const auto& item : diagnostics_.items()) fields.push_back(item.field);
    EXPECT_THAT(fields, ::testing::UnorderedElementsAre("adress", "interval"));
    EXPECT_EQ(edit({EditVerb::kPut, ObjectKind::kSettings, "settings", json("{}"), std::nullopt}),
              "object.invalid");
}

TEST_F(FleetEdit, SecretsAreStoredAndNotShown) {
    ASSERT_EQ(edit({EditVerb::kCreate, ObjectKind::kCredential, "c",
                    json(R"({"username":"u","password":"hunter22"})"), std::nullopt}),
              "");
    const ConfigObject* credential = find(ObjectKind::kCredential, "c");
    EXPECT_THAT(credential->body, HasSubstr("hunter22")) << "the server seals it";
    const std::string shown = document::to_json(shown_body(*credential));
    EXPECT_THAT(shown, Not(HasSubstr("hunter22")));
    EXPECT_THAT(shown, HasSubstr("vault:c/password"));
    // What was shown may be sent back: the secret stays.
    ASSERT_EQ(edit({EditVerb::kPut, ObjectKind::kCredential, "c",
                    json(R"({"username":"other","password":"vault:c/password"})"), 1}),
              "");
    EXPECT_THAT(find(ObjectKind::kCredential, "c")->body, HasSubstr("hunter22"));
    EXPECT_THAT(find(ObjectKind::kCredential, "c")->body, HasSubstr("other"));
}

TEST_F(FleetEdit, SeveralObjectsAreTakenTogetherOrNotAtAll) {
    const std::vector<WantedObject> wanted = {
        {EditVerb::kCreate, ObjectKind::kDevice, "a", json("{}"), std::nullopt},
        {EditVerb::kCreate, ObjectKind::kDevice, "db", json("{}"), std::nullopt}};
    document::Diagnostics diagnostics;
    EXPECT_FALSE(plan_edit(objects_, wanted, diagnostics));
    const std::vector<WantedObject> good = {
        wanted[0], {EditVerb::kCreate, ObjectKind::kDevice, "b", json("{}"), std::nullopt}};
    const auto planned = plan_edit(objects_, good, diagnostics);
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->additions.size(), 2U);
}

// As when a device of the files is taken over and changed at once.
TEST_F(FleetEdit, SeveralAboutOneObjectAreOneEdit) {
    const std::uint64_t version = find(ObjectKind::kDevice, "db")->version;
    const std::vector<WantedObject> both = {
        {EditVerb::kAdopt, ObjectKind::kDevice, "db", {}, version},
        {EditVerb::kReplace, ObjectKind::kDevice, "db", json(R"({"address":"192.0.2.3"})"), {}}};
    diagnostics_ = document::Diagnostics();
    const auto planned = plan_edit(objects_, both, diagnostics_);
    ASSERT_TRUE(planned) << planned.error().message;
    ASSERT_EQ(planned->changes.size(), 1U);
    take(*planned);
    const ConfigObject* device = find(ObjectKind::kDevice, "db");
    EXPECT_EQ(device->origin, Origin::kApi);
    EXPECT_EQ(device->version, version + 1);
    EXPECT_EQ(device->body, R"({"address":"192.0.2.3"})");
}

}  // namespace
}  // namespace pollux::config
