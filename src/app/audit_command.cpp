// `pollux audit`: looks at the audit trail of a data folder, with or without a running server; or
// of a server elsewhere, through the API. Nothing is written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "api/audit_pages.hpp"
#include "app/api_command.hpp"
#include "app/audit_online.hpp"
#include "app/commands.hpp"
#include "app/fleet_ports.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/settings_resolve.hpp"
#include "store/audit/audit_verify.hpp"
#include "store/audit/checkpoint.hpp"
#include "store/durable_file.hpp"
#include "store/key_file.hpp"
#include "store/secret_vault.hpp"
#include "store/sqlite/audit_rows.hpp"

namespace pollux::app {
namespace {

constexpr int kFindings = 1;
constexpr int kCannotRead = 3;
constexpr std::size_t kMostSettingsBytes = 1U << 20U;
constexpr std::size_t kTextInTable = 60;

int complain(int status, const std::string& message) {
    fmt::print(stderr, "pollux: {}\n", message);
    return status;
}

// Where the server of this folder writes them.
std::string checkpoint_path(const AuditArguments& arguments, const FleetPorts& ports) {
    if (!arguments.checkpoints.empty()) return arguments.checkpoints;
    const std::string path = arguments.data + "/system.json";
    document::Diagnostics diagnostics;
    config::StoredSettings stored;
    if (const auto text = store::read_file(path, kMostSettingsBytes); text && *text) {
        stored = config::read_system_json(**text, path, diagnostics).stored;
    }
    const config::Settings settings =
        config::resolve_settings(ports.environment, stored, diagnostics);
    return settings.audit_checkpoint_file.text.empty()
               ? arguments.data + "/" + store::kCheckpointFile
               : settings.audit_checkpoint_file.text;
}

// Never makes a key: there would be nothing that it could check.
base::Result<std::shared_ptr<const store::AuditKey>> key_of(const std::string& data) {
    auto sources = store::KeySources::of_process(data + "/pollux.key");
    const bool elsewhere = !sources.environment.empty() || !sources.credentials_directory.empty();
    if (!elsewhere && !store::key_file_exists(sources.key_file)) {
        return base::config_error(
            "audit.key", fmt::format("{} is not there: name the data folder of the server with "
                                     "--data, or give the master key in POLLUX_KEY",
                                     sources.key_file));
    }
    if (!store::key_file_exists(sources.key_file)) sources.key_file.clear();
    auto vault = store::SecretVault::open(sources);
    if (!vault) return std::unexpected(vault.error());
    return store::AuditKey::open(data + "/" + store::kAuditKeyFile, *vault);
}

void print_report(const store::AuditReport& report, const store::AuditKey& key) {
    if (report.records == 0) {
        fmt::print("no records\n");
    } else {
        fmt::print("{} records, {} to {}", report.records, report.first, report.last);
        if (report.removed > 0) fmt::print(", {} older ones removed by retention", report.removed);
        fmt::print("\n");
    }
    if (report.checkpoints > 0) {
        fmt::print("{} checkpoints, the newest at record {} of {}\n", report.checkpoints,
                   report.newest_checkpoint, report.newest_checkpoint_time);
        if (report.last > report.newest_checkpoint) {
            fmt::print("a cut of the {} records after it could not be found\n",
                       report.last - report.newest_checkpoint);
        }
    }
    fmt::print("key {}, public key of the checkpoints {}\n", key.id(), key.public_key());
    for (const auto& finding : report.findings) {
        fmt::print("{}: {}\n", finding.code, finding.text);
    }
    if (report.found > report.findings.size()) {
        fmt::print("... and {} more\n", report.found - report.findings.size());
    }
    fmt::print("{}\n", report.found == 0 ? "ok: everything fits"
                                         : fmt::format("{} findings", report.found));
}

void print_report_json(const store::AuditReport& report, const store::AuditKey& key) {
    fmt::print("{}\n", api::audit_report_json(report, key));
}

int verify(const AuditArguments& arguments, const FleetPorts& ports) {
    auto database = store::open_state_for_reading(arguments.data);
    if (!database) return complain(kCannotRead, database.error().message);
    const auto key = key_of(arguments.data);
    if (!key) return complain(kCannotRead, key.error().message);
    const auto report = store::verify_audit(**database, **key, checkpoint_path(arguments, ports));
    if (!report) return complain(kCannotRead, report.error().message);
    (arguments.output == "json" ? print_report_json : print_report)(*report, **key);
    return report->found == 0 ? 0 : kFindings;
}

base::Result<store::AuditQuery> query_of(const AuditArguments& arguments) {
    store::AuditQuery query;
    query.before = arguments.before;
    query.limit = arguments.limit;
    if (!arguments.principal.empty()) query.principal = arguments.principal;
    if (!arguments.action.empty()) query.action = arguments.action;
    if (!arguments.object.empty()) query.object = arguments.object;
    for (const auto result : {model::AuditResult::kAllowed, model::AuditResult::kRefused,
                              model::AuditResult::kFailed}) {
        if (arguments.result == to_string(result)) query.result = result;
    }
    const auto time = [](const std::string& text, std::string_view option,
                         std::optional<base::WallTime>& into) -> base::Status {
        if (text.empty()) return {};
        into = base::parse_utc(text);
        if (into) return {};
        return base::config_error(
            "audit.time",
            fmt::format("--{} {}: write a time like 2026-03-01T12:00:00Z", option, text));
    };
    if (auto status = time(arguments.from, "from", query.from); !status) {
        return std::unexpected(status.error());
    }
    if (auto status = time(arguments.to, "to", query.to); !status) {
        return std::unexpected(status.error());
    }
    return query;
}

// RFC 4180. What a spreadsheet would take for a formula gets an apostrophe in front.
std::string csv_field(const std::string& text) {
    std::string out = "\"";
    if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) out += '\'';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

std::string csv_of(const store::AuditRecord& record) {
    const auto& entry = record.entry;
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", record.number,
                       base::format_utc(entry.at), csv_field(entry.principal),
                       csv_field(entry.address), csv_field(entry.action), csv_field(entry.object),
                       to_string(entry.result), csv_field(entry.reason), csv_field(entry.before),
                       csv_field(entry.after), csv_field(entry.request_id),
                       record.damaged ? "damaged" : "");
}

int list(const AuditArguments& arguments) {
    const auto query = query_of(arguments);
    if (!query) return complain(kUsageError, query.error().message);
    auto database = store::open_state_for_reading(arguments.data);
    if (!database) return complain(kCannotRead, database.error().message);
    const auto records = store::read_audit(**database, *query);
    if (!records) return complain(kCannotRead, records.error().message);
    if (arguments.output == "json") {
        fmt::print("[");
        for (std::size_t i = 0; i < records->size(); ++i) {
            fmt::print("{}{}", i == 0 ? "\n" : ",\n", api::audit_record_json((*records)[i]));
        }
        fmt::print("\n]\n");
        return 0;
    }
    fmt::print("{:>8} {:<24} {:<8} {:<20} {:<18} {}\n", "number", "time (UTC)", "result",
               "principal", "action", "object, reason");
    for (const auto& record : *records) {
        const auto& entry = record.entry;
        const auto plain = [](const std::string& text) {
            const std::string quoted = base::quoted(text, kTextInTable);
            return quoted.substr(1, quoted.size() - 2);
        };
        fmt::print("{:>8} {:<24} {:<8} {:<20} {:<18} {}{}{}\n", record.number,
                   base::format_utc(entry.at), to_string(entry.result), plain(entry.principal),
                   plain(entry.action), plain(entry.object),
                   entry.reason.empty() ? "" : ": " + plain(entry.reason),
                   record.damaged ? " (damaged)" : "");
    }
    return 0;
}

// Oldest first, all of them, in pages.
int export_all(const AuditArguments& arguments) {
    const auto query = query_of(arguments);
    if (!query) return complain(kUsageError, query.error().message);
    auto database = store::open_state_for_reading(arguments.data);
    if (!database) return complain(kCannotRead, database.error().message);
    const bool csv = arguments.format == "csv";
    if (csv) {
        fmt::print(
            "number,at,principal,address,action,object,result,reason,before,after,"
            "request_id,damaged\n");
    }
    const auto status = store::each_audit_record(**database, *query, [&](const auto& record) {
        fmt::print("{}\n", csv ? csv_of(record) : api::audit_record_json(record));
        return std::ferror(stdout) == 0;
    });
    if (!status) return complain(kCannotRead, status.error().message);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        return complain(kCannotRead, "the export could not be written");
    }
    return 0;
}

void add_filters(CLI::App& command, AuditArguments& arguments) {
    command.add_option("--principal", arguments.principal, "Who, such as user:alice");
    command.add_option("--action", arguments.action,
                       "What, such as breaker.reset, or breaker. for all that begin so");
    command.add_option("--object", arguments.object, "Of which object, such as pve::node1");
    command.add_option("--result", arguments.result, "allowed, refused or failed")
        ->check(CLI::IsMember({"allowed", "refused", "failed"}));
    command.add_option("--from", arguments.from, "Not before this time");
    command.add_option("--to", arguments.to, "Before this time");
}

}  // namespace

void add_audit(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<AuditArguments>();
    auto* command = app.add_subcommand(
        "audit",
        "The audit trail of a data folder or a server: who did what, and whether it was tampered "
        "with.");
    command->require_subcommand(1);
    command->fallthrough();  // these may stand behind the subcommand
    auto* data = command->add_option("--data", arguments->data, "Data folder of the server")
                     ->envname("POLLUX_DATA")
                     ->capture_default_str();
    add_connection_options(*command, arguments->connection);
    // A server if one is named; a data folder that is named goes before the environment.
    const auto online = [arguments, data] {
        return !arguments->connection.url.empty() ||
               (url_was_chosen(arguments->connection) && data->count() == 0);
    };
    auto* check = command->add_subcommand(
        "verify",
        "Check every record, the chain and the checkpoints. Exit code 1: findings, 3: "
        "cannot be read.");
    check->add_option("--checkpoints", arguments->checkpoints,
                      "File with checkpoints, such as a copy kept elsewhere");
    check->add_option("-o,--output", arguments->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    check->callback([arguments, online, &status, &ports] {
        status = online() ? verify_audit_online(*arguments) : verify(*arguments, ports);
    });
    auto* ls = command->add_subcommand("ls", "The newest records.");
    add_filters(*ls, *arguments);
    ls->add_option("--before", arguments->before, "Only records with a smaller number");
    ls->add_option("--limit", arguments->limit, "At most so many")
        ->check(CLI::Range(std::size_t{1}, store::kMostAuditPerQuery))
        ->capture_default_str();
    ls->add_option("-o,--output", arguments->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    ls->callback([arguments, online, &status] {
        status = online() ? list_audit_online(*arguments) : list(*arguments);
    });
    auto* out = command->add_subcommand("export", "All records, oldest first, to standard output.");
    add_filters(*out, *arguments);
    out->add_option("--format", arguments->format, "jsonl or csv")
        ->check(CLI::IsMember({"jsonl", "csv"}))
        ->capture_default_str();
    out->callback([arguments, online, &status] {
        status = online() ? export_audit_online(*arguments) : export_all(*arguments);
    });
}

}  // namespace pollux::app
