// What the audit trail keeps of an edit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/fleet_edit.hpp"
#include "config/objects.hpp"
#include "document/parse.hpp"

namespace pollux::config {
namespace {

using model::ConfigObject;
using model::ObjectKind;
using model::Origin;
using testing::HasSubstr;
using testing::Not;

document::Node node(std::string_view json) {
    document::Diagnostics diagnostics;
    return document::parse_json(json, "test", diagnostics).root;
}

WantedObject wanted(EditVerb verb, ObjectKind kind, std::string name, std::string_view body = "") {
    return {verb, kind, std::move(name), body.empty() ? document::Node() : node(body), {}};
}

class ObjectStatesTest : public testing::Test {
  protected:
    // The difference of an edit, which is then taken.
    FleetDiff edit(const std::vector<WantedObject>& objects) {
        document::Diagnostics diagnostics;
        const auto changes = plan_edit(current_, objects, diagnostics);
        EXPECT_TRUE(changes) << diagnostics.text();
        if (!changes) return {};
        std::uint64_t next = 0;
        current_ = apply_edits(current_, make_edits(*changes, base::WallTime{1}, [&] {
                                   ++next;
                                   return std::pair(next, next);
                               }));
        return *changes;
    }
    std::vector<ConfigObject> current_;
};

TEST_F(ObjectStatesTest, WhatCameAndWentHasItsBodyAndWhatChangedItsFields) {
    const auto device = [](std::string_view tier) {
        return wanted(EditVerb::kPut, ObjectKind::kDevice, "web-1",
                      std::string(R"({"address":"192.0.2.1","addons":["icmp-ping"],"tier":")") +
                          std::string(tier) + "\"}");
    };
    const ObjectStates made = states_of(edit({device("high")}), "web-1");
    EXPECT_EQ(made.before, "");
    EXPECT_THAT(made.after, HasSubstr(R"("device web-1":{"version":1,"spec":{)"));
    EXPECT_THAT(made.after, HasSubstr(R"("address":"192.0.2.1")"));

    const FleetDiff changed = edit({device("low")});
    const ObjectStates states = states_of(changed, "web-1");
    EXPECT_EQ(states.before, R"({"device web-1":{"version":1,"fields":{"tier":"high"}}})");
    EXPECT_EQ(states.after, R"({"device web-1":{"version":2,"fields":{"tier":"low"}}})");
    EXPECT_EQ(states_of(changed, "web-2"), ObjectStates{}) << "of others nothing is said";
    EXPECT_EQ(states_of(changed, ""), states);
    // A target is told with its device, under the name of its task too.
    EXPECT_EQ(states_of(changed, "icmp-ping::web-1#eth0"), states);

    const ObjectStates gone =
        states_of(edit({wanted(EditVerb::kRemove, ObjectKind::kDevice, "web-1")}), "web-1");
    EXPECT_THAT(gone.before, HasSubstr(R"("device web-1":{"version":2,"spec":{)"));
    EXPECT_EQ(gone.after, "");
}

TEST_F(ObjectStatesTest, OfACredentialOnlyNamesOfFieldsAreTold) {
    const auto credential = [](std::string_view password) {
        return wanted(
            EditVerb::kPut, ObjectKind::kCredential, "switches",
            std::string(R"({"username":"monitor","password":")") + std::string(password) + "\"}");
    };
    const ObjectStates made = states_of(edit({credential("first hush hush")}), "switches");
    EXPECT_THAT(made.after, HasSubstr(R"("version":1,"fields":[)"));
    EXPECT_THAT(made.after, HasSubstr(R"("password")"));
    EXPECT_THAT(made.after, Not(HasSubstr("hush")));
    EXPECT_THAT(made.after, Not(HasSubstr("monitor")));
    const ObjectStates changed = states_of(edit({credential("second hush hush")}), "switches");
    EXPECT_EQ(changed.before, R"({"credential switches":{"version":1,"fields":["password"]}})");
    EXPECT_EQ(changed.after, R"({"credential switches":{"version":2,"fields":["password"]}})");
    const ObjectStates gone = states_of(
        edit({wanted(EditVerb::kRemove, ObjectKind::kCredential, "switches")}), "switches");
    EXPECT_THAT(gone.before, Not(HasSubstr("hush")));
    EXPECT_THAT(gone.before, HasSubstr(R"("fields":["username","password"])"));
}

}  // namespace
}  // namespace pollux::config
