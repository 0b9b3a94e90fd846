// From the neighbours that devices tell of to one incident: a topology job asks real agents by
// SNMP, somebody accepts the parents that it proposes, the core dies, and people read one message.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "document/write.hpp"
#include "net/test_http_catcher.hpp"
#include "tests/live/alert_stage.hpp"
#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSwitches = 4;  // the first one is the core, see lab/wiring.hpp
constexpr std::size_t kHosts = 3;     // each on an access switch of its own

std::string sw(std::size_t number) { return fmt::format("sw-{:05}", number); }

class TopologyJob : public ApiStage {
  protected:
    // All devices are of the API but the last host, which the fleet file owns.
    void begin() {
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}");
        text += fmt::format(
            "receivers:\n  ops: {{channels: [{{url: \"json://127.0.0.1:{}/hook\", per_minute: "
            "600}}]}}\nroutes:\n  all: {{receivers: [ops], group_wait: 0s, repeat: "
            "0s}}\ndevices:\n",
            receiver_.port());
        text += json_device(*fleet_, kHosts - 1);
        ASSERT_NO_FATAL_FAILURE(
            start(text, {{"POLLUX_ALERTS_REVIEW", "false"},
                         {kCommunityVariable, std::string(lab::kPrivateCommunity)}}));
        std::string operations;
        for (std::size_t i = 1; i <= kSwitches; ++i) operations += switch_operation(i) + ",";
        for (std::size_t i = 1; i < kHosts; ++i) operations += host_operation(i) + ",";
        operations.pop_back();
        ApiClient root = admin();
        const ApiAnswer made =
            root.post("/api/targets/bulk", R"({"operations":[)" + operations + "]}");
        ASSERT_EQ(made.status, 200) << made.body;
        ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    }
    std::string switch_operation(std::size_t number) const {
        const lab::Device& device = fleet_->fleet().snmp().at(number - 1);
        const bool open = device.community() == lab::kPublicCommunity;
        return fmt::format(
            R"({{"op":"create","addon":"snmp-system","device":"{}","device_spec":{{"address":"{}",)"
            R"("port":{},"snmp":{{"community":"{}"}}}}}})",
            device.name(), lab::address_text(device.address()), fleet_->ports().snmp,
            open ? "public" : fmt::format("${{{}}}", kCommunityVariable));
    }
    std::string host_operation(std::size_t number) const {
        const lab::Device& device = fleet_->fleet().http().at(number - 1);
        return fmt::format(
            R"({{"op":"create","addon":"http-json","device":"{}","device_spec":{{"address":"{}",)"
            R"("port":{}}},"spec":{{"params":{{"path":"/as/json/status",)"
            R"("value_path":"$.uptime_seconds"}}}}}})",
            device.name(), lab::address_text(device.address()), fleet_->ports().http);
    }
    // Runs the job to its end; its id.
    std::string run(const std::string& arguments, const std::string& end) {
        ApiClient root = admin();
        const ApiAnswer made =
            root.post("/api/jobs", R"({"type":"topology","arguments":)" + arguments + "}");
        EXPECT_EQ(made.status, 201) << made.body;
        const std::string id = made.at("ids.0");
        EXPECT_TRUE(eventually([&] { return root.get("/api/jobs/" + id).at("state") == end; }))
            << root.get("/api/jobs/" + id).body << root.get("/api/jobs/" + id + "/runs").body;
        return id;
    }
    std::string parents_of(const std::string& device) {
        ApiClient root = admin();
        const ApiAnswer answer = root.get("/api/devices/" + device);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.at("spec.parents.0") + " " +
               (answer.at("spec.labels.parents_discovered_by").empty() ? "" : "discovered");
    }
    CommandResult pollux(std::vector<std::string> arguments) const {
        return run_pollux(folder_, std::move(arguments),
                          {{"POLLUX_URL", "http://" + server_->api_address()},
                           {"POLLUX_TOKEN", root_token_},
                           {"NO_COLOR", "1"}});
    }
    std::vector<Told> told(const std::string& kind) {
        std::vector<Told> found;
        for (const net::Request& request : receiver_.requests()) {
            const Told one = read_told(request);
            if (one.kind == kind) found.push_back(one);
        }
        return found;
    }
    void all_fail() {
        // The ends first: the core is the last one that is seen to fail.
        for (std::size_t i = 1; i <= kHosts; ++i) {
            ASSERT_TRUE(fleet_->set_fault(web(i), lab::FaultKind::kDown));
        }
        for (std::size_t i = kSwitches; i >= 1; --i) {
            ASSERT_TRUE(fleet_->set_fault(sw(i), lab::FaultKind::kDown));
        }
    }

    std::unique_ptr<lab::FleetServer> fleet_ =
        lab::FleetServer::start({.snmp = kSwitches, .http = kHosts}).value();
    net::test::HttpCatcher receiver_;
};

TEST_F(TopologyJob, FromNeighboursToOneIncident) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const std::string id = run(R"({"root":["sw-00001"]})", "completed");
    const ApiAnswer proposal = root.get("/api/jobs/" + id + "/proposal");
    ASSERT_EQ(proposal.status, 200) << proposal.body;
    EXPECT_EQ(proposal.at("topology.asked"), "4") << proposal.body;
    EXPECT_EQ(proposal.at("topology.answered"), "4") << proposal.body;
    EXPECT_EQ(proposal.at("topology.proposed"), "6") << proposal.body;
    EXPECT_EQ(proposal.at("topology.unreached.count"), "") << proposal.body;
    const Node changes = *proposal.json().find("topology")->find("changes");
    const auto about = [&](const std::string& device, const std::string& path) {
        const Node* one = entry_with(changes, "device", device);
        return one == nullptr ? "nothing" : text_at(*one, path);
    };
    EXPECT_EQ(about(sw(2), "parents.0"), sw(1));
    EXPECT_EQ(about(sw(2), "by.0"), "lldp");
    EXPECT_EQ(about(web(1), "parents.0"), sw(2));
    EXPECT_EQ(about(web(1), "by.0"), "arp+bridge");
    EXPECT_EQ(about(web(2), "parents.0"), sw(3));
    EXPECT_EQ(about(web(3), "parents.0"), sw(4));
    EXPECT_EQ(about(web(3), "origin"), "file");
    EXPECT_EQ(parents_of(web(1)), " ") << "nothing is applied by itself";

    // As an operator reads and accepts it; what the file owns is left out until it is adopted.
    const CommandResult shown = pollux({"job", "proposal", id});
    EXPECT_EQ(shown.code, 0) << shown.output;
    EXPECT_THAT(shown.output, AllOf(HasSubstr("4 of 4 devices answered; roots: sw-00001"),
                                    HasSubstr("new; owned by file")));
    const CommandResult taken = pollux({"job", "accept", id, "--reason", "tree"});
    EXPECT_EQ(taken.code, 0) << taken.output;
    EXPECT_THAT(taken.output, HasSubstr("parents of 5 devices taken over"));
    EXPECT_EQ(parents_of(sw(3)), "sw-00001 discovered");
    EXPECT_EQ(parents_of(web(1)), "sw-00002 discovered");
    EXPECT_EQ(parents_of(web(3)), " ");
    const ApiAnswer refused =
        root.post("/api/jobs/" + id + "/accept", R"({"devices":["web-00003"]})");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.at("code"), "object.owned");
    const ApiAnswer adopted =
        root.post("/api/jobs/" + id + "/accept", R"({"devices":["web-00003"],"adopt":true})");
    EXPECT_EQ(adopted.status, 200) << adopted.body;
    EXPECT_EQ(adopted.at("accepted.0"), "web-00003");
    EXPECT_EQ(parents_of(web(3)), "sw-00004 discovered");
    EXPECT_EQ(trail({"--action", "device.change", "--result", "allowed"}).size(), 5U);
    EXPECT_EQ(trail({"--action", "device.adopt", "--result", "allowed"}).size(), 1U);

    ASSERT_NO_FATAL_FAILURE(all_fail());
    ASSERT_TRUE(eventually([&] { return !told("problem").empty(); })) << server_->log();
    // Until all of them are known to be down.
    ASSERT_TRUE(eventually([&] {
        return root.get("/api/alerts/stats").at("by_status.suppressed") == "6";
    })) << root.get("/api/alerts/stats").body
        << root.get("/api/alerts").body;
    std::this_thread::sleep_for(std::chrono::seconds(5));
    const std::vector<Told> problems = told("problem");
    ASSERT_EQ(problems.size(), 1U) << server_->log();
    EXPECT_THAT(problems[0].title, HasSubstr("sw-00001"));
    const ApiAnswer incidents = root.get("/api/incidents?status=open");
    EXPECT_EQ(incidents.json().find("items")->items().size(), 1U) << incidents.body;
    const ApiAnswer incident = root.get("/api/incidents/" + incidents.at("items.0.id"));
    EXPECT_EQ(incident.at("root_alert.device_name"), "sw-00001") << incident.body;
}

TEST_F(TopologyJob, WhatCannotBeDoneIsSaid) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    // The gateway of this machine is none of these devices.
    const std::string nowhere = run("{}", "failed");
    EXPECT_THAT(root.get("/api/jobs/" + nowhere).at("failure"), HasSubstr("argument `root`"));
    EXPECT_EQ(root.get("/api/jobs/" + nowhere + "/proposal").status, 409);
    EXPECT_EQ(root.post("/api/jobs/" + nowhere + "/accept").status, 409);
    EXPECT_EQ(root.post("/api/jobs/nobody/accept").status, 404);
    const std::string id = run(R"({"root":"sw-00001"})", "completed");
    for (const char* body :
         {R"({"devices":[]})", R"({"devices":["nobody"]})", R"({"device":"x"})"}) {
        EXPECT_EQ(root.post("/api/jobs/" + id + "/accept", body).status, 422) << body;
    }
    // What an operator wrote since the job ran is not overwritten.
    const ApiAnswer device = root.get("/api/devices/sw-00002");
    Node spec = *device.json().find("spec");
    Node parents = Node::sequence();
    parents.push(Node::text("sw-00003"));
    spec.set("parents", parents);
    const ApiAnswer written =
        root.put("/api/devices/sw-00002", document::to_json(spec), {"If-Match: *"});
    ASSERT_EQ(written.status, 200) << written.body;
    const ApiAnswer refused =
        root.post("/api/jobs/" + id + "/accept", R"({"devices":["sw-00002"]})");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.at("code"), "topology.by_hand");
    // Who may not change devices, may not accept.
    ApiClient oscar = client_with(new_user("oscar", R"([{"role":"operator"}])"));
    EXPECT_EQ(oscar.get("/api/jobs/" + id + "/proposal").status, 200);
    EXPECT_EQ(oscar.post("/api/jobs/" + id + "/accept").status, 403);
    EXPECT_EQ(parents_of("sw-00004"), " ");
    // A device that does not answer is named, and the others are asked all the same.
    ASSERT_TRUE(fleet_->set_fault("sw-00004", lab::FaultKind::kDown));
    const std::string some = run(R"({"root":["sw-00001"],"table_timeout":"2s"})", "completed");
    const ApiAnswer proposal = root.get("/api/jobs/" + some + "/proposal");
    EXPECT_EQ(proposal.at("topology.answered"), "3") << proposal.body;
    EXPECT_THAT(root.get("/api/jobs/" + some + "/runs").body,
                HasSubstr("sw-00004: LLDP and CDP not read"));
}

}  // namespace
}  // namespace pollux::live
