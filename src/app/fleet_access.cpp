#include "app/fleet_access.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "app/addon_files.hpp"
#include "app/control_client.hpp"
#include "app/serving.hpp"
#include "base/bytes.hpp"
#include "runtime/change_log.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

constexpr std::uint8_t kObjectsVersion = 1;
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

base::Result<std::vector<model::Addon>> all_addons(const std::string& data_folder,
                                                   const std::string& own_folder) {
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
    const runtime::AddonShelf shelf = runtime::make_shelf(*set, objects, {}, ignored);
    std::vector<model::Addon> addons;
    for (const auto& [name, addon] : *shelf.addons) addons.push_back(addon->addon());
    return addons;
}

}  // namespace

FleetPorts real_fleet_ports() {
    return {.addons = all_addons,
            .objects = stored_objects,
            .timeline = stored_timeline,
            .environment = process_environment()};
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
