#include "app/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "app/addon_files.hpp"
#include "app/control_client.hpp"
#include "app/fleet_workspace.hpp"
#include "app/known_secrets.hpp"
#include "config/objects.hpp"
#include "document/scalar.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

std::string_view word_of(Finding finding) {
    switch (finding) {
        case Finding::kOk: return "ok";
        case Finding::kWarning: return "warning";
        case Finding::kProblem: return "problem";
    }
    return "ok";
}

// Of a server that does not run nobody knows which variables it will have.
void examine_credentials(const config::Fleet& fleet, const KnownSecrets& secrets, bool certain,
                         DoctorReport& report) {
    const auto complain = [&](const base::Error& error, const std::string& text) {
        const bool variable = error.code == "secret.environment" && !certain;
        report.add(variable ? Finding::kWarning : Finding::kProblem, "credentials", text);
    };
    std::size_t good = 0;
    for (const auto& [name, credential] : fleet.credentials) {
        const auto resolved = config::resolve(name, credential, secrets.source());
        if (resolved) {
            ++good;
        } else {
            complain(resolved.error(), resolved.error().message);
        }
    }
    if (good > 0) {
        report.add(Finding::kOk, "credentials",
                   fmt::format("{} of {} can be used", good, fleet.credentials.size()));
    }
    for (const auto& [where, reference] : communities(fleet)) {
        if (reference.kind == config::SecretKind::kLiteral) continue;
        if (const auto secret = secrets.source()(reference); !secret) {
            complain(secret.error(),
                     fmt::format("community of {}: {}", where, secret.error().message));
        }
    }
}

bool has_store(const std::string& data) {
    return access((data + "/" + store::kStateFile).c_str(), F_OK) == 0;
}

// How many targets there are, and whose secrets and keys they need.
std::size_t examine_fleet(const std::string& data, const PortsOfServer& of, DoctorReport& report) {
    const FleetPorts& ports = of.ports;
    const auto objects = ports.objects(data);
    if (!objects) {
        report.add(Finding::kProblem, "fleet", objects.error().message);
        return 0;
    }
    const auto fleet = config::from_objects(*objects);
    if (!fleet) {
        report.add(Finding::kProblem, "fleet", fleet.error().message);
        return 0;
    }
    const auto targets = static_cast<std::size_t>(
        std::ranges::count(*objects, model::ObjectKind::kTarget, &model::ConfigObject::kind));
    report.add(Finding::kOk, "fleet",
               fmt::format("{} devices, {} targets", fleet->devices.size(), targets));
    const bool certain = of.server_runs && of.problem.empty();
    examine_credentials(*fleet, KnownSecrets(data, ports.environment, of.whose), certain, report);
    examine_agent(*fleet, ports.environment, report);
    return targets;
}

// What they say; nothing if they cannot be used.
std::optional<config::Settings> examine_settings(const DoctorArguments& arguments,
                                                 const FleetPorts& ports, DoctorReport& report) {
    document::Diagnostics diagnostics;
    FleetArguments where;
    where.data_folder = arguments.data;
    const auto settings = load_settings(where, ports, diagnostics);
    if (!settings) {
        report.add(Finding::kProblem, "settings", settings.error().message);
        return std::nullopt;
    }
    diagnostics.sort();
    if (diagnostics.text().empty()) {
        report.add(Finding::kOk, "settings", "all are understood");
    } else {
        report.add(diagnostics.ok() ? Finding::kWarning : Finding::kProblem, "settings",
                   diagnostics.text());
    }
    return diagnostics.ok() ? std::optional(*settings) : std::nullopt;
}

void examine_addons(const DoctorArguments& arguments, DoctorReport& report) {
    for (const std::string& folder : {arguments.data + "/addons", arguments.addons}) {
        if (folder.empty()) continue;
        const auto loaded = load_addons(folder);
        if (!loaded) continue;  // no such folder
        for (const LoadedAddon& one : *loaded) {
            if (one.addon == nullptr) {
                report.add(Finding::kProblem, "addons", one.diagnostics.text());
            }
        }
    }
}

// What a running server says of itself.
void examine_server(const std::string& data, DoctorReport& report) {
    const ControlClient client(data);
    if (!client.server_runs()) {
        report.add(Finding::kWarning, "server", "is not running: nothing is polled");
        return;
    }
    const auto status = client.ask("GET", "/status?limit=1", "");
    if (!status) {
        report.add(Finding::kProblem, "server", status.error().message);
        return;
    }
    const auto field = [&](std::string_view name) {
        const document::Node* found = status->find(name);
        return found == nullptr ? std::string("0") : found->scalar();
    };
    const auto number = [&](std::string_view name) {
        return document::parse_number(field(name)).value_or(0);
    };
    report.add(Finding::kOk, "server",
               fmt::format("runs, {} tasks, {} failing, {} dead letters", field("tasks"),
                           field("failing"), field("dead_letters")));
    if (field("store_failing") == "true") {
        report.add(Finding::kProblem, "server",
                   "cannot write to its store: see its log and the disk");
    }
    if (number("over_bound") > 0) {
        report.add(Finding::kWarning, "server",
                   fmt::format("{} targets have data older than their bound: `pollux top` shows "
                               "them, `pollux explain KEY` says why",
                               field("over_bound")));
    }
    if (number("planned_rate") > number("global_rate")) {
        report.add(
            Finding::kWarning, "server",
            fmt::format("the intervals want {:.1f} polls per second, POLLUX_GLOBAL_RATE allows "
                        "{:g}",
                        number("planned_rate"), number("global_rate")));
    }
    if (number("lag_p99") > 2) {
        report.add(Finding::kWarning, "server",
                   fmt::format("polls start {:.1f} s late (p99): the machine or the limits are too "
                               "small",
                               number("lag_p99")));
    }
}

}  // namespace

void DoctorReport::add(Finding finding, std::string subject, std::string text) {
    problems += finding == Finding::kProblem ? 1 : 0;
    warnings += finding == Finding::kWarning ? 1 : 0;
    while (text.ends_with('\n')) text.pop_back();
    lines.push_back({finding, std::move(subject), std::move(text)});
}

std::string DoctorReport::text() const {
    std::string out;
    for (const DoctorLine& line : lines) {
        std::string body = line.text;
        for (std::size_t at = body.find('\n'); at != std::string::npos;
             at = body.find('\n', at + 1)) {
            body.insert(at + 1, std::string(24, ' '));
        }
        out += fmt::format("{:<8} {:<14} {}\n", word_of(line.finding), line.subject, body);
    }
    out += fmt::format("{} problem{}, {} warning{}\n", problems, problems == 1 ? "" : "s", warnings,
                       warnings == 1 ? "" : "s");
    return out;
}

DoctorReport examine(const DoctorArguments& arguments, const FleetPorts& given) {
    DoctorReport report;
    examine_folder(arguments.data, report);
    const PortsOfServer of = ports_of_server(arguments.data, given);
    const FleetPorts& ports = of.ports;
    if (!of.problem.empty()) {
        report.add(Finding::kWarning, "environment",
                   of.problem +
                       "; settings and credentials are looked at with those of this "
                       "command");
    }
    std::size_t targets = 0;
    if (report.problems == 0) {
        examine_key(arguments.data, report);
        examine_databases(arguments.data, report);
        report.store_opens = report.problems == 0 && has_store(arguments.data);
        const auto settings = examine_settings(arguments, ports, report);
        if (settings) {
            // The ports of a server that runs are its own.
            if (!of.server_runs) examine_ports(*settings, report);
            examine_certificates(*settings, report);
            examine_plugins(*settings, report);
        }
        examine_host_keys(arguments.data, report);
        // Opening a store that is not sound, or without its key, would change it.
        if (report.store_opens) targets = examine_fleet(arguments.data, of, report);
        examine_addons(arguments, report);
        examine_server(arguments.data, report);
    }
    examine_machine(targets, report);
    return report;
}

}  // namespace pollux::app
