#include "app/audit_online.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "app/api_command.hpp"

namespace pollux::app {
namespace {

using document::Node;

std::string path_of(const AuditArguments& arguments, std::string path) {
    return with_query(std::move(path), {{"principal", arguments.principal},
                                        {"action", arguments.action},
                                        {"object", arguments.object},
                                        {"result", arguments.result},
                                        {"from", arguments.from},
                                        {"to", arguments.to}});
}

}  // namespace

int list_audit_online(const AuditArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (arguments.before != INT64_MAX) {
            return std::unexpected(usage_error("--before is for a data folder; use --to here"));
        }
        const auto all = get_all(client, path_of(arguments, "/api/audit"), arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table(
                {"NUMBER", "TIME (UTC)", "RESULT", "PRINCIPAL", "ACTION", "OBJECT", "REASON"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "number"), short_time(field(one, "at")), field(one, "result"),
                           field(one, "principal"), field(one, "action"), field(one, "object"),
                           field(one, "reason")});
            }
            return table.text(wants_colour());
        });
        return 0;
    });
}

int export_audit_online(const AuditArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (arguments.format != "jsonl") {
            return std::unexpected(usage_error(
                "a server exports jsonl; csv can be had of a data folder, with --data"));
        }
        Progress progress("bytes");
        std::size_t bytes = 0;
        ApiRequest request;
        request.path = path_of(arguments, "/api/audit/export");
        request.sink = [&](std::string_view piece) {
            bytes += piece.size();
            progress.at(bytes);
            return std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size();
        };
        const auto reply = client.ask(request);
        if (!reply) return std::unexpected(reply.error());
        if (std::fflush(stdout) != 0) {
            return base::config_error("client.output", "the export could not be written");
        }
        return 0;
    });
}

int verify_audit_online(const AuditArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (!arguments.checkpoints.empty()) {
            return std::unexpected(
                usage_error("--checkpoints is for a data folder: a server looks "
                            "at its own"));
        }
        const auto report = client.get("/api/audit/verify");
        if (!report) return std::unexpected(report.error());
        print_answer(arguments.output, *report, [&] {
            std::string out = fmt::format(
                "{} records, {} to {}; {} checkpoints, the newest at record {}\n",
                field(*report, "records"), field(*report, "first"), field(*report, "last"),
                field(*report, "checkpoints"), field(*report, "newest_checkpoint"));
            for (const Node& one : list_of(*report, "findings")) {
                out += fmt::format("{}: {}\n", field(one, "code"), printable(field(one, "text")));
            }
            const bool fits = field(*report, "ok") == "true";
            return out + (fits ? "ok: everything fits\n"
                               : fmt::format("{} findings\n", field(*report, "found")));
        });
        return field(*report, "ok") == "true" ? 0 : kRefused;
    });
}

}  // namespace pollux::app
