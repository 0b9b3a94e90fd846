// `pollux fleet`: a simulated fleet on loopback, and `pollux fleet ctl`, which steers a running
// one.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "lab/control_client.hpp"
#include "lab/fleet_file.hpp"
#include "lab/fleet_server.hpp"

namespace pollux::app {
namespace {

constexpr std::uint16_t kControlPort = 16180;

struct FleetArguments {
    lab::FleetOptions fleet{.snmp = 500,
                            .http = 200,
                            .profile = "demo",
                            .port_snmp = 16100,
                            .port_http = 18080,
                            .port_https = 18443,
                            .port_control = kControlPort};
    std::string write_fleet;
    double seconds = 0;
    bool quiet = false;
};

struct ControlArguments {
    std::uint16_t port = kControlPort;
    std::string device;
    std::string kind;
    std::string lasts;
    std::uint32_t amount = 0;
    std::string profile;
    std::size_t limit = 1000;
    std::size_t offset = 0;
};

int complain(const base::Error& error) {
    fmt::print(stderr, "pollux fleet: {}\n", error.message);
    return 1;
}

void print_places(const lab::FleetServer& server, const FleetArguments& args) {
    const lab::FleetPorts& ports = server.ports();
    const auto range = [](const std::vector<lab::Device>& devices) {
        return devices.empty()
                   ? std::string("none")
                   : fmt::format("{} to {}", lab::address_text(devices.front().address()),
                                 lab::address_text(devices.back().address()));
    };
    fmt::print("{} SNMP devices   {}   udp port {}\n", server.fleet().snmp().size(),
               range(server.fleet().snmp()), ports.snmp);
    fmt::print("{} HTTP devices   {}   http port {}, https port {}\n", server.fleet().http().size(),
               range(server.fleet().http()), ports.http, ports.https);
    fmt::print("profile {}, seed {}; control at http://127.0.0.1:{} (pollux fleet ctl --help)\n",
               args.fleet.profile, args.fleet.seed, ports.control);
    if (!args.write_fleet.empty()) fmt::print("fleet file {}\n", args.write_fleet);
    std::fflush(stdout);
}

void print_line(lab::FleetServer& server, const lab::FleetCounters& last, double span) {
    const lab::FleetCounters now = server.counters();
    const auto rate = [span](std::uint64_t after, std::uint64_t before) {
        return static_cast<double>(after - before) / span;
    };
    std::string faults;
    const auto counts = server.count_faults();
    for (std::size_t kind = 0; kind < lab::kFaultKinds; ++kind) {
        if (counts[kind] > 0) faults += fmt::format(" {} {}", lab::kFaultNames[kind], counts[kind]);
    }
    fmt::print("snmp {:.0f}/s   http {:.0f}/s   https {:.0f}/s   faults:{}\n",
               rate(now.snmp_requests, last.snmp_requests),
               rate(now.http_requests, last.http_requests),
               rate(now.https_requests, last.https_requests), faults.empty() ? " none" : faults);
    std::fflush(stdout);
}

int run_fleet(const FleetArguments& args) {
    // Blocked before any thread exists, so that only the wait below takes them.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    auto started = lab::FleetServer::start(args.fleet);
    if (!started) return complain(started.error());
    lab::FleetServer& server = **started;
    if (!args.write_fleet.empty()) {
        const auto written =
            lab::write_fleet_file(server.fleet(), server.ports(), args.write_fleet);
        if (!written) return complain(written.error());
    }
    print_places(server, args);
    const auto begin = std::chrono::steady_clock::now();
    auto last_time = begin;
    lab::FleetCounters last;
    while (true) {
        const timespec second{.tv_sec = 1, .tv_nsec = 0};
        if (sigtimedwait(&signals, nullptr, &second) > 0) break;
        const auto now = std::chrono::steady_clock::now();
        if (!args.quiet) {
            print_line(server, last, std::chrono::duration<double>(now - last_time).count());
        }
        last = server.counters();
        last_time = now;
        if (args.seconds > 0 &&
            std::chrono::duration<double>(now - begin).count() >= args.seconds) {
            break;
        }
    }
    return 0;
}

int control(const ControlArguments& args, std::string_view method, const std::string& path,
            const std::string& body = "") {
    const auto answer = lab::ask_control(args.port, method, path, body);
    if (!answer) return complain(answer.error());
    fmt::print("{}", *answer);
    return 0;
}

int set_fault(const ControlArguments& args) {
    std::string body = fmt::format("{{\"kind\":\"{}\"", args.kind);
    if (!args.lasts.empty()) body += fmt::format(",\"for\":\"{}\"", args.lasts);
    if (args.amount > 0) body += fmt::format(",\"amount\":{}", args.amount);
    return control(args, "POST", fmt::format("/devices/{}/fault", args.device), body + "}");
}

void add_control(CLI::App& fleet, int& status) {
    auto args = std::make_shared<ControlArguments>();
    auto* ctl = fleet.add_subcommand("ctl", "Steer a running fleet.");
    ctl->require_subcommand(1);
    ctl->add_option("--control", args->port, "Port of its control endpoint")->capture_default_str();
    // Names go into a path and a JSON text.
    const CLI::Validator plain(
        [](std::string& text) {
            const bool clean = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") ==
                               std::string::npos;
            return clean ? std::string() : "only a-z, 0-9, - and . are allowed";
        },
        "");
    auto* devices = ctl->add_subcommand("devices", "List the devices and their faults.");
    devices->add_option("--limit", args->limit)->capture_default_str();
    devices->add_option("--offset", args->offset)->capture_default_str();
    devices->callback([args, &status] {
        status = control(*args, "GET",
                         fmt::format("/devices?limit={}&offset={}", args->limit, args->offset));
    });
    auto* counters = ctl->add_subcommand("status", "Counters, faults and profile.");
    counters->callback([args, &status] { status = control(*args, "GET", "/status"); });
    auto* fault = ctl->add_subcommand("fault", "Break a device.");
    const std::vector<std::string> kinds(lab::kFaultNames.begin(), lab::kFaultNames.end());
    fault->add_option("device", args->device, "Like sw-00001")->required()->check(plain);
    fault->add_option("kind", args->kind)->required()->check(CLI::IsMember(kinds));
    fault->add_option("--for", args->lasts, "How long, like 60s; for ever otherwise")->check(plain);
    fault->add_option("--amount", args->amount, "Percent of loss, milliseconds of latency");
    fault->callback([args, &status] { status = set_fault(*args); });
    auto* clear = ctl->add_subcommand("clear", "Mend a device, or all of them.");
    clear->add_option("device", args->device)->check(plain);
    clear->callback([args, &status] {
        const std::string path =
            args->device.empty() ? "/faults" : fmt::format("/devices/{}/fault", args->device);
        status = control(*args, "DELETE", path);
    });
    auto* profile = ctl->add_subcommand("profile", "Change how the devices change and fail.");
    profile->add_option("name", args->profile)->required()->check(plain);
    profile->callback([args, &status] {
        status =
            control(*args, "POST", "/profile", fmt::format("{{\"name\":\"{}\"}}", args->profile));
    });
}

}  // namespace

void add_fleet(CLI::App& app, int& status) {
    auto args = std::make_shared<FleetArguments>();
    auto* command = app.add_subcommand(
        "fleet", "Run a simulated fleet: SNMP and HTTP(S) devices on loopback addresses.");
    command->require_subcommand(0, 1);
    lab::FleetOptions& fleet = args->fleet;
    std::vector<std::string> profiles;
    for (const auto name : lab::profile_names()) profiles.emplace_back(name);
    command->add_option("--snmp", fleet.snmp, "SNMP devices")
        ->check(CLI::Range(0U, lab::kMaxDevicesPerKind))
        ->capture_default_str();
    command->add_option("--http", fleet.http, "HTTP and HTTPS devices")
        ->check(CLI::Range(0U, lab::kMaxDevicesPerKind))
        ->capture_default_str();
    command->add_option("--profile", fleet.profile, "How they behave")
        ->check(CLI::IsMember(profiles))
        ->capture_default_str();
    command->add_option("--seed", fleet.seed, "The same seed gives the same fleet")
        ->capture_default_str();
    command->add_option("--port-snmp", fleet.port_snmp, "0: any free one")->capture_default_str();
    command->add_option("--port-http", fleet.port_http)->capture_default_str();
    command->add_option("--port-https", fleet.port_https)->capture_default_str();
    command->add_option("--control", fleet.port_control, "Port of the control endpoint")
        ->capture_default_str();
    command->add_option("--write-fleet", args->write_fleet, "Write a fleet file that watches it")
        ->type_name("FILE");
    command->add_option("--seconds", args->seconds, "Stop by itself after this time");
    command->add_flag("--quiet", args->quiet, "No line per second");
    add_control(*command, status);
    command->callback([args, command, &status] {
        if (command->get_subcommands().empty()) status = run_fleet(*args);
    });
}

}  // namespace pollux::app
