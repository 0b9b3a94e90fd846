#include <fmt/format.h>
#include <sys/utsname.h>

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

}  // namespace

void fill_bundle(SupportBundle& bundle, const DoctorArguments& arguments, const FleetPorts& ports,
                 const DoctorReport& report) {
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
    const KnownSecrets secrets(arguments.data, ports.environment);
    for (const base::Secret& secret : secrets.all(fleet.credentials)) bundle.hide(secret);

    const CommandOutput settings = run_settings_show(where, ports);
    const ControlClient client(arguments.data);
    bundle.add("about.txt", about_this() + base::format_utc(net::wall_now()) + "\n");
    bundle.add("doctor.txt", report.text());
    bundle.add("settings.txt", settings.out + settings.err);
    bundle.add("fleet.yaml", exported.out + exported.err);
    bundle.add("status.json", page(client, "/status?limit=1000"));
    bundle.add("metrics.txt", page(client, "/metrics"));
    bundle.add("log.txt", page(client, "/log"));
    bundle.add("timeline.txt", page(client, "/timeline"));
}

}  // namespace pollux::app
