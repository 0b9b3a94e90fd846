// How many requests a poll of a 48-port switch needs: with what was learned about it, and with one
// variable per request.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/serving.hpp"
#include "bench/poll_tools.hpp"
#include "extract/compiled_addon.hpp"
#include "lab/fleet_server.hpp"
#include "net/event_loop.hpp"
#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::bench {

// One ask from start to end; empty if it failed.
inline std::optional<model::SnmpReply> ask_switch(net::EventLoop& loop,
                                                  protocol::snmp::SnmpDriver& driver,
                                                  std::shared_ptr<const model::Ask> ask,
                                                  std::uint64_t id) {
    std::optional<model::Reply> reply;
    driver.start(
        {.id = id, .ask = std::move(ask), .deadline = net::boot_now() + std::chrono::seconds(60)},
        [&](model::Reply&& got) { reply = std::move(got); });
    while (!reply) loop.run_once(std::chrono::milliseconds(100));
    const auto* answer = std::get_if<model::SnmpReply>(&reply->answer);
    if (answer == nullptr) return std::nullopt;
    return *answer;
}

inline std::size_t values_in(const model::SnmpReply& reply) {
    std::size_t count = reply.gets.size();
    for (const auto& walk : reply.walks) count += walk.size();
    return count;
}

inline void measure_profile(ResultTable& table) {
    const auto fleet =
        lab::FleetServer::start({.snmp = 1, .http = 0, .profile = "switches"}).value();
    const auto addons = app::load_addon_set("").value();
    const lab::Device& device = fleet->fleet().snmp()[0];
    auto credentials = std::make_shared<model::Credentials>();
    credentials->community = base::Secret(std::string(device.community()));
    extract::TargetBinding binding;
    binding.host = lab::address_text(device.address());
    binding.port = fleet->ports().snmp;
    binding.credentials = credentials;
    const auto& addon = addons.at("snmp-interfaces");
    const auto learned_ask = addon->asks(0, binding).value().front();
    binding.snmp_fixed = {.max_varbinds = 1, .max_repetitions = 1, .parallel = 0, .bulk = false};
    const auto narrow_ask = addon->asks(0, binding).value().front();

    const auto loop = net::EventLoop::create().value();
    const auto driver = protocol::snmp::SnmpDriver::create(*loop, {}).value();
    const auto narrow = ask_switch(*loop, *driver, narrow_ask, 1);
    const auto first = ask_switch(*loop, *driver, learned_ask, 2);
    std::optional<model::SnmpReply> learned;
    for (std::uint64_t id = 3; id < 10; ++id) {
        learned = ask_switch(*loop, *driver, learned_ask, id);
    }
    table.require(narrow && first && learned, "a poll of the switch failed");
    if (!narrow || !first || !learned) return;
    table.require(device.interfaces() == 48, "the switch has 48 ports");
    table.require(values_in(*narrow) == values_in(*learned) && values_in(*first) > 0,
                  "both polls read the same number of values");
    const double ratio = static_cast<double>(narrow->pdus) / learned->pdus;
    table.add({.what = "requests per poll, 48-port switch",
               .ours = fmt::format("{} (first poll {})", learned->pdus, first->pdus),
               .goal = ">= 5.00x fewer",
               .met = ratio >= 5,
               .peer = "one OID per request",
               .peers_figure = fmt::format("{}", narrow->pdus),
               .ratio = ratio});
}

}  // namespace pollux::bench
