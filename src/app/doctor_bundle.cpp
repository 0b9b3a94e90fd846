#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>

#include "app/control_client.hpp"
#include "app/doctor.hpp"
#include "app/fleet_workspace.hpp"
#include "app/known_secrets.hpp"
#include "config/objects.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kLogLines = 2000;
constexpr std::int64_t kMostLogBytes = 4 << 20U;

std::string about_this() {
    utsname machine{};
    uname(&machine);
    std::ifstream in("/etc/os-release");
    const std::string release{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return fmt::format("pollux {}\n{} {} {}\n{}", POLLUX_VERSION, machine.sysname, machine.release,
                       machine.machine, release);
}

// A page of the running server, or why there is none.
std::string page(const ControlClient& client, std::string_view target) {
    if (!client.server_runs()) return "the server is not running\n";
    const auto text = client.ask_text("GET", target, "");
    return text ? *text : text.error().message + "\n";
}

// A server keeps its last lines in memory: without one there is what its surroundings kept.
std::string log_of_the_past(const std::string& data) {
    const std::string file = data + "/pollux.log";
    std::ifstream in(file, std::ios::ate);
    const auto size = static_cast<std::int64_t>(in.tellg());
    in.seekg(std::max<std::int64_t>(size - kMostLogBytes, 0));
    std::deque<std::string> tail;
    for (std::string line; std::getline(in, line);) {
        tail.push_back(std::move(line));
        if (tail.size() > kLogLines) tail.pop_front();
    }
    if (!tail.empty()) return fmt::format("{}\n", fmt::join(tail, "\n"));
    return fmt::format(
        "the server is not running, and there is no {}. It writes its log to standard error: under "
        "systemd `journalctl -u pollux --since -1d` shows it, in a container `docker logs` or "
        "`podman logs`; else it is where standard error of `pollux serve` was sent. Add it by "
        "hand, "
        "after you looked for secrets in it\n",
        file);
}

std::string timeline(const std::string& data, const FleetPorts& ports, const DoctorReport& report) {
    if (!report.store_opens || !ports.timeline) return "the store cannot be opened\n";
    const auto text = ports.timeline(data);
    return text ? *text : text.error().message + "\n";
}

}  // namespace

void fill_bundle(SupportBundle& bundle, const DoctorArguments& arguments, const FleetPorts& given,
                 const DoctorReport& report) {
    const FleetPorts ports = ports_of_server(arguments.data, given).ports;
    config::Fleet fleet;
    CommandOutput exported{0, "the store cannot be opened\n", ""};
    FleetArguments where;
    where.data_folder = arguments.data;
    if (report.store_opens) {
        const auto objects = ports.objects(arguments.data);
        auto stored = objects ? config::from_objects(*objects) : std::unexpected(objects.error());
        if (stored) fleet = std::move(*stored);
        exported = run_export(where, ports);
    }
    for (const config::Environment& environment : {ports.environment, given.environment}) {
        const KnownSecrets secrets(arguments.data, environment);
        for (const base::Secret& secret : secrets.all(fleet)) bundle.hide(secret);
    }

    const CommandOutput settings = run_settings_show(where, ports);
    const ControlClient client(arguments.data);
    bundle.add("about.txt", about_this() + base::format_utc(net::wall_now()) + "\n");
    bundle.add("doctor.txt", report.text());
    bundle.add("settings.txt", settings.out + settings.err);
    bundle.add("fleet.yaml", exported.out + exported.err);
    bundle.add("status.json", page(client, "/status?limit=1000"));
    bundle.add("metrics.txt", page(client, "/metrics"));
    bundle.add("log.txt",
               client.server_runs() ? page(client, "/log") : log_of_the_past(arguments.data));
    bundle.add("timeline.txt", timeline(arguments.data, ports, report));
}

}  // namespace pollux::app
