#include "app/poll_target.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "app/fleet_access.hpp"
#include "app/fleet_files.hpp"
#include "app/fleet_workspace.hpp"
#include "config/check_fleet.hpp"
#include "config/objects.hpp"
#include "config/snmp_names.hpp"
#include "runtime/secret_files.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

bool is_there(const std::string& path) {
    struct stat facts{};
    return stat(path.c_str(), &facts) == 0;
}

template <std::size_t N>
std::size_t place_of(const std::array<std::string_view, N>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin());
}

base::Result<config::Credential> given_credential(const PollTarget& wanted) {
    config::Credential credential;
    credential.username = wanted.username;
    credential.ssh_key = wanted.ssh_key;
    credential.ssh_agent = wanted.ssh_agent;
    credential.snmp_auth =
        static_cast<model::SnmpAuth>(place_of(config::kSnmpAuthNames, wanted.snmp_auth));
    credential.snmp_privacy =
        static_cast<model::SnmpPrivacy>(place_of(config::kSnmpPrivacyNames, wanted.snmp_privacy));
    credential.snmp_context = wanted.snmp_context;
    if ((credential.snmp_auth != model::SnmpAuth::kNone && wanted.snmp_auth_password.empty()) ||
        (credential.snmp_privacy != model::SnmpPrivacy::kNone &&
         wanted.snmp_privacy_password.empty())) {
        return base::config_error("poll.password",
                                  "--snmp-auth needs --snmp-auth-password, --snmp-privacy needs "
                                  "--snmp-privacy-password: where the secret is, such as "
                                  "'${VARIABLE}' or file:/path");
    }
    for (const auto& [text, into] :
         {std::pair(&wanted.password, &credential.password),
          std::pair(&wanted.community, &credential.community),
          std::pair(&wanted.snmp_auth_password, &credential.snmp_auth_password),
          std::pair(&wanted.snmp_privacy_password, &credential.snmp_privacy_password)}) {
        if (text->empty()) continue;
        auto reference = config::parse_secret_reference(*text);
        if (!reference) return std::unexpected(reference.error());
        *into = std::move(*reference);
    }
    return credential;
}

std::optional<model::SnmpVersion> version_of(const std::string& text) {
    if (text == "1") return model::SnmpVersion::kV1;
    if (text == "2c") return model::SnmpVersion::kV2c;
    if (text == "3") return model::SnmpVersion::kV3;
    return std::nullopt;
}

base::Result<config::Fleet> ad_hoc_fleet(const PollTarget& wanted) {
    config::Fleet fleet;
    config::Device device;
    device.addresses = {wanted.host};
    config::PollSettings poll;
    if (wanted.port != 0) poll.port = wanted.port;
    if (wanted.no_verify) poll.tls.verify = false;
    poll.snmp.version = version_of(wanted.snmp_version);
    for (const std::string& text : wanted.params) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
            return base::config_error("poll.param",
                                      fmt::format("--param {}: write it as name=value", text));
        }
        poll.params[text.substr(0, equals)] = text.substr(equals + 1);
    }
    auto credential = given_credential(wanted);
    if (!credential) return std::unexpected(credential.error());
    fleet.credentials["given"] = std::move(*credential);
    poll.credentials = "given";
    device.addons[wanted.target] = std::move(poll);
    fleet.devices[wanted.host] = std::move(device);
    return fleet;
}

// `objects`: what the data folder holds.
base::Result<config::LoadedFleet> find_fleet(const PollTarget& wanted,
                                             const std::vector<model::ConfigObject>& objects) {
    if (!wanted.host.empty()) {
        auto fleet = ad_hoc_fleet(wanted);
        if (!fleet) return std::unexpected(fleet.error());
        return config::LoadedFleet{std::move(*fleet), {}};
    }
    if (!wanted.fleet.empty()) {
        const auto files = read_fleet_files(wanted.fleet);
        if (!files) return std::unexpected(files.error());
        document::Diagnostics diagnostics;
        config::LoadedFleet loaded = config::read_fleet(*files, diagnostics);
        if (diagnostics.ok()) config::check_fleet(loaded.fleet, loaded.places, diagnostics);
        if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
        return loaded;
    }
    if (wanted.data.empty()) {
        return base::config_error("poll.target",
                                  "say where the target is described: --fleet FILE, --data FOLDER, "
                                  "or an addon with --host ADDRESS");
    }
    auto fleet = config::from_objects(objects);
    if (!fleet) return std::unexpected(fleet.error());
    return config::LoadedFleet{std::move(*fleet), {}};
}

std::unexpected<base::Error> unknown_target(const std::string& key,
                                            const runtime::FleetImage& image) {
    std::string known;
    for (const auto& [name, plan] : image.plans) {
        if (known.size() > 300) break;
        known += "\n  " + name;
    }
    return base::config_error(
        "poll.target", known.empty() ? fmt::format("no target {}: there are none", key)
                                     : fmt::format("no target {}; there are:{}", key, known));
}

base::Result<std::shared_ptr<const runtime::PollPlan>> find_plan(
    const PollTarget& wanted, const std::vector<model::ConfigObject>& objects,
    const config::Settings& settings, const FleetPorts& ports) {
    auto loaded = find_fleet(wanted, objects);
    if (!loaded) return std::unexpected(loaded.error());
    auto addons = compiled_addons(wanted.data, wanted.addons);
    if (!addons) return std::unexpected(addons.error());
    // Secrets of the vault are there if the data folder is.
    std::unique_ptr<store::SecretVault> master;
    std::unique_ptr<runtime::SecretFiles> vault;
    if (!wanted.data.empty()) {
        auto opened =
            store::SecretVault::open(store::KeySources::of_process(wanted.data + "/pollux.key"));
        if (!opened) return std::unexpected(opened.error());
        master = std::make_unique<store::SecretVault>(std::move(*opened));
        vault = std::make_unique<runtime::SecretFiles>(wanted.data + "/secrets", *master);
    }
    document::Diagnostics diagnostics;
    const runtime::FleetImage image = runtime::make_image(
        {.fleet = loaded->fleet,
         .places = loaded->places,
         .addons = **addons,
         .settings = settings,
         .ids = {},
         .secrets = runtime::secret_source(ports.environment, vault.get(), "this command"),
         .shards = 1},
        diagnostics);
    const std::string key =
        wanted.host.empty() ? wanted.target : fmt::format("{}::{}", wanted.target, wanted.host);
    const auto found = image.plans.find(key);
    if (found != image.plans.end()) return found->second;
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
    if (image.inbound->find(key)) {
        return base::config_error(
            "poll.inbound",
            fmt::format("{0} is heard, not polled: `pollux explain {0}` says how it "
                        "is, `pollux messages --target {0}` what came",
                        key));
    }
    return unknown_target(key, image);
}

void recall_learned(const PollTarget& wanted, const FleetPorts& ports, FoundTarget& found) {
    if (wanted.data.empty() || !ports.learned) {
        found.learned_from =
            "nothing, as of a new device; --data FOLDER takes what a server learned";
        return;
    }
    auto learned = ports.learned(wanted.data);
    if (!learned) {
        found.learned_from = "nothing, as of a new device: " + learned.error().message;
        return;
    }
    found.learned = std::move(learned->bytes);
    found.learned_from = fmt::format(
        "{} {}", learned->stored ? "what is stored in" : "from the running server of", wanted.data);
}

}  // namespace

base::Result<FoundTarget> find_target(const PollTarget& wanted, const FleetPorts& given) {
    FoundTarget found;
    // The server's variables first, then those of this command.
    PortsOfServer of = ports_of_server(wanted.data, given);
    FleetPorts& ports = of.ports;
    ports.environment.insert(given.environment.begin(), given.environment.end());
    document::Diagnostics diagnostics;
    auto settings = load_settings({.paths = {}, .data_folder = wanted.data, .settings_file = {}},
                                  ports, diagnostics);
    if (!settings) return std::unexpected(settings.error());
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("settings.invalid"));
    found.settings = std::move(*settings);
    std::vector<model::ConfigObject> objects;
    // A folder without a store is left alone; but for a target of it, that is said.
    const bool only_there = wanted.host.empty() && wanted.fleet.empty();
    if (!wanted.data.empty() && ports.objects &&
        (only_there || is_there(wanted.data + "/" + store::kStateFile))) {
        auto stored = ports.objects(wanted.data);
        if (!stored) return std::unexpected(stored.error());
        objects = std::move(*stored);
    }
    auto plan = find_plan(wanted, objects, found.settings, ports);
    if (!plan) return std::unexpected(plan.error());
    found.plan = std::move(*plan);
    recall_learned(wanted, ports, found);
    return found;
}

}  // namespace pollux::app
