#include "config/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/uuid.hpp"
#include "config/config_test_support.hpp"
#include "config/fleet_export.hpp"

namespace pollux::config {
namespace {

using model::ConfigObject;
using model::ObjectKind;
using model::Origin;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read;

constexpr const char* kFleet = R"(
defaults: {tier: low}
classes: {x: {weight: 2}}
addons: {x: {interval: 30s}}
resources: {r: 3}
credentials: {c: {username: u, password: "${P}"}}
groups: {g: {match: {role: web}, credentials: c, addons: [y]}}
devices:
  web: {address: 192.0.2.1, labels: {role: web}, addons: [x]}
  db: {address: 192.0.2.2, addons: [x]}
targets: {"x::web": {tier: critical}}
sources: {s: {file_sd: /sd.json}}
)";

// Ids count up, so that tests can name them.
RandomBits counting() {
    return [next = std::uint64_t{0}]() mutable { return std::pair{std::uint64_t{0}, ++next}; };
}

std::vector<ConfigObject> applied(const std::vector<ConfigObject>& current, const std::string& text,
                                  const DiffOptions& options = {}) {
    const FleetDiff difference = diff(current, to_objects(read(text).fleet()), options);
    return apply_edits(current, make_edits(difference, base::WallTime{1'000'000}, counting()));
}

const ConfigObject* find(const std::vector<ConfigObject>& objects, ObjectKind kind,
                         std::string_view name) {
    for (const ConfigObject& one : objects) {
        if (one.kind == kind && one.name == name) return &one;
    }
    return nullptr;
}

TEST(Objects, EveryTargetHasAnObject) {
    const auto objects = to_objects(read(kFleet).fleet());
    std::vector<std::string> names;
    for (const ConfigObject& one : objects) {
        names.push_back(std::string(to_string(one.kind)) + " " + one.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"defaults defaults", "group g", "device db",
                                               "device web", "target x::db", "target x::web",
                                               "target y::web", "credential c", "source s"}));
    EXPECT_EQ(find(objects, ObjectKind::kTarget, "x::db")->body, "{}");
    EXPECT_EQ(find(objects, ObjectKind::kTarget, "x::web")->body, R"({"tier":"critical"})");
    EXPECT_EQ(find(objects, ObjectKind::kDevice, "web")->body,
              R"({"addons":["x"],"address":"192.0.2.1","labels":{"role":"web"}})");
}

TEST(Objects, AreReadBackWithoutLoss) {
    const Fleet fleet = read(kFleet).fleet();
    const auto back = from_objects(to_objects(fleet));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, fleet);
}

TEST(Objects, ADamagedBodyIsNamed) {
    ConfigObject object;
    object.kind = ObjectKind::kDevice;
    object.name = "web";
    object.body = R"({"adress":"x"})";
    const auto unknown = from_objects(std::vector{object});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("device \"web\""));
    EXPECT_THAT(unknown.error().message, HasSubstr("adress"));
    object.body = "{";
    EXPECT_FALSE(from_objects(std::vector{object}));
}

TEST(Diff, AddsThenNothing) {
    const auto state = applied({}, kFleet);
    ASSERT_EQ(state.size(), 9U);
    for (const ConfigObject& one : state) {
        EXPECT_TRUE(base::is_uuid(one.id)) << one.id;
        EXPECT_EQ(one.version, 1U);
        EXPECT_EQ(one.changed_at, base::WallTime{1'000'000});
    }
    EXPECT_TRUE(diff(state, to_objects(read(kFleet).fleet())).empty());
    EXPECT_EQ(target_ids(state).at("x::web"), find(state, ObjectKind::kTarget, "x::web")->id);
}

TEST(Diff, ShowsChangesFieldByField) {
    const auto state = applied({}, "devices: {a: {address: 192.0.2.1, addons: [x], tier: low}}");
    const Fleet wanted =
        read("devices: {a: {address: 192.0.2.9, addons: [x, y], interval: {base: 5s, max: 9s}}}")
            .fleet();
    const FleetDiff difference = diff(state, to_objects(wanted));
    ASSERT_EQ(difference.changes.size(), 1U);
    EXPECT_EQ(difference.changes[0].fields,
              (std::vector<FieldChange>{{"addons[1]", "", "\"y\""},
                                        {"address", "\"192.0.2.1\"", "\"192.0.2.9\""},
                                        {"interval.base", "", "\"5s\""},
                                        {"interval.max", "", "\"9s\""},
                                        {"tier", "\"low\"", ""}}));
    EXPECT_EQ(difference.additions.size(), 1U);
    EXPECT_EQ(describe(difference),
              "+ target y::a\n"
              "~ device a\n"
              "    addons[1]: (not set) -> \"y\"\n"
              "    address: \"192.0.2.1\" -> \"192.0.2.9\"\n"
              "    interval.base: (not set) -> \"5s\"\n"
              "    interval.max: (not set) -> \"9s\"\n"
              "    tier: \"low\" -> (not set)\n"
              "1 to add, 1 to change, 0 to remove, 0 conflicts\n");
    const auto next =
        apply_edits(state, make_edits(difference, base::WallTime{2'000'000}, counting()));
    const ConfigObject* before = find(state, ObjectKind::kDevice, "a");
    const ConfigObject* after = find(next, ObjectKind::kDevice, "a");
    EXPECT_EQ(after->id, before->id);
    EXPECT_EQ(after->version, 2U);
    EXPECT_EQ(after->changed_at, base::WallTime{2'000'000});
    // What did not change keeps its version and its time.
    EXPECT_EQ(*find(next, ObjectKind::kTarget, "x::a"), *find(state, ObjectKind::kTarget, "x::a"));
}

TEST(Diff, RemovesOnlyWhatFilesOwn) {
    auto state = applied({}, "devices: {a: {addons: [x]}, b: {}}");
    ConfigObject api;
    api.kind = ObjectKind::kDevice;
    api.name = "by-hand";
    api.origin = Origin::kApi;
    api.body = "{}";
    state.push_back(api);
    ConfigObject settings;
    settings.kind = ObjectKind::kSettings;
    settings.name = "settings";
    settings.body = "{}";
    state.push_back(settings);
    for (const ObjectKind kind : {ObjectKind::kUser, ObjectKind::kToken, ObjectKind::kSession}) {
        state.push_back(settings);
        state.back().kind = kind;
        state.back().origin = Origin::kFile;  // as if somebody had brought it from a file
        state.back().body = "no JSON";
    }
    EXPECT_EQ(from_objects(state).value(),
              read("devices: {a: {addons: [x]}, b: {}, by-hand: {}}").fleet());
    const FleetDiff difference = diff(state, to_objects(read("devices: {b: {}}").fleet()));
    ASSERT_EQ(difference.removals.size(), 2U);
    EXPECT_EQ(difference.removals[0].name, "a");
    EXPECT_EQ(difference.removals[1].name, "x::a");
    EXPECT_TRUE(difference.changes.empty() && difference.conflicts.empty());
}

TEST(Diff, ANameOfAnotherOriginIsAConflictUntilItIsAdopted) {
    std::vector<ConfigObject> state(1);
    state[0].kind = ObjectKind::kDevice;
    state[0].id = "the-id";
    state[0].name = "web";
    state[0].origin = Origin::kApi;
    state[0].version = 7;
    state[0].body = R"({"address":"192.0.2.1"})";
    const auto wanted = to_objects(read("devices: {web: {address: 192.0.2.2}}").fleet());
    const FleetDiff difference = diff(state, wanted);
    ASSERT_EQ(difference.conflicts.size(), 1U);
    EXPECT_THAT(difference.conflicts[0].message,
                HasSubstr("device \"web\" belongs to origin api, not to file"));
    EXPECT_THAT(difference.conflicts[0].message, HasSubstr("pollux apply --adopt"));
    EXPECT_TRUE(difference.changes.empty());

    const FleetDiff adopting = diff(state, wanted, {.adopt = true, .discovery = false});
    ASSERT_EQ(adopting.changes.size(), 1U);
    EXPECT_EQ(adopting.changes[0].after.origin, Origin::kFile);
    EXPECT_EQ(adopting.changes[0].after.id, "the-id");
    EXPECT_EQ(adopting.changes[0].after.version, 8U);
    EXPECT_EQ(adopting.changes[0].fields.back(), (FieldChange{"origin", "api", "file"}));
}

TEST(Diff, DiscoveredDevicesAreTheirOwn) {
    Fleet fleet = read("devices: {a: {addons: [x]}, found: {addons: [x]}}").fleet();
    const auto wanted = to_objects(fleet, {"found"});
    EXPECT_EQ(find(wanted, ObjectKind::kDevice, "found")->origin, Origin::kDiscovery);
    EXPECT_EQ(find(wanted, ObjectKind::kTarget, "x::found")->origin, Origin::kDiscovery);
    EXPECT_EQ(find(wanted, ObjectKind::kDevice, "a")->origin, Origin::kFile);
    const auto state = apply_edits({}, make_edits(diff({}, wanted), base::WallTime{0}, counting()));
    fleet.devices.erase("found");
    const auto fewer = to_objects(fleet);
    EXPECT_TRUE(diff(state, fewer).empty());
    EXPECT_EQ(diff(state, fewer, {.adopt = false, .discovery = true}).removals.size(), 2U);
}

TEST(Diff, ShowsNoSecret) {
    const auto state = applied({}, "credentials: {c: {password: planted-one, token: planted-t}}");
    const Fleet wanted =
        read("credentials: {c: {password: planted-two, token: \"${T}\", community: planted-c}}")
            .fleet();
    const FleetDiff difference = diff(state, to_objects(wanted));
    EXPECT_EQ(difference.changes.at(0).fields,
              (std::vector<FieldChange>{{"community", "", "(secret)"},
                                        {"password", "(secret)", "(secret)"},
                                        {"token", "(secret)", "\"${T}\""}}));
    EXPECT_THAT(describe(difference), Not(HasSubstr("planted")));
}

TEST(Diff, AnExportKeepsWhatIsSealed) {
    const std::string text = "credentials: {c: {username: u, password: planted}}";
    const auto state = applied({}, text);
    const std::string exported = export_fleet(*from_objects(state));
    EXPECT_THAT(exported, Not(HasSubstr("planted")));
    EXPECT_THAT(exported, HasSubstr("vault:c/password"));
    EXPECT_TRUE(diff(state, to_objects(read(exported).fleet())).empty());
    // A new secret is a change.
    EXPECT_FALSE(
        diff(state, to_objects(read("credentials: {c: {username: u, password: new}}").fleet()))
            .empty());
}

}  // namespace
}  // namespace pollux::config
