// What SNMPv3 costs: our driver signs and encrypts every poll of simulated devices, beside the same
// polls by v2c.
#pragma once

#include "bench/snmp_clients_part.hpp"
#include "lab/fleet_server.hpp"
#include "lab/snmp_agent.hpp"

namespace pollux::bench {

constexpr std::uint32_t kSealedDevices = 2000;
constexpr std::size_t kSealedWindow = 200;

// The roles `v3-sealed PORT SECONDS` and `v3-open PORT SECONDS`, the second one by v2c.
inline int run_v3_client(std::string_view role, std::uint16_t port, double seconds) {
    stay_on_core(0);
    DriverLoad load{.devices = kSealedDevices, .window = kSealedWindow};
    if (role == "v3-sealed") {
        load.version = model::SnmpVersion::kV3;
        load.credentials = lab::SnmpAgent::snmp_user();
    }
    DriverClient client(port, load);
    client.warm_up();
    const auto refusals = [&] {
        using protocol::snmp::ReportKind;
        return client.counters().reports[static_cast<std::size_t>(ReportKind::kNotInTimeWindow)];
    };
    const std::uint64_t before = refusals();
    client.run(seconds);
    fmt::print("time_windows {}\n", refusals() - before);
    return 0;
}

inline void measure_v3(ResultTable& table, double seconds, int rounds) {
    constexpr double kGoal = 8000;
    const TempDir folder;
    const auto fleet = lab::FleetServer::start({.snmp = kSealedDevices, .http = 0}).value();
    for (std::uint32_t i = 0; i < kSealedDevices; ++i) {
        POLLUX_CHECK(fleet->fleet().snmp()[i].address() == device_address(i));
    }
    std::map<std::string, Slices> per_core;
    std::vector<double> sealed;
    std::vector<double> open;
    for (int round = 0; round < rounds; ++round) {
        for (const char* role : {"v3-open", "v3-sealed"}) {
            const Figures figures = run_role(
                {role, std::to_string(fleet->ports().snmp), fmt::format("{}", seconds)}, folder);
            // By the time of its own core: who answers is not measured.
            const double rate = 1e6 / figures.at("cpu_us");
            per_core[role].add(rate);
            (role == std::string_view("v3-open") ? open : sealed).push_back(rate);
            table.require(figures.at("time_windows") == 0,
                          fmt::format("{}: {} polls outside of the time window after the first",
                                      role, figures.at("time_windows")));
        }
    }
    const double ours = per_core["v3-sealed"].median();
    table.add({.what = "SNMPv3 driver, SHA-256 and AES-128, 5 values",
               .ours = fmt::format("{:.0f}/s per core", ours),
               .goal = fmt::format(">= {:.0f}/s per core", kGoal),
               .met = ours >= kGoal,
               .peer = "the same by v2c",
               .peers_figure = fmt::format("{:.0f}/s per core", per_core["v3-open"].median()),
               .ratio = median_ratio(sealed, open)});
}

}  // namespace pollux::bench
