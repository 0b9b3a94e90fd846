// Addons as people manage them while the server runs: stored, changed, switched, taken away, tried
// out; in force at the next poll, and over a sudden death.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "document/node.hpp"
#include "document/write.hpp"
#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::Contains;
using testing::HasSubstr;

// One number of the simulated status page, under a name of its own.
std::string manifest(const std::string& metric) {
    return fmt::format(
        "schema: pollux/1\nname: door\nversion: 1.0.0\ntitle: Door\nprotocol: http\n"
        "interval: 5s\nhttp:\n  base: \"http://{{host}}:{{port}}\"\n  endpoints:\n"
        "    - {{name: status, path: /as/json/status, format: json}}\n"
        "metrics:\n  - {{name: {}, type: gauge, help: Since its start., path: $.uptime_seconds}}\n",
        metric);
}

std::string upload(const std::string& text) {
    Node body = Node::map();
    body.set("manifest", Node::text(text));
    body.set("reason", Node::text("a test"));
    return document::to_json(body);
}

class AddonResource : public ApiStage {
  protected:
    AddonResource() : fleet_(lab::FleetServer::start({.snmp = 0, .http = 1}).value()) {}

    // Gives the simulated device the addon.
    ApiAnswer make_target(ApiClient& root) {
        const lab::Device& device = fleet_->fleet().http().at(0);
        return root.post("/api/targets",
                         fmt::format(R"({{"addon":"door","device":"gate","device_spec":)"
                                     R"({{"address":"{}","port":{}}}}})",
                                     lab::address_text(device.address()), fleet_->ports().http));
    }
    std::string last_success(ApiClient& root) {
        return root.get("/api/targets/door::gate").at("tasks.0.last_success");
    }
    bool polled_anew(ApiClient& root) {
        const std::string before = last_success(root);
        return eventually([&] { return last_success(root) > before; });
    }
    std::vector<std::string> actions() const {
        std::vector<std::string> names;
        for (const Node& record : trail()) names.push_back(text_at(record, "action"));
        return names;
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(AddonResource, AManifestIsCheckedWholeAndRefusedWithItsPlaces) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    std::string wrong = manifest("uptime");
    wrong.replace(wrong.find("type: gauge"), 11, "type: gouge");
    const ApiAnswer refused = root.post("/api/addons", upload(wrong));
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_EQ(refused.at("code"), "addon.invalid");
    EXPECT_EQ(refused.at("errors.0.pointer"), "/metrics/0/type") << refused.body;
    EXPECT_THAT(refused.at("errors.0.detail"), HasSubstr("line 12: ")) << refused.body;
    EXPECT_EQ(root.post("/api/addons", R"({"manifest":""})").status, 422);
    EXPECT_EQ(root.post("/api/addons", R"({"manifest":"a: [b"})").status, 422);
    EXPECT_EQ(root.get("/api/addons/door").status, 404);

    EXPECT_EQ(root.post("/api/addons?dry_run=true", upload(manifest("uptime"))).status, 200);
    EXPECT_EQ(root.get("/api/addons/door").status, 404) << "only checked";
    EXPECT_THAT(actions(), testing::Not(Contains("addon.create")));
}

TEST_F(AddonResource, IsPolledByTheNextManifestAndSurvivesASuddenDeath) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    const ApiAnswer made = root.post("/api/addons", upload(manifest("uptime")));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.at("origin"), "api");
    EXPECT_EQ(made.at("revision"), "1");
    EXPECT_EQ(root.post("/api/addons", upload(manifest("uptime"))).status, 409);
    ASSERT_EQ(make_target(root).status, 201);
    const auto shown = [&](const std::string& metric) {
        return eventually([&] {
            return server_->device_metrics().text().find("pollux_device_" + metric + "{") !=
                   std::string::npos;
        });
    };
    ASSERT_TRUE(shown("uptime")) << server_->device_metrics().text();

    EXPECT_EQ(root.put("/api/addons/door", upload(manifest("age"))).status, 428);
    EXPECT_EQ(root.put("/api/addons/door", upload(manifest("age")), {"If-Match: \"v7\""}).status,
              412);
    EXPECT_EQ(root.put("/api/addons/http-json", upload(manifest("age")), {"If-Match: *"}).status,
              422)
        << "the manifest of another";
    const ApiAnswer changed =
        root.put("/api/addons/door", upload(manifest("age")), {"If-Match: \"v1\""});
    ASSERT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(changed.header("etag"), "\"v2\"");
    server_->kill();
    start_again();
    ApiClient again = admin();
    EXPECT_EQ(again.get("/api/addons/door").at("revision"), "2");
    EXPECT_EQ(again.get("/api/addons/door/manifest").body, manifest("age"));
    ASSERT_TRUE(shown("age")) << server_->device_metrics().text();
    EXPECT_THAT(actions(), Contains("addon.create"));
    EXPECT_THAT(actions(), Contains("addon.change"));
}

TEST_F(AddonResource, ADisabledOneStopsItsTargetsWhateverIsSaidAboutThem) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    ASSERT_EQ(root.post("/api/addons", upload(manifest("uptime"))).status, 201);
    ASSERT_EQ(make_target(root).status, 201);
    ASSERT_TRUE(eventually([&] { return !last_success(root).empty(); }));

    ASSERT_EQ(root.post("/api/addons/door/disable").status, 200);
    EXPECT_EQ(root.post("/api/addons/door/disable").status, 409) << "it is already";
    const auto told = [&](ApiClient& client) {
        const ApiAnswer why = client.get("/api/tasks/door::gate/explain");
        EXPECT_THAT(why.at("verdict"), HasSubstr("addon \"door\" is disabled")) << why.body;
        EXPECT_EQ(why.at("gates.0.open"), "false");
        for (const char* act : {"enable", "poll"}) {
            const ApiAnswer refused = client.post(fmt::format("/api/targets/door::gate/{}", act));
            EXPECT_EQ(refused.status, 409) << refused.body;
            EXPECT_EQ(refused.at("code"), "addon.disabled");
        }
    };
    told(root);
    server_->kill();
    start_again();
    ApiClient again = admin();
    EXPECT_EQ(again.get("/api/addons/door").at("enabled"), "false");
    told(again);
    ASSERT_EQ(again.post("/api/addons/door/enable").status, 200);
    EXPECT_TRUE(polled_anew(again)) << again.get("/api/tasks/door::gate/explain").body;
}

TEST_F(AddonResource, GoesOnlyWhenNobodyNeedsItAndGivesWayToTheShippedOne) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    ASSERT_EQ(root.post("/api/addons", upload(manifest("uptime"))).status, 201);
    ASSERT_EQ(make_target(root).status, 201);
    const ApiAnswer refused = root.ask("DELETE", "/api/addons/door");
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.at("code"), "addon.in_use");
    EXPECT_THAT(refused.at("detail"), HasSubstr("door::gate"));
    ASSERT_EQ(root.ask("DELETE", "/api/targets/door::gate").status, 204);
    EXPECT_EQ(root.ask("DELETE", "/api/addons/door").status, 204);
    EXPECT_EQ(root.get("/api/addons/door").status, 404);

    // A copy of a shipped one.
    const ApiAnswer shipped = root.get("/api/addons/http-json/manifest");
    ASSERT_EQ(shipped.status, 200);
    EXPECT_EQ(shipped.header("etag"), "\"v0\"");
    EXPECT_EQ(root.ask("DELETE", "/api/addons/http-json").status, 409) << "there is no copy";
    std::string text = shipped.body;
    text.replace(text.find("version: 1.0.0"), 14, "version: 9.9.9");
    const ApiAnswer own = root.put("/api/addons/http-json", upload(text), {"If-Match: \"v0\""});
    ASSERT_EQ(own.status, 200) << own.body;
    EXPECT_EQ(own.at("version"), "9.9.9");
    EXPECT_EQ(own.at("origin"), "api");
    server_->kill();
    start_again();
    ApiClient again = admin();
    EXPECT_EQ(again.get("/api/addons/http-json").at("version"), "9.9.9") << "never overwritten";
    EXPECT_EQ(again.ask("DELETE", "/api/addons/http-json").status, 204);
    EXPECT_EQ(again.get("/api/addons/http-json").at("version"), "1.0.0");
    EXPECT_EQ(again.get("/api/addons/http-json").at("origin"), "shipped");
    EXPECT_THAT(actions(), Contains("addon.remove"));
}

TEST_F(AddonResource, IsTriedOutWithCapturedReplies) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    const ApiAnswer known =
        root.post("/api/addons/http-json/test",
                  R"({"parameters":{"value_path":"$.n","warn_above":"5"},"steps":[)"
                  R"({"http":{"body":"{\"n\":3}"}},{"at":"60s","http":{"body":"{\"n\":9}"}},)"
                  R"({"at":"120s","failure":{"message":"gone"}}]})");
    ASSERT_EQ(known.status, 200) << known.body;
    EXPECT_EQ(known.at("steps.0.readings.value"), "3");
    EXPECT_EQ(known.at("steps.0.conditions.value_high"), "clear");
    EXPECT_EQ(known.at("steps.1.conditions.value_high"), "triggered");
    EXPECT_EQ(known.at("steps.2.failed"), "true");
    EXPECT_THAT(known.at("asks.0"), HasSubstr("192.0.2.1"));

    Node body = Node::map();
    body.set("manifest", Node::text(manifest("uptime")));
    Node reply = Node::map();
    reply.set("body", Node::text(R"({"other":1})"));
    Node step = Node::map();
    step.set("http", reply);
    Node steps = Node::sequence();
    steps.push(step);
    body.set("steps", steps);
    const ApiAnswer fresh = root.post("/api/addons/door/test", document::to_json(body));
    ASSERT_EQ(fresh.status, 200) << fresh.body;
    EXPECT_EQ(fresh.at("steps.0.missing"), "1");
    EXPECT_FALSE(fresh.at("steps.0.problems.0").empty()) << fresh.body;
    EXPECT_EQ(root.get("/api/addons/door").status, 404) << "nothing was stored";

    // No file of the server is read for anybody.
    const ApiAnswer file = root.post("/api/addons/http-json/test",
                                     R"({"steps":[{"http":{"body_file":"/etc/passwd"}}]})");
    EXPECT_EQ(file.status, 422);
    EXPECT_THAT(file.body, testing::Not(HasSubstr("root:")));
    EXPECT_EQ(root.post("/api/addons/http-json/test", R"({"steps":[{"htpp":{}}]})").status, 422);
    EXPECT_EQ(root.post("/api/addons/nobody/test", R"({"steps":[]})").status, 404);
}

}  // namespace
}  // namespace pollux::live
