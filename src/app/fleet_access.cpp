#include "app/fleet_access.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "app/addon_files.hpp"
#include "app/control_client.hpp"
#include "app/serving.hpp"
#include "base/bytes.hpp"
#include "runtime/change_log.hpp"
#include "runtime/fleet_image.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

constexpr std::uint8_t kObjectsVersion = 1;
constexpr std::uint8_t kLearnedVersion = 1;
constexpr std::size_t kMostFindings = 100'000;  // warnings come first
constexpr auto kLastKind = static_cast<std::uint8_t>(model::ObjectKind::kSettings);
constexpr auto kLastOrigin = static_cast<std::uint8_t>(model::Origin::kDiscovery);

// A number that names none of an enumeration's values is damage.
template <class Enum>
Enum read_enum(base::ByteReader& in, std::uint8_t last) {
    const std::uint8_t value = in.u8();
    if (value > last) in.fail();
    return static_cast<Enum>(value > last ? 0 : value);
}

// The store of a folder whose server does not run, and what it needs to be open.
struct OfflineServer {
    std::unique_ptr<net::EventLoop> loop;
    std::unique_ptr<observe::Log> log;
    std::unique_ptr<runtime::Server> server;
};

base::Result<OfflineServer> open_offline(const std::string& data_folder) {
    OfflineServer offline;
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    offline.loop = std::move(*loop);
    offline.log =
        std::make_unique<observe::Log>(observe::LogOptions{.level = observe::LogLevel::kError},
                                       &net::wall_now, observe::descriptor_sink(STDERR_FILENO));
    runtime::ServerOptions options;
    options.data = data_folder;
    options.environment = process_environment();
    options.offline = true;
    auto server = runtime::Server::start(*offline.loop, *offline.log, std::move(options));
    if (!server) return std::unexpected(server.error());
    offline.server = std::move(*server);
    return offline;
}

base::Result<std::vector<model::ConfigObject>> stored_objects(const std::string& data_folder) {
    const ControlClient client(data_folder);
    if (client.server_runs()) {
        const auto bytes = client.ask_text("GET", "/objects", "");
        if (!bytes) return std::unexpected(bytes.error());
        return decode_objects(*bytes);
    }
    struct stat facts{};
    if (stat(data_folder.c_str(), &facts) != 0) return std::vector<model::ConfigObject>{};
    const auto offline = open_offline(data_folder);
    if (!offline) return std::unexpected(offline.error());
    return offline->server->objects();
}

base::Result<std::string> stored_timeline(const std::string& data_folder) {
    const ControlClient client(data_folder);
    if (client.server_runs()) return client.ask_text("GET", "/timeline", "");
    const auto offline = open_offline(data_folder);
    if (!offline) return std::unexpected(offline.error());
    return runtime::timeline(offline->server->store(), store::kMostChangesPerQuery);
}

// As the kernel shows it: NAME=value, each with a zero behind it.
base::Result<std::optional<config::Environment>> environment_of_server(
    const std::string& data_folder) {
    const pid_t pid = ControlClient(data_folder).server_process();
    if (pid == getpid()) return std::nullopt;
    const std::string path = fmt::format("/proc/{}/environ", pid);
    std::ifstream in(path, std::ios::binary);
    std::string entry;
    config::Environment environment;
    while (std::getline(in, entry, '\0')) {
        const std::size_t equals = entry.find('=');
        if (equals != std::string::npos) {
            environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
        }
    }
    if (environment.empty()) {
        return base::config_error(
            "control.environment",
            fmt::format("{} of the running server cannot be read: do this as its user, or as root, "
                        "to have its variables",
                        path));
    }
    return environment;
}

base::Result<FleetPorts::Learned> learned(const std::string& data_folder) {
    const ControlClient client(data_folder);
    FleetPorts::Learned found;
    if (client.server_runs()) {
        const auto bytes = client.ask_text("GET", "/learned", "");
        auto list = bytes ? decode_learned(*bytes) : std::unexpected(bytes.error());
        if (!list) return std::unexpected(list.error());
        found.bytes = std::move(*list);
        return found;
    }
    found.stored = true;
    struct stat facts{};
    if (stat((data_folder + "/" + store::kStateFile).c_str(), &facts) != 0) return found;
    const auto offline = open_offline(data_folder);
    if (!offline) return std::unexpected(offline.error());
    offline->server->learned(
        [&](std::vector<std::string> bytes) { found.bytes = std::move(bytes); });
    return found;
}

}  // namespace

base::Result<std::shared_ptr<const runtime::AddonSet>> compiled_addons(
    const std::string& data_folder, const std::string& own_folder) {
    // A data folder may hold addons of its own.
    std::string folder = own_folder;
    struct stat facts{};
    if (folder.empty() && !data_folder.empty()) {
        folder = data_folder + "/addons";
        if (stat(folder.c_str(), &facts) != 0) folder.clear();
    }
    const auto set = load_addon_set(folder);
    if (!set) return std::unexpected(set.error());
    // So may its store; a folder without one is left alone.
    std::vector<model::ConfigObject> objects;
    const std::string state = data_folder + "/" + store::kStateFile;
    if (!data_folder.empty() && stat(state.c_str(), &facts) == 0) {
        auto found = stored_objects(data_folder);
        if (!found) return std::unexpected(found.error());
        objects = std::move(*found);
    }
    document::Diagnostics ignored;  // the server tells what is wrong with what it has stored
    return runtime::make_shelf(*set, objects, {}, ignored).addons;
}

namespace {

base::Result<std::vector<model::Addon>> all_addons(const std::string& data_folder,
                                                   const std::string& own_folder) {
    const auto set = compiled_addons(data_folder, own_folder);
    if (!set) return std::unexpected(set.error());
    std::vector<model::Addon> addons;
    for (const auto& [name, addon] : **set) addons.push_back(addon->addon());
    return addons;
}

// The fleet as a server would make it, but for its secrets.
base::Status check_targets(const std::string& data_folder, const std::string& own_folder,
                           const config::LoadedFleet& fleet, const config::Settings& settings,
                           document::Diagnostics& diagnostics) {
    const auto addons = compiled_addons(data_folder, own_folder);
    if (!addons) return std::unexpected(addons.error());
    const auto any_secret = [](const config::SecretReference& reference) {
        return reference.kind == config::SecretKind::kLiteral ? reference.literal
                                                              : base::Secret("any-secret-will-do");
    };
    document::Diagnostics found(kMostFindings);
    runtime::make_image({.fleet = fleet.fleet,
                         .places = fleet.places,
                         .addons = **addons,
                         .settings = settings,
                         .ids = {},
                         .secrets = any_secret},
                        found);
    for (const document::Diagnostic& one : found.items()) {
        if (one.severity == document::Severity::kError) diagnostics.add(one);
    }
    return {};
}

}  // namespace

FleetPorts real_fleet_ports() {
    return {.addons = all_addons,
            .check_targets = check_targets,
            .objects = stored_objects,
            .timeline = stored_timeline,
            .learned = learned,
            .environment_of_server = environment_of_server,
            .environment = process_environment()};
}

PortsOfServer ports_of_server(const std::string& data_folder, const FleetPorts& ports) {
    PortsOfServer of;
    of.ports = ports;
    of.server_runs = !data_folder.empty() && ControlClient(data_folder).server_runs();
    if (!of.server_runs || !ports.environment_of_server) return of;
    auto environment = ports.environment_of_server(data_folder);
    if (!environment) {
        of.problem = environment.error().message;
        return of;
    }
    if (*environment) of.ports.environment = std::move(**environment);
    of.whose = "the server";
    return of;
}

std::string encode_objects(const std::vector<model::ConfigObject>& objects) {
    base::ByteWriter out;
    out.u8(kObjectsVersion);
    // Accounts never leave the server this way.
    const auto shown = [](const model::ConfigObject& object) {
        return !model::is_account_kind(object.kind);
    };
    out.varint(static_cast<std::uint64_t>(std::ranges::count_if(objects, shown)));
    for (const model::ConfigObject& object : objects) {
        if (!shown(object)) continue;
        out.u8(static_cast<std::uint8_t>(object.kind));
        out.string(object.id);
        out.string(object.name);
        out.u8(static_cast<std::uint8_t>(object.origin));
        out.varint(object.version);
        out.zigzag(object.changed_at.us);
        out.string(object.body);
    }
    return out.take();
}

std::string encode_learned(const std::vector<std::string>& learned) {
    base::ByteWriter out;
    out.u8(kLearnedVersion);
    out.varint(learned.size());
    for (const std::string& bytes : learned) out.string(bytes);
    return out.take();
}

base::Result<std::vector<std::string>> decode_learned(const std::string& bytes) {
    base::ByteReader in(bytes);
    std::vector<std::string> learned;
    if (in.u8() != kLearnedVersion) in.fail();
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        learned.emplace_back(in.string(bytes.size()));
    }
    if (!in.ok() || !in.at_end()) {
        return base::internal_error("control.answer",
                                    "the server sent what it learned in another version: use the "
                                    "same pollux for both");
    }
    return learned;
}

base::Result<std::vector<model::ConfigObject>> decode_objects(const std::string& bytes) {
    base::ByteReader in(bytes);
    std::vector<model::ConfigObject> objects;
    if (in.u8() != kObjectsVersion) in.fail();
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        model::ConfigObject object;
        object.kind = read_enum<model::ObjectKind>(in, kLastKind);
        object.id = in.string(bytes.size());
        object.name = in.string(bytes.size());
        object.origin = read_enum<model::Origin>(in, kLastOrigin);
        object.version = in.varint();
        object.changed_at.us = in.zigzag();
        object.body = in.string(bytes.size());
        objects.push_back(std::move(object));
    }
    if (!in.ok() || !in.at_end()) {
        return base::internal_error("control.answer",
                                    "the server sent objects of another version: use the same "
                                    "pollux for both");
    }
    return objects;
}

}  // namespace pollux::app
