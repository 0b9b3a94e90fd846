// A server that watches devices which really fail, and its API. Fixtures derive from it.
#pragma once

#include <fmt/format.h>

#include "lab/fleet_server.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"

namespace pollux::live {

// Devices by number: web-00001 and so on.
inline std::string web(std::size_t number) { return fmt::format("web-{:05}", number); }
inline std::string web_key(std::size_t number) { return "http-json::" + web(number); }

class FailingStage : public ApiStage {
  protected:
    static constexpr std::size_t kDevices = 9;
    static constexpr std::size_t kTired = 1;   // answers 500
    static constexpr std::size_t kGone = 2;    // nobody listens there
    static constexpr std::size_t kWell = 3;    // is never touched
    static constexpr std::size_t kLocked = 4;  // this one and those above answer 401

    FailingStage() : fleet_(lab::FleetServer::start({.snmp = 0, .http = kDevices}).value()) {}

    // Starts everything; returns when everything that fails is a dead letter. `more` is further
    // text of the fleet.
    void start_failing(Environment environment = {}, const std::string& more = "") {
        // Intervals this short live at the fast pace: a dead letter after ten seconds.
        std::string text =
            addon_settings("interval: {min: 4s, base: 4s, max: 4s}") + more + "devices:\n";
        for (std::size_t i = 1; i <= kDevices; ++i) {
            if (i == kGone) {
                text += fmt::format(
                    "  {}: {{address: 127.0.0.1, port: {}, labels: {{site: bonn}}, addons: "
                    "[{{name: "
                    "http-json, params: {{path: /, value_path: $.uptime_seconds}}}}]}}\n",
                    web(i), net::test::free_port());
                continue;
            }
            text +=
                json_device(*fleet_, i - 1, "/as/json/status",
                            fmt::format("labels: {{site: {}}}", i == kWell ? "berlin" : "bonn"));
        }
        ASSERT_TRUE(fleet_->set_fault(web(kTired), lab::FaultKind::kServerError));
        for (std::size_t i = kLocked; i <= kDevices; ++i) {
            ASSERT_TRUE(fleet_->set_fault(web(i), lab::FaultKind::kAuthFailure));
        }
        ASSERT_NO_FATAL_FAILURE(start(text, std::move(environment)));
        ApiClient root = admin();
        ASSERT_TRUE(eventually([&] {
            return root.get("/api/monitoring/dlq").at("count") == std::to_string(kDevices - 1);
        })) << root.get("/api/monitoring/scheduler/health").body;
    }
    // The instance of the health page; a null node if it has none.
    document::Node instance(std::size_t number) {
        ApiClient root = admin();
        const document::Node page = root.get("/api/monitoring/scheduler/health").json();
        const document::Node* list = page.find("instances");
        const document::Node* found =
            list == nullptr ? nullptr : entry_with(*list, "key", web_key(number));
        return found == nullptr ? document::Node() : *found;
    }
    std::string instance_text(std::size_t number, const std::string& path) {
        return text_at(instance(number), path);
    }
    bool is_well(std::size_t number) {
        return eventually([&] {
            const document::Node one = instance(number);
            return text_at(one, "breaker.state") == "closed" &&
                   text_at(one, "deadLetter.present") == "false" &&
                   text_at(one, "pollStatus.consecutiveFailures") == "0";
        });
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

}  // namespace pollux::live
