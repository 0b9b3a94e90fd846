#include "runtime/fleet_image.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/check_fleet.hpp"
#include "config/fleet_reader.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/secret_files.hpp"

namespace pollux::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr const char* kToken = "s3cret-token-value";

class FleetImageTest : public testing::Test {
  protected:
    FleetImage image(const std::string& yaml) {
        diagnostics_ = document::Diagnostics();
        const std::vector<config::FileText> files = {{"fleet.yaml", yaml}};
        const config::LoadedFleet loaded = config::read_fleet(files, diagnostics_);
        config::check_fleet(loaded.fleet, loaded.places, diagnostics_);
        EXPECT_TRUE(diagnostics_.ok()) << diagnostics_.text();
        return make_image({.fleet = loaded.fleet,
                           .places = loaded.places,
                           .addons = addons_,
                           .settings = settings_,
                           .ids = {{"lamp::hall", "id-1"}},
                           .secrets = secret_source(environment_, nullptr),
                           .shards = shards_,
                           .disabled = disabled_},
                          diagnostics_);
    }
    static std::vector<std::string> keys(const CoreEdit& edit) {
        std::vector<std::string> all;
        for (const auto& plan : edit.plans) all.push_back(plan->key);
        return all;
    }
    static std::vector<std::string> upserted(const CoreEdit& edit) {
        std::vector<std::string> all;
        for (const auto& spec : *edit.upserted) all.push_back(spec.key);
        return all;
    }

    AddonSet addons_ = {{"lamp", test::lamp_addon()}};
    config::Settings settings_;
    config::Environment environment_ = {{"LAMP_TOKEN", kToken}};
    document::Diagnostics diagnostics_;
    std::size_t shards_ = 1;
    AddonNames disabled_;
};

TEST_F(FleetImageTest, ADisabledAddonPausesItsTargetsWhateverIsSaidNearer) {
    constexpr const char* kFleet = R"yaml(
devices:
  hall: {addons: [{name: lamp, enabled: true}]}
)yaml";
    const FleetImage on = image(kFleet);
    disabled_ = {"lamp"};
    const FleetImage off = image(kFleet);
    EXPECT_FALSE(off.expansion.tasks.at(0).enabled);
    EXPECT_NE(off.expansion.tasks.at(0).version, on.expansion.tasks.at(0).version)
        << "a switch of an operator from before does not count";
    EXPECT_THAT(off.plans.at("lamp::hall")->paused, HasSubstr("addon \"lamp\" is disabled"));
    EXPECT_THAT(upserted(difference(on, off)), ElementsAre("lamp::hall"));
    EXPECT_THAT(keys(difference(on, off)), ElementsAre("lamp::hall"));
    EXPECT_THAT(difference(on, off).poked, IsEmpty());
    disabled_ = {};
    const FleetImage again = image(kFleet);
    EXPECT_EQ(again.expansion.tasks.at(0), on.expansion.tasks.at(0));
    EXPECT_EQ(again.plans.at("lamp::hall")->paused, "");
}

// An addon that reads by its parameters cannot even be made without the right ones.
TEST_F(FleetImageTest, WrongParametersAreToldAtTheDevice) {
    addons_["ask"] = test::compiled(R"yaml(schema: pollux/1
name: ask
version: 1.0.0
protocol: dns
parameters:
  name: {required: true, example: example.net}
  slow_above: {type: number, default: "1"}
dns: {queries: [{name: lookup, query: "{name}"}]}
metrics:
  - {name: latency, type: gauge, fact: latency}
conditions:
  - {name: slow, metric: latency, trigger: "> {slow_above}"}
)yaml");
    for (const char* parameters :
         {"{}", "{name: example.net, nme: x}", "{name: a, slow_above: b}"}) {
        const FleetImage made = image(
            fmt::format("devices:\n  hall: {{addons: [{{name: ask, params: {}}}]}}\n", parameters));
        EXPECT_THAT(diagnostics_.text(),
                    AllOf(HasSubstr("fleet.yaml:2: ask::hall: "), HasSubstr("addon ask")))
            << parameters;
        EXPECT_NE(made.plans.at("ask::hall")->problem, "");
    }
    image("devices:\n  hall: {addons: [{name: ask, params: {name: example.net}}]}\n");
    EXPECT_TRUE(diagnostics_.ok()) << diagnostics_.text();
}

TEST_F(FleetImageTest, HasAPlanForEveryTask) {
    const FleetImage made = image(R"yaml(
devices:
  hall: {addresses: [10.0.0.1, 10.0.0.2], labels: {floor: "1"}, port: 81, addons: [lamp]}
  cellar: {addons: [lamp]}
)yaml");
    EXPECT_TRUE(diagnostics_.ok()) << diagnostics_.text();
    ASSERT_EQ(made.plans.size(), 2U);
    ASSERT_EQ(made.expansion.tasks.size(), 2U);
    const PollPlan& hall = *made.plans.at("lamp::hall");
    EXPECT_EQ(hall.class_name, "lamp");
    EXPECT_EQ(hall.device, "hall");
    EXPECT_EQ(hall.target_id, "id-1");
    EXPECT_EQ(hall.problem, "");
    EXPECT_THAT(hall.labels, ElementsAre(Pair("floor", "1")));
    ASSERT_EQ(hall.asks.size(), 2U) << "one list for each address";
    ASSERT_EQ(hall.asks[0].size(), 2U);
    EXPECT_EQ(hall.asks[0][0]->host, "10.0.0.1");
    EXPECT_EQ(hall.asks[1][0]->host, "10.0.0.2");
    EXPECT_EQ(std::get<model::HttpAsk>(hall.asks[0][1]->request).url, "http://10.0.0.1:81/extra");
    EXPECT_GE(hall.stale_after, 5min);
    for (const model::TaskSpec& spec : made.expansion.tasks) {
        base::Duration together{};
        for (const auto& ask : made.plans.at(spec.key)->asks[0]) together += ask->timeout;
        EXPECT_GT(spec.timeout, together) << "drivers give up first";
    }
    ASSERT_NE(made.settings, nullptr);
    EXPECT_EQ(made.settings->classes.at(0).name, "lamp");
}

TEST_F(FleetImageTest, AMissingSecretIsAWarningAndAReason) {
    const std::string fleet = R"yaml(
credentials: {web: {token: "${OTHER_TOKEN}"}}
devices:
  hall: {credentials: web, addons: [lamp]}
  cellar: {addons: [lamp]}
)yaml";
    const FleetImage made = image(fleet);
    EXPECT_TRUE(diagnostics_.ok()) << diagnostics_.text();
    EXPECT_THAT(diagnostics_.text(), HasSubstr("OTHER_TOKEN"));
    EXPECT_THAT(made.plans.at("lamp::hall")->problem, HasSubstr("OTHER_TOKEN"));
    EXPECT_EQ(made.plans.at("lamp::cellar")->problem, "") << "the others are polled";

    environment_["OTHER_TOKEN"] = kToken;
    const FleetImage mended = image(fleet);
    EXPECT_EQ(mended.plans.at("lamp::hall")->problem, "");
    EXPECT_EQ(mended.plans.at("lamp::hall")->asks[0][0]->credentials->token.reveal(), kToken);
    EXPECT_THAT(diagnostics_.text(), Not(HasSubstr(kToken)));
    const CoreEdit edit = difference(made, mended);
    EXPECT_THAT(keys(edit), ElementsAre("lamp::hall"));
    EXPECT_THAT(edit.poked, ElementsAre("lamp::hall")) << "it may answer now";
}

TEST_F(FleetImageTest, AnAddonThatIsNotKnownIsAnError) {
    image("devices: {hall: {addons: [lump]}}");
    EXPECT_FALSE(diagnostics_.ok());
    EXPECT_THAT(diagnostics_.text(), HasSubstr("lump"));
    EXPECT_THAT(diagnostics_.text(), HasSubstr("fleet.yaml:1"));
}

TEST_F(FleetImageTest, NothingLeadsFromAnImageToItself) {
    const std::string fleet = R"yaml(
credentials: {web: {token: "${LAMP_TOKEN}"}}
devices:
  hall: {credentials: web, addons: [lamp]}
  cellar: {limits: {rate: 2}, addons: [lamp]}
)yaml";
    const FleetImage one = image(fleet);
    const FleetImage two = image(fleet);
    const CoreEdit edit = difference(one, two);
    EXPECT_EQ(edit.settings, nullptr);
    EXPECT_THAT(edit.devices, IsEmpty());
    EXPECT_THAT(edit.removed, IsEmpty());
    EXPECT_THAT(upserted(edit), IsEmpty());
    EXPECT_THAT(keys(edit), IsEmpty());
    EXPECT_THAT(edit.poked, IsEmpty());
}

TEST_F(FleetImageTest, FromNothingEverythingIsNew) {
    const FleetImage made = image("devices: {hall: {addons: [lamp]}, cellar: {addons: [lamp]}}");
    const CoreEdit edit = difference({}, made);
    EXPECT_EQ(edit.settings, made.settings);
    EXPECT_THAT(upserted(edit), UnorderedElementsAre("lamp::hall", "lamp::cellar"));
    EXPECT_THAT(keys(edit), UnorderedElementsAre("lamp::hall", "lamp::cellar"));
    EXPECT_THAT(edit.poked, IsEmpty()) << "new tasks are asked anyway";
    EXPECT_EQ(edit.devices.size(), made.expansion.devices.size());
}

TEST_F(FleetImageTest, OnlyWhatChangedIsTold) {
    const FleetImage before = image(R"yaml(
devices:
  attic: {addons: [lamp]}
  cellar: {addons: [lamp]}
  hall: {address: 10.0.0.1, addons: [lamp]}
  kitchen: {labels: {floor: "1"}, addons: [lamp]}
  stairs: {interval: 60s, addons: [lamp]}
)yaml");
    const FleetImage after = image(R"yaml(
devices:
  cellar: {addons: [lamp]}
  door: {addons: [lamp]}
  hall: {address: 10.0.0.7, addons: [lamp]}
  kitchen: {labels: {floor: "2"}, addons: [lamp]}
  stairs: {interval: 30s, addons: [lamp]}
)yaml");
    const CoreEdit edit = difference(before, after);
    EXPECT_THAT(edit.removed, ElementsAre("lamp::attic"));
    const auto told = upserted(edit);
    EXPECT_THAT(told, testing::Contains("lamp::door"));
    EXPECT_THAT(told, testing::Contains("lamp::stairs"));
    EXPECT_THAT(told, Not(testing::Contains("lamp::cellar")));
    EXPECT_THAT(keys(edit), testing::IsSupersetOf({"lamp::door", "lamp::hall", "lamp::kitchen"}));
    EXPECT_THAT(keys(edit), Not(testing::Contains("lamp::cellar")));
    EXPECT_THAT(edit.poked, ElementsAre("lamp::hall")) << "labels do not change what is asked";
}

TEST_F(FleetImageTest, AnotherSecretIsAskedWithAtOnce) {
    const std::string fleet = R"yaml(
credentials: {web: {token: "${LAMP_TOKEN}"}}
devices: {hall: {credentials: web, addons: [lamp]}}
)yaml";
    const FleetImage before = image(fleet);
    environment_["LAMP_TOKEN"] = "another";
    const CoreEdit edit = difference(before, image(fleet));
    EXPECT_THAT(edit.poked, ElementsAre("lamp::hall"));
    EXPECT_THAT(upserted(edit), IsEmpty()) << "the task itself is the same";
}

TEST(ShardOf, IsStableAndSpreads) {
    std::set<std::size_t> used;
    for (int i = 0; i < 100; ++i) {
        const std::string host = "10.0.0." + std::to_string(i);
        const std::size_t shard = shard_of(host, 4);
        EXPECT_LT(shard, 4U);
        EXPECT_EQ(shard, shard_of(host, 4));
        EXPECT_EQ(shard_of(host, 1), 0U);
        EXPECT_EQ(shard_of(host, 0), 0U);
        used.insert(shard);
    }
    EXPECT_EQ(used.size(), 4U);
}

}  // namespace
}  // namespace pollux::runtime
