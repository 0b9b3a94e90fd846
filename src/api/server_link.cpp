#include "api/server_link.hpp"

#include <charconv>

#include "document/map_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kLongestReason = 500;

}  // namespace

model::AuditEntry audit_entry(const Call& call, std::string action, std::string object,
                              std::string reason) {
    model::AuditEntry entry;
    entry.at = net::wall_now();
    entry.principal = access::audit_name(call.principal);
    entry.address = call.principal.address;
    entry.action = std::move(action);
    entry.object = std::move(object);
    entry.reason = std::move(reason);
    entry.request_id = call.request_id;
    return entry;
}

std::expected<document::Node, Problem> read_body(const Call& call) {
    if (call.request.body.empty()) return document::Node::map();
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(call.request.body, "body", diagnostics);
    if (!parsed.ok) return std::unexpected(problem_of(diagnostics, false));
    if (!parsed.root.is_map()) {
        diagnostics.error(parsed.root.mark(), "", "an object is expected");
        return std::unexpected(problem_of(diagnostics));
    }
    return std::move(parsed.root);
}

std::expected<std::string, Problem> read_reason(const Call& call) {
    auto body = read_body(call);
    if (!body) return std::unexpected(body.error());
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    std::string reason = reader.string("reason").value_or("");
    reader.finish();
    if (reason.size() > kLongestReason) {
        reader.error("reason", "a reason has at most 500 bytes");
    }
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return reason;
}

std::expected<std::optional<std::uint64_t>, Problem> version_of_if_match(const Call& call) {
    const auto field = call.request.header("If-Match");
    if (!field || *field == "*") return std::nullopt;
    std::string_view text = *field;
    std::uint64_t version = 0;
    if (text.starts_with("\"v")) {
        const char* begin = text.data() + 2;
        const auto end = std::from_chars(begin, text.data() + text.size(), version);
        const std::string_view rest(end.ptr, text.data() + text.size());
        if (end.ec == std::errc() && (rest == "\"" || rest == "-gzip\"")) return version;
    }
    return std::unexpected(
        Problem{412, "object.version", "If-Match must be the ETag of one answer, such as \"v7\""});
}

access::Labels labels_of(const runtime::FleetView& view, std::string_view task_key) {
    const config::TargetPlanInput* target = runtime::find_target(view, task_key);
    return target == nullptr ? access::Labels{} : target->labels;
}

Problem problem_of_edit(const base::Error& error) {
    Problem problem = problem_of(error);
    if (error.code == "task.unknown" || error.code == "object.unknown") problem.status = 404;
    if (error.code == "operator.nothing_to_do" || error.code == "operator.not_a_job" ||
        error.code == "object.exists" || error.code == "object.owned" ||
        error.code == "topology.by_hand" || error.code == "settings.locked" ||
        error.code == "addon.disabled" || error.code == "addon.in_use" ||
        error.code == "addon.given") {
        problem.status = 409;
    }
    if (error.code == "object.version") problem.status = 412;
    return problem;
}

}  // namespace pollux::api
