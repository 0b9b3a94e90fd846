#include "config/target_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using document::Diagnostics;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Node json(std::string_view text) {
    Diagnostics diagnostics;
    auto parsed = document::parse_json(text, "test", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return parsed.root;
}

ConfigObject object(ObjectKind kind, std::string name, std::string body) {
    ConfigObject one;
    one.kind = kind;
    one.id = "id-" + name;
    one.name = std::move(name);
    one.origin = model::Origin::kApi;
    one.version = 1;
    one.body = std::move(body);
    return one;
}

class TargetBatch : public ::testing::Test {
  protected:
    // The verbs and names of what is wanted, and then of what was planned from it.
    std::vector<std::string> plan(std::string_view operations) {
        diagnostics_ = Diagnostics();
        code_.clear();
        const Node list = json(operations);
        const auto read = read_target_operations(list, "operations", diagnostics_);
        if (!diagnostics_.ok()) return {"unreadable"};
        const auto wanted = plan_targets(objects_, read, "operations", diagnostics_);
        if (!wanted) {
            code_ = wanted.error().code;
            return {"refused"};
        }
        const auto changes = plan_edit(objects_, *wanted, diagnostics_);
        EXPECT_TRUE(changes) << changes.error().message;
        std::vector<std::string> lines;
        for (const auto& one : changes->additions) lines.push_back("+" + one.name);
        for (const auto& one : changes->changes) lines.push_back("~" + one.before.name);
        for (const auto& one : changes->removals) lines.push_back("-" + one.name);
        return lines;
    }
    std::string field() const {
        return diagnostics_.items().empty() ? "" : diagnostics_.items()[0].field;
    }

    std::vector<ConfigObject> objects_ = {
        object(ObjectKind::kDevice, "web", R"({"addons":["x","y"]})"),
        object(ObjectKind::kTarget, "x::web", "{}"), object(ObjectKind::kTarget, "y::web", "{}")};
    Diagnostics diagnostics_;
    std::string code_;
};

TEST_F(TargetBatch, EachOperationSeesThoseBeforeIt) {
    EXPECT_THAT(plan(R"([{"op":"create","addon":"x","device":"db",
                          "device_spec":{"address":"192.0.2.1"}},
                         {"op":"create","addon":"y","device":"db","spec":{"tier":"high"}},
                         {"op":"create","key":"z::web"},
                         {"op":"delete","key":"x::web"},
                         {"op":"update","key":"y::web","spec":{"tier":"low"}},
                         {"op":"update","key":"z::web","spec":{"tier":"low"}},
                         {"op":"poll","key":"x::db"}])"),
                ElementsAre("+db", "+y::db", "+z::web", "+x::db", "~web", "~y::web", "-x::web"));
    // All that a device had goes: the device goes too.
    EXPECT_THAT(plan(R"([{"op":"delete","key":"x::web"},{"op":"delete","key":"y::web"}])"),
                ElementsAre("-web", "-x::web", "-y::web"));
    // Made and taken away: nothing happens.
    EXPECT_THAT(
        plan(R"([{"op":"create","addon":"x","device":"db"},{"op":"delete","key":"x::db"}])"),
        IsEmpty());
    // Taken away and made again: the device is as it was, and the settings are the new ones.
    EXPECT_THAT(plan(R"([{"op":"delete","key":"x::web"},
                         {"op":"create","key":"x::web","spec":{"tier":"high"}}])"),
                ElementsAre("~x::web"));
}

TEST_F(TargetBatch, OneThatIsWrongRefusesAllAndIsNamed) {
    const auto refused = [&](std::string_view wrong) {
        const std::string all =
            R"([{"op":"create","addon":"x","device":"db"},)" + std::string(wrong) + "]";
        EXPECT_THAT(plan(all), ElementsAre("refused")) << wrong;
        EXPECT_THAT(field(), HasSubstr("operations[1]")) << wrong;
        return code_;
    };
    EXPECT_EQ(refused(R"({"op":"create","key":"x::web"})"), "object.exists");
    EXPECT_EQ(refused(R"({"op":"create","key":"x::db"})"), "object.exists");
    EXPECT_EQ(refused(R"({"op":"delete","key":"z::web"})"), "object.unknown");
    EXPECT_EQ(refused(R"({"op":"delete","key":"x::web","if_version":7})"), "object.version");
    EXPECT_EQ(refused(R"({"op":"enable","key":"z::web"})"), "object.unknown");
    EXPECT_EQ(refused(R"({"op":"update","key":"z::web","spec":{}})"), "object.unknown");
    EXPECT_EQ(refused(R"({"op":"update","key":"x::web","spec":{"teir":"high"}})"),
              "object.invalid");
    EXPECT_EQ(field(), "operations[1].spec.teir");
    EXPECT_EQ(refused(R"({"op":"create","addon":"x","device":"c","device_spec":{"adress":1}})"),
              "object.invalid");
    EXPECT_EQ(field(), "operations[1].device_spec.adress");
}

TEST_F(TargetBatch, ReadsStrictlyAndWithinBounds) {
    for (const char* wrong :
         {"[]", R"([{"op":"make","key":"x::web"}])", R"([{"op":"create","addon":"x"}])",
          R"([{"op":"poll","key":"x"}])", R"([{"op":"delete","key":"x::web","spec":{}}])",
          R"([{"op":"update","key":"x::web"}])", R"([1])"}) {
        EXPECT_THAT(plan(wrong), ElementsAre("unreadable")) << wrong;
    }
    std::string many = "[";
    for (std::size_t i = 0; i <= kMostTargetOperations; ++i) {
        many += std::string(i == 0 ? "" : ",") + R"({"op":"poll","key":"x::web"})";
    }
    EXPECT_THAT(plan(many + "]"), ElementsAre("unreadable"));
}

TEST_F(TargetBatch, AVersionThatWasSeenIsCompared) {
    const Node list =
        json(R"([{"op":"update","key":"x::web","spec":{"tier":"low"},"if_version":7}])");
    const auto read = read_target_operations(list, "operations", diagnostics_);
    const auto wanted = plan_targets(objects_, read, "operations", diagnostics_);
    ASSERT_TRUE(wanted);
    ASSERT_THAT(*wanted, SizeIs(1));
    EXPECT_EQ((*wanted)[0].if_version, 7U);
    EXPECT_EQ(plan_edit(objects_, *wanted, diagnostics_).error().code, "object.version");
}

TEST_F(TargetBatch, DiscoveredDevicesBecomeOperationsThatAreTaken) {
    const Node operations = create_operations(
        json(R"({"db":{"address":"192.0.2.1","addons":["x","y"],"labels":{"a":"b"}},)"
             R"("bare":{"address":"192.0.2.2"}})"));
    EXPECT_EQ(document::to_json(operations),
              R"([{"addon":"x","device":"db","device_spec":{"address":"192.0.2.1",)"
              R"("labels":{"a":"b"}},"op":"create"},{"addon":"y","device":"db","op":"create"}])");
    EXPECT_THAT(plan(document::to_json(operations)), ElementsAre("+db", "+x::db", "+y::db"));
}

}  // namespace
}  // namespace pollux::config
