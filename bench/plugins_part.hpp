// Plugins beside SNMP: 10k devices at their normal pace, alone and while 200 programs a second are
// started by the same server.
#pragma once

#include "bench/engine_part.hpp"

namespace pollux::bench {

// Devices that the shipped addon asks with a real plugin that ends at once.
inline std::string plugin_fleet_text(std::uint32_t count, const std::string& interval) {
    std::string text = fmt::format(
        "schema: pollux-fleet/1\naddons:\n  nagios-plugin: {{interval: {}, params: {{plugin: "
        "check_dummy, host_option: \"\", arg1: \"0\", arg2: fine}}}}\ndevices:\n",
        interval);
    for (std::uint32_t i = 0; i < count; ++i) {
        text +=
            fmt::format("  p{:05}: {{address: {}, addons: [nagios-plugin]}}\n", i, device_text(i));
    }
    return text;
}

struct PluginRun {
    double lag_ms = 0;  // of the SNMP devices only
    double failures = 0;
    double plugins_per_second = 0;
    double share = 0;  // percent of a core, plugins not counted
    double megabytes = 0;
};

inline PluginRun watch_plugins(ResultTable& table, const ServerProcess& server, double seconds) {
    const Metrics before = server.metrics();
    const double begin = wall_seconds();
    const Interval what = watch(server, seconds, "bench-snmp");
    const double elapsed = wall_seconds() - begin;
    const Metrics after = server.metrics();
    const auto grown = [&](std::string_view name, std::string_view label) {
        return after.sum(name, label) - before.sum(name, label);
    };
    table.require(grown("pollux_driver_asks_total", "protocol=\"snmp\"") > seconds * 100,
                  "the fleet was not polled");
    return {.lag_ms = what.lag_p99_s * 1000,
            .failures = what.failures,
            .plugins_per_second = grown("pollux_driver_asks_total", "protocol=\"exec\"") / elapsed,
            .share = what.cpu_seconds / what.seconds * 100,
            .megabytes = status_megabytes(server.pid(), "VmRSS")};
}

inline void measure_plugins(ResultTable& table, double seconds) {
    constexpr std::uint32_t kPlugins = 2000;
    constexpr double kWanted = kPlugins / 10.0;
    const TempDir folder;
    const PaceFleet fleet(folder);
    const std::string plugins = folder.write("plugins.yaml", plugin_fleet_text(kPlugins, "10s"));
    const Settings limits = PaceFleet::limits();
    fmt::print("# plugins: 10000 SNMP devices at 60 s, {} plugins at 10 s,{}\n", kPlugins,
               to_text(limits));
    std::array<PluginRun, 2> runs;
    for (const bool beside : {false, true}) {
        const TempDir data;
        std::vector<std::string> files = {fleet.file()};
        if (beside) files.push_back(plugins);
        const ServerProcess server(data, files, limits);
        sleep_seconds(15);  // every plugin has had its first turn
        runs[beside ? 1 : 0] = watch_plugins(table, server, seconds);
    }
    const auto& [alone, both] = runs;
    const double allowed = std::max(alone.lag_ms * 0.1, 20.0);
    table.require(alone.plugins_per_second == 0, "plugins ran where none should");
    table.add({.what = "10k SNMP at 60 s beside plugins: p99 lag",
               .ours = fmt::format("{:.1f} ms", both.lag_ms),
               .goal = fmt::format("<= +{:.0f} ms", allowed),
               .met = both.lag_ms <= alone.lag_ms + allowed,
               .peer = "without plugins",
               .peers_figure = fmt::format("{:.1f} ms", alone.lag_ms)});
    table.add({.what = "  plugins started",
               .ours = fmt::format("{:.1f}/s", both.plugins_per_second),
               .goal = fmt::format(">= {:.0f}/s", kWanted * 0.98),
               .met = both.plugins_per_second >= kWanted * 0.98});
    table.add({.what = "  failed polls",
               .ours = fmt::format("{:.0f}", both.failures),
               .goal = "0",
               .met = both.failures == 0,
               .peer = "without plugins",
               .peers_figure = fmt::format("{:.0f}", alone.failures)});
    table.add({.what = "  CPU of the server",
               .ours = fmt::format("{:.1f} % of a core", both.share),
               .peer = "without plugins",
               .peers_figure = fmt::format("{:.1f} %", alone.share)});
    table.add({.what = "  memory of the server",
               .ours = fmt::format("{:.0f} MB", both.megabytes),
               .peer = "without plugins",
               .peers_figure = fmt::format("{:.0f} MB", alone.megabytes)});
}

}  // namespace pollux::bench
