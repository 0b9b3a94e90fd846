// Many targets at once, taken whole or not at all, and a sweep whose proposal is such a list.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "document/write.hpp"
#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;

constexpr const char* kFleet = R"(
devices:
  filed: {address: 127.0.0.1, addons: [icmp-ping]}
)";

class BulkTargets : public ApiStage {
  protected:
    std::size_t count(ApiClient& client) {
        return client.get("/api/targets?limit=1000").json().find("items")->items().size();
    }
    std::size_t recorded(const std::string& action) const {
        return trail({"--action", action}).size();
    }
};

TEST_F(BulkTargets, AreTakenWholeWithAnEntryForEachOrNotAtAll) {
    ASSERT_NO_FATAL_FAILURE(start(kFleet));
    ApiClient root = admin();
    std::string all = R"({"reason":"new racks","operations":[)";
    for (int i = 0; i < 50; ++i) {
        all += fmt::format(R"({{"op":"create","addon":"icmp-ping","device":"d{0}","device_spec":)"
                           R"({{"address":"127.0.0.1"}}}},{{"op":"create","addon":"tcp-port",)"
                           R"("device":"d{0}","spec":{{"port":9}}}},)",
                           i);
    }
    const std::string switches = R"({"op":"disable","key":"icmp-ping::d0"},)"
                                 R"({"op":"poll","key":"icmp-ping::d1"}]})";
    // One that is wrong, at the very end.
    const ApiAnswer refused =
        root.post("/api/targets/bulk", all + R"({"op":"delete","key":"icmp-ping::nobody"}]})");
    EXPECT_EQ(refused.status, 404) << refused.body;
    EXPECT_EQ(refused.at("errors.0.pointer"), "/operations/100");
    EXPECT_EQ(count(root), 1U);
    EXPECT_EQ(recorded("target.create"), 0U);
    const ApiAnswer owned =
        root.post("/api/targets/bulk", all + R"({"op":"delete","key":"icmp-ping::filed"}]})");
    EXPECT_EQ(owned.status, 409) << "files own it: " << owned.body;
    EXPECT_EQ(count(root), 1U);

    const ApiAnswer done = root.post("/api/targets/bulk", all + switches);
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(done.at("failed"), "0");
    EXPECT_EQ(done.at("results.0.key"), "icmp-ping::d0");
    EXPECT_EQ(done.at("results.100.result"), "done");
    EXPECT_EQ(count(root), 101U);
    EXPECT_EQ(recorded("target.create"), 100U);
    EXPECT_EQ(recorded("target.disable"), 1U);
    EXPECT_EQ(root.get("/api/targets/icmp-ping::d0").at("tasks.0.enabled"), "false");
    const ApiAnswer history = root.get("/api/targets/tcp-port::d0/history");
    EXPECT_EQ(history.status, 200) << "there may be nothing yet: " << history.body;
    server_->kill();
    start_again();
    ApiClient again = admin();
    EXPECT_EQ(count(again), 101U);
    EXPECT_EQ(recorded("target.create"), 100U);
    const ApiAnswer same = again.post("/api/targets/bulk",
                                      R"({"operations":[{"op":"disable","key":"icmp-ping::d0"}]})");
    EXPECT_EQ(same.at("results.0.result"), "unchanged") << same.body;
}

TEST_F(BulkTargets, AScopeHoldsForEveryOperationOfTheList) {
    ASSERT_NO_FATAL_FAILURE(
        start("devices:\n"
              "  here: {address: 127.0.0.1, labels: {site: berlin}, addons: [icmp-ping]}\n"
              "  there: {address: 127.0.0.1, labels: {site: bonn}, addons: [icmp-ping]}\n"));
    ApiClient berlin =
        client_with(new_user("berlin", R"([{"role":"admin","selector":"site=berlin"}])"));
    EXPECT_EQ(berlin
                  .post("/api/targets/bulk",
                        R"({"operations":[{"op":"disable","key":"icmp-ping::here"}]})")
                  .status,
              200);
    const ApiAnswer refused = berlin.post(
        "/api/targets/bulk", R"({"operations":[{"op":"enable","key":"icmp-ping::here"},)"
                             R"({"op":"disable","key":"icmp-ping::there"}]})");
    EXPECT_EQ(refused.status, 403) << refused.body;
    ApiClient root = admin();
    EXPECT_EQ(root.get("/api/targets/icmp-ping::here").at("tasks.0.enabled"), "false");
    EXPECT_EQ(root.get("/api/targets/icmp-ping::there").at("tasks.0.enabled"), "true");
    EXPECT_EQ(trail({"--result", "refused", "--action", "target.disable"}).size(), 1U);
}

// As the operations on one target: an operator switches and polls, and edits nothing.
TEST_F(BulkTargets, AnOperatorSwitchesAndPollsButDoesNotEdit) {
    ASSERT_NO_FATAL_FAILURE(start(kFleet));
    ApiClient oscar = client_with(new_user("oscar", R"([{"role":"operator"}])"));
    const ApiAnswer done =
        oscar.post("/api/targets/bulk", R"({"operations":[{"op":"poll","key":"icmp-ping::filed"},)"
                                        R"({"op":"disable","key":"icmp-ping::filed"}]})");
    EXPECT_EQ(done.status, 200) << done.body;
    const ApiAnswer refused = oscar.post(
        "/api/targets/bulk", R"({"operations":[{"op":"enable","key":"icmp-ping::filed"},)"
                             R"({"op":"create","addon":"icmp-ping","device":"new",)"
                             R"("device_spec":{"address":"127.0.0.1"}}]})");
    EXPECT_EQ(refused.status, 403) << refused.body;
    ApiClient root = admin();
    EXPECT_EQ(root.get("/api/targets/icmp-ping::filed").at("tasks.0.enabled"), "false");
    EXPECT_EQ(count(root), 1U);
}

TEST_F(BulkTargets, AMistakeInABodyIsToldWhereTheRequestHoldsIt) {
    ASSERT_NO_FATAL_FAILURE(start(kFleet));
    ApiClient root = admin();
    const ApiAnswer refused =
        root.post("/api/targets", R"({"addon":"icmp-ping","device":"new",)"
                                  R"("device_spec":{"address":"no address at all"}})");
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_EQ(refused.at("errors.0.pointer"), "/device_spec/address") << refused.body;
}

TEST_F(BulkTargets, ASweepProposesWhatTheyTake) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    // The API itself answers there.
    const std::string address = server_->api_address();
    const ApiAnswer begun =
        root.post("/api/targets/discover",
                  fmt::format(R"({{"network":"127.0.0.1/32","methods":["http"],"http_port":{}}})",
                              address.substr(address.find(':') + 1)));
    ASSERT_EQ(begun.status, 202) << begun.body;
    EXPECT_EQ(begun.at("job.type"), "discovery");
    const std::string proposal = begun.at("proposal");
    ASSERT_TRUE(eventually([&] { return root.get(proposal).status == 200; }))
        << root.get("/api/jobs/" + begun.at("job.id")).body;
    const ApiAnswer found = root.get(proposal);
    EXPECT_EQ(found.at("devices"), "1") << found.body;
    Node list = Node::map();
    list.set("operations", *found.json().find("operations"));
    const ApiAnswer taken = root.post("/api/targets/bulk", document::to_json(list));
    EXPECT_EQ(taken.status, 200) << taken.body;
    EXPECT_EQ(root.get("/api/targets/http-status::host-127-0-0-1").status, 200) << found.body;
    // More than a sweep may ask, or no network at all: refused with the place of the mistake.
    for (const char* network : {"127.0.0.0/8", "fd00::/64", "nowhere"}) {
        const ApiAnswer refused =
            root.post("/api/targets/discover", fmt::format(R"({{"network":"{}"}})", network));
        EXPECT_EQ(refused.status, 422) << refused.body;
        EXPECT_EQ(refused.at("errors.0.pointer"), "/network") << refused.body;
        EXPECT_THAT(refused.at("errors.0.detail"), testing::HasSubstr(network));
        const ApiAnswer job = root.post(
            "/api/jobs",
            fmt::format(R"({{"type":"discovery","arguments":{{"network":"{}"}}}})", network));
        EXPECT_EQ(job.status, 422) << job.body;
        EXPECT_EQ(job.at("errors.0.pointer"), "/arguments/network") << job.body;
    }
}

}  // namespace
}  // namespace pollux::live
