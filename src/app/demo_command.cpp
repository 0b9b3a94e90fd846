// `pollux demo`: a simulated fleet on loopback and the server that polls it, in one process, with a
// live page in the terminal. What `./dev run` starts.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/fleet_ports.hpp"
#include "app/server_page.hpp"
#include "app/serving.hpp"
#include "app/top_screen.hpp"
#include "config/settings_resolve.hpp"
#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "lab/fleet_file.hpp"
#include "lab/fleet_server.hpp"

namespace pollux::app {
namespace {

struct DemoArguments {
    lab::FleetOptions fleet{.snmp = 300,
                            .http = 100,
                            .profile = "demo",
                            .port_snmp = 0,
                            .port_http = 0,
                            .port_https = 0,
                            .port_control = 0};
    std::string data = "data/demo";
    double seconds = 0;
    std::string interval = "20s";
    std::uint16_t metrics_port = 9091;
    std::uint16_t api_port = 7655;
};

// Adaptive polling is on in the demo, and said so on its page.
base::Status prepare_folder(const DemoArguments& arguments) {
    std::string path;
    for (std::size_t at = 0; at != std::string::npos;) {
        at = arguments.data.find('/', at + 1);
        path = arguments.data.substr(0, at);
        if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
            return base::config_error("demo.data", fmt::format("cannot make the folder {}: {}",
                                                               path, std::strerror(errno)));
        }
    }
    runtime::SettingsFile file(arguments.data + "/system.json");
    const auto present = file.edited();
    if (present && present->has_value()) return {};  // the settings of an earlier demo stay
    return file.write(config::starter_system_json());
}

// The shipped addons ask once a minute or more rarely, which is slow to watch.
base::Status write_pace(const std::string& path, const std::string& interval) {
    std::string text = "# Made by `pollux demo`: how often its targets are asked.\naddons:\n";
    for (const auto* addon : {"snmp-system", "snmp-interfaces", "http-json", "http-status"}) {
        text += fmt::format("  {}: {{interval: {}}}\n", addon, interval);
    }
    return runtime::SettingsFile(path).write(text);
}

void print_where(const DemoArguments& arguments, const lab::FleetServer& fleet,
                 const Serving& serving) {
    const std::string metrics = serving.metrics_address().to_string();
    fmt::print(
        "{} simulated SNMP devices and {} HTTP devices on loopback; data in {}\n"
        "  dashboard        {}/\n"
        "  API              {}/api/docs\n"
        "  metrics          curl http://{}/metrics\n"
        "  polled values    curl http://{}/metrics/devices\n"
        "  why (not)        pollux explain snmp-system::sw-00001 --data {}\n"
        "  break something  pollux fleet ctl --control {} fault sw-00001 down --for 3m\n"
        "Ctrl-C ends it; started again, it goes on where it was.\n\n",
        arguments.fleet.snmp, arguments.fleet.http, arguments.data, serving.api_url(),
        serving.api_url(), metrics, metrics, arguments.data, fleet.ports().control);
    fmt::print("{}", first_steps(serving));
    std::fflush(stdout);
}

// Shows a page each second, from the loop of the server.
class LivePage {
  public:
    LivePage(Serving& serving, double seconds)
        : serving_(serving),
          timer_(serving.loop(), [this] { show(); }),
          terminal_(isatty(STDOUT_FILENO) != 0) {
        if (seconds > 0) end_ = serving.loop().now() + base::from_seconds(seconds);
        timer_.arm_in(std::chrono::seconds(1));
    }
    ~LivePage() {
        if (terminal_) std::fputs("\x1b[?25h\n", stdout);
    }

  private:
    void show() {
        serving_.server().ask(
            [](const runtime::CoreLoop::View& view) { return status_page(view, 10); },
            [this](std::string text) { print(text); });
        timer_.arm_in(std::chrono::seconds(1));
        if (serving_.loop().now() >= end_) serving_.loop().stop();
    }

    void print(const std::string& text) {
        document::Diagnostics diagnostics;
        const document::Parsed parsed = document::parse(text, "status", diagnostics);
        if (!parsed.ok) return;
        if (!terminal_) {
            std::fputs(screen_.line(parsed.root).c_str(), stdout);
        } else {
            const std::string page = screen_.page(parsed.root, terminal_width());
            // Below the lines that say where to look, which stay.
            std::fputs(first_ ? "\x1b[?25l\x1b[s" : "\x1b[u", stdout);
            std::fputs(with_cleared_lines(page).c_str(), stdout);
            std::fputs("\x1b[J", stdout);
            first_ = false;
        }
        std::fflush(stdout);
    }

    Serving& serving_;
    net::Timer timer_;
    TopScreen screen_;
    base::BootTime end_ = base::BootTime::max();
    bool terminal_;
    bool first_ = true;
};

int demo(const DemoArguments& arguments, config::Environment environment) {
    const auto complain = [](const base::Error& error) {
        fmt::print(stderr, "pollux demo: {}\n", error.message);
        return 1;
    };
    if (auto status = prepare_folder(arguments); !status) return complain(status.error());
    // The same ports at every start if they are free: the targets stay the same ones.
    lab::FleetOptions usual = arguments.fleet;
    usual.port_snmp = 16100;
    usual.port_http = 18080;
    usual.port_https = 18443;
    auto fleet = lab::FleetServer::start(usual);
    if (!fleet) fleet = lab::FleetServer::start(arguments.fleet);
    if (!fleet) return complain(fleet.error());
    const std::string file = arguments.data + "/fleet.yaml";
    if (auto status = lab::write_fleet_file((*fleet)->fleet(), (*fleet)->ports(), file); !status) {
        return complain(status.error());
    }
    environment.try_emplace("POLLUX_METRICS_PORT", std::to_string(arguments.metrics_port));
    environment.try_emplace("POLLUX_API_LISTEN", fmt::format("127.0.0.1:{}", arguments.api_port));
    const std::string pace = arguments.data + "/pace.yaml";
    if (auto status = write_pace(pace, arguments.interval); !status) {
        return complain(status.error());
    }
    ServeArguments serve;
    serve.data = arguments.data;
    serve.fleet = {file, pace};
    serve.log_file = arguments.data + "/pollux.log";
    auto serving = Serving::start(serve, environment);
    if (!serving) return complain(serving.error());
    if (isatty(STDOUT_FILENO) != 0) std::fputs("\x1b[H\x1b[2J", stdout);
    print_where(arguments, **fleet, **serving);
    {
        const LivePage page(**serving, arguments.seconds);
        (*serving)->run();
    }
    const lab::FleetCounters counters = (*fleet)->counters();
    fmt::print("the fleet was asked {} times by SNMP and {} times by HTTP; the log is {}\n",
               counters.snmp_requests, counters.http_requests + counters.https_requests,
               serve.log_file);
    return 0;
}

}  // namespace

void add_demo(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<DemoArguments>();
    auto* command = app.add_subcommand(
        "demo", "Start a simulated fleet on loopback and the server that polls it.");
    command->add_option("--snmp", arguments->fleet.snmp, "SNMP devices")->capture_default_str();
    command->add_option("--http", arguments->fleet.http, "HTTP devices")->capture_default_str();
    command->add_option("--profile", arguments->fleet.profile, "calm, demo or storm")
        ->capture_default_str();
    command->add_option("--seed", arguments->fleet.seed, "Seed of the fleet")
        ->capture_default_str();
    command->add_option("--data", arguments->data, "Folder of everything durable")
        ->capture_default_str();
    command->add_option("--interval", arguments->interval, "Base interval of the targets")
        ->capture_default_str();
    command->add_option("--metrics-port", arguments->metrics_port, "Port of the metrics")
        ->capture_default_str();
    command->add_option("--api-port", arguments->api_port, "Port of the API; 0: any free one")
        ->capture_default_str();
    command
        ->add_option("--seconds", arguments->seconds,
                     "Stop after so many seconds; 0: run until Ctrl-C")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    command->callback(
        [arguments, &status, &ports] { status = demo(*arguments, ports.environment); });
}

}  // namespace pollux::app
