// `pollux serve` as people run it: a process with a data folder, SQLite and history, asked only for
// its metrics. And the addon and the fleet files it is given here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/poll_tools.hpp"

namespace pollux::bench {

// Five values of an SNMP device by GET: what the clients of the other rows ask for.
inline std::string five_values_addon(const std::string& name) {
    return fmt::format(R"(schema: pollux/1
name: {}
version: 1.0.0
title: Five values of a device
protocol: snmp
interval: 60s
timeout: 10s
snmp:
  version: 2c
  gets:
    - {{name: up_time, oid: 1.3.6.1.2.1.1.3.0}}
    - {{name: in, oid: 1.3.6.1.2.1.2.2.1.10.1}}
    - {{name: out, oid: 1.3.6.1.2.1.2.2.1.16.1}}
    - {{name: state, oid: 1.3.6.1.2.1.2.2.1.8.1}}
    - {{name: errors, oid: 1.3.6.1.2.1.2.2.1.14.1}}
metrics:
  - {{name: uptime, type: gauge, unit: seconds, get: up_time, scale: 0.01}}
  - {{name: in_octets, type: counter, unit: bytes, bits: 32, get: in}}
  - {{name: out_octets, type: counter, unit: bytes, bits: 32, get: out}}
  - {{name: oper_status, type: state, get: state, map: {{1: up, 2: down}}}}
  - {{name: in_errors, type: counter, unit: packets, bits: 32, get: errors}}
)",
                       name);
}

// Devices 127.1.x.y from number `first` on, all asked by one addon at one port.
struct FleetShape {
    std::string addon = "bench-snmp";
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint16_t port = 0;
    std::string more = {};  // of its group: ", key: value"
};

inline std::string fleet_text(const std::vector<FleetShape>& shapes, const std::string& interval) {
    std::string groups = "groups:\n";
    std::string devices = "devices:\n";
    std::string addons = "addons:\n";
    for (const FleetShape& shape : shapes) {
        groups += fmt::format("  of-{}: {{port: {}{}}}\n", shape.addon, shape.port, shape.more);
        addons += fmt::format("  {}: {{interval: {}}}\n", shape.addon, interval);
        for (std::uint32_t i = shape.first; i < shape.first + shape.count; ++i) {
            devices += fmt::format("  d{:05}: {{address: {}, groups: [of-{}], addons: [{}]}}\n", i,
                                   device_text(i), shape.addon, shape.addon);
        }
    }
    return "schema: pollux-fleet/1\n" + groups + addons + devices;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// The limits that a benchmark needs out of its way; printed with the results.
inline Settings raised_limits(int rate, int slots, int starts) {
    return {{"POLLUX_GLOBAL_RATE", std::to_string(rate)},
            {"POLLUX_GLOBAL_SLOTS", std::to_string(slots)},
            {"POLLUX_MAX_STARTS_PER_STEP", std::to_string(starts)}};
}

inline std::string to_text(const Settings& settings) {
    std::string text;
    for (const auto& [name, value] : settings) text += fmt::format(" {}={}", name, value);
    return text;
}

class ServerProcess {
  public:
    // `fleet`: files; `data` stays in the folder, so that a second server finds it again.
    ServerProcess(const TempDir& folder, std::vector<std::string> fleet, Settings settings)
        : port_(net::test::free_port()) {
        folder.write("addons/bench-snmp.yaml", five_values_addon("bench-snmp"));
        folder.write("addons/bench-silent.yaml", five_values_addon("bench-silent"));
        settings.emplace_back("POLLUX_METRICS_PORT", std::to_string(port_));
        settings.emplace_back("POLLUX_API_LISTEN", "127.0.0.1:0");
        settings.emplace_back("POLLUX_LOG_LEVEL", "error");
        std::vector<std::string> command = {pollux_program(),    "serve",    "--data",
                                            folder.file("data"), "--addons", folder.file("addons")};
        for (std::string& file : fleet) {
            command.emplace_back("--fleet");
            command.push_back(std::move(file));
        }
        const double started = wall_seconds();
        process_ = std::make_unique<Process>(std::move(command), folder, std::move(settings));
        const bool up = process_->wait_for_tcp("127.0.0.1", port_, std::chrono::minutes(2));
        if (!up) fmt::print(stderr, "{}\n", process_->output());
        POLLUX_CHECK_MSG(up, "pollux serve did not start");
        serving_after_ = wall_seconds() - started;
        start_cpu_ = cpu_seconds(process_->pid());
    }

    pid_t pid() const { return process_->pid(); }
    double serving_after_seconds() const { return serving_after_; }
    double start_cpu_seconds() const { return start_cpu_; }
    Metrics metrics() const { return Metrics(http_get(port_, "/metrics")); }
    void kill_at_once() { process_->stop(SIGKILL); }
    void stop() { process_->stop(SIGTERM, std::chrono::seconds(30)); }
    std::string output() const { return process_->output(); }

  private:
    std::uint16_t port_;
    double serving_after_ = 0;
    double start_cpu_ = 0;
    std::unique_ptr<Process> process_;
};

// What a server did between two moments.
struct Interval {
    double seconds = 0;
    double polls = 0;     // that succeeded
    double failures = 0;  // polls that did not
    double cpu_seconds = 0;
    double reads = 0;  // of the store
    double samples = 0;
    double dropped = 0;
    double lag_p99_s = 0;
};

// Watches for `seconds`; the lag is that of one class, or of all.
inline Interval watch(const ServerProcess& server, double seconds, const std::string& class_name) {
    const Metrics before = server.metrics();
    const double begin = wall_seconds();
    const double cpu = cpu_seconds(server.pid());
    sleep_seconds(seconds);
    const double cpu_after = cpu_seconds(server.pid());
    const Metrics after = server.metrics();
    const auto grown = [&](std::string_view name, std::string_view label) {
        return after.sum(name, label) - before.sum(name, label);
    };
    Interval what;
    what.seconds = wall_seconds() - begin;
    what.cpu_seconds = cpu_after - cpu;
    what.polls = grown("pulse_monitor_poll_total", "result=\"success\"");
    what.failures = grown("pulse_monitor_poll_total", "result=\"error\"");
    what.reads = grown("pollux_store_reads_total", "");
    what.samples = grown("pollux_history_samples_total", "");
    what.dropped = grown("pollux_history_dropped_total", "");
    const std::string label =
        class_name.empty() ? "" : fmt::format("instance_type=\"{}\"", class_name);
    what.lag_p99_s =
        quantile_between(before, after, "pulse_scheduler_queue_wait_seconds", 0.99, label);
    return what;
}

}  // namespace pollux::bench
