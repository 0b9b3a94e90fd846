// The same fan-out through the hub of the API: each event is filtered and checked for each client.
#pragma once

#include <string>
#include <vector>

#include "api/event_hub.hpp"
#include "bench/api_websocket_part.hpp"

namespace pollux::bench {

inline constexpr int kHubTargets = 10'000;

inline std::shared_ptr<const runtime::FleetView> hub_fleet() {
    auto image = std::make_shared<runtime::FleetImage>();
    for (int i = 0; i < kHubTargets; ++i) {
        config::TargetPlanInput target;
        target.key = target.target = fmt::format("pve::pve-node{:05}", i);
        target.labels = {{"site", i % 2 == 0 ? "berlin" : "hamburg"}};
        target.groups = {"racks"};
        image->expansion.targets.push_back(std::move(target));
    }
    auto view = std::make_shared<runtime::FleetView>();
    view->image = std::move(image);
    return view;
}

// Tells of one task after the other.
class HubSource {
  public:
    HubSource(net::EventLoop& loop, api::EventHub& hub)
        : hub_(hub), timer_(loop, [this] { tick(); }) {
        timer_.arm_in(std::chrono::seconds(1));
    }

  private:
    void tick() {
        timer_.arm(timer_.at() + std::chrono::nanoseconds(1'000'000'000 / kFanEventsPerSecond));
        hub_.publish(api::EventType::kTaskStateChanged,
                     fmt::format("pve::pve-node{:05}", turn_++ % kHubTargets),
                     fmt::format(R"({{"ns":{},"kind":"breaker","from":"closed","to":"open",)"
                                 R"("failures":3,"reason":"no answer within 5 s"}})",
                                 steady_ns()));
    }
    api::EventHub& hub_;
    net::Timer timer_;
    int turn_ = 0;
};

[[noreturn]] inline void serve_hub(std::uint16_t port) {
    allow_descriptors();
    stay_on_core(1);
    ApiStage stage(port);
    api::EventHubPorts ports;
    ports.view = [view = hub_fleet()] { return view; };
    ports.wall = &net::wall_now;
    ports.login = [](const access::Principal& one) { return one.name; };
    ports.renew = [](const access::Principal& one, const std::string&) { return one; };
    api::EventHub hub(stage.server->loop(), std::move(ports),
                      {.epoch = 1, .clients_of_one = kFanClients});
    HubSource source(stage.server->loop(), hub);
    stage.start(
        {{.method = "GET",
          .path = "/api/ping",
          .handler = [](api::Call call) { call.json(200, "{}"); }},
         {.method = "GET", .path = "/ws", .upgrade = true, .handler = [&hub](api::Call call) {
              hub.accept(std::move(call));
          }}});
    while (true) pause();
}

inline void measure_hub(ResultTable& table, double seconds) {
    measure_fan(table, seconds, "hub-server", "Events through the hub",
                R"({"type":"subscribe","event_types":["task_state_changed"],"groups":["racks"]})");
}

}  // namespace pollux::bench
