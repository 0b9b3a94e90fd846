// Addons of one's own: stored, changed, taken away, switched, tried out.
#include <fmt/format.h>

#include "api/addon_pages.hpp"
#include "api/fleet_edits.hpp"
#include "api/routes.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/addon_shelf.hpp"
#include "runtime/trial/trial_page.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using document::Node;
using runtime::AddonVerb;

// A manifest within JSON: quotes and line ends are two bytes.
constexpr std::size_t kMostUploadBytes = 2 * runtime::kMostManifestBytes + 64 * 1024;
constexpr document::ParseLimits kUploadLimits{.max_bytes = kMostUploadBytes};
constexpr std::size_t kMostTrialSteps = 100;

struct Upload {
    std::string manifest;
    std::string reason;
};

std::expected<Node, Problem> read_upload_body(const Call& call) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(call.request.body, "body", diagnostics, kUploadLimits);
    if (!parsed.ok) return std::unexpected(problem_of(diagnostics, false));
    return std::move(parsed.root);
}

// `manifest` as a text in YAML or JSON, or as an object.
std::string take_manifest(document::MapReader& reader, document::Need need) {
    const Node* given = reader.any("manifest", need);
    if (given == nullptr) return {};
    std::string text = given->is_scalar() ? given->scalar() : document::to_json(*given);
    if (text.empty()) reader.error("manifest", "a manifest is needed");
    if (text.size() > runtime::kMostManifestBytes) {
        reader.error("manifest", "a manifest has at most 1 MiB");
    }
    return text;
}

std::expected<Upload, Problem> read_upload(const Call& call) {
    auto body = read_upload_body(call);
    if (!body) return std::unexpected(body.error());
    document::Diagnostics diagnostics;
    Upload upload;
    take_reason(*body, upload.reason);
    document::MapReader reader(*body, "", diagnostics);
    upload.manifest = take_manifest(reader, document::Need::kRequired);
    reader.finish();
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return upload;
}

// Pointers and lines are those of the manifest.
Problem problem_of_manifest(const document::Diagnostics& diagnostics) {
    Problem problem{.status = 422,
                    .code = "addon.invalid",
                    .detail = fmt::format("the manifest has {} mistakes", diagnostics.errors())};
    for (const document::Diagnostic& one : diagnostics.items()) {
        if (one.severity != document::Severity::kError) continue;
        std::string detail =
            one.line == 0 ? one.message : fmt::format("line {}: {}", one.line, one.message);
        problem.errors.push_back({.pointer = json_pointer(one.field), .detail = std::move(detail)});
    }
    return problem;
}

// What a manifest is called; a problem if it cannot be used.
std::expected<std::string, Problem> name_in(const std::string& manifest) {
    const auto compiled = extract::compile(manifest, "manifest");
    if (compiled.addon == nullptr)
        return std::unexpected(problem_of_manifest(compiled.diagnostics));
    return compiled.addon->addon().name;
}

void answer_change(const ServerLink& link, const std::shared_ptr<Call>& held,
                   const runtime::AddonChange& change, bool only_check) {
    link.loop->post([link, held, change, only_check] {
        if (only_check) {
            std::string body;
            JsonWriter(body).object().field("ok", true).field("name", change.name).end_object();
            held->json(200, std::move(body));
        } else if (change.verb == AddonVerb::kRemove) {
            held->send(net::Response{.status = 204, .headers = {}, .body = {}});
        } else {
            answer_with_addon(link, change.name, change.verb == AddonVerb::kCreate ? 201 : 200,
                              std::move(*held));
        }
    });
}

void change_addon(const ServerLink& link, Call call, runtime::AddonChange change,
                  model::AuditEntry entry) {
    const bool only_check = call.query.flag("dry_run").value_or(false);
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, change = std::move(change), entry = std::move(entry),
                  only_check]() mutable {
        document::Diagnostics diagnostics;
        const std::string note = fmt::format("{} by {}", entry.action, entry.principal);
        const auto status =
            link.server.change_addon(change, only_check, {note, {std::move(entry)}}, diagnostics);
        if (status) {
            answer_change(link, held, change, only_check);
        } else if (status.error().code == "addon.invalid") {
            held->problem(problem_of_manifest(diagnostics));
        } else {
            held->problem(problem_of_edit(status.error()));
        }
    });
}

void create(const ServerLink& link, Call call) {
    auto upload = read_upload(call);
    if (!upload) {
        call.problem(upload.error());
        return;
    }
    const auto name = name_in(upload->manifest);
    if (!name) {
        call.problem(name.error());
        return;
    }
    auto entry = audit_entry(call, "addon.create", *name, upload->reason);
    entry.after = fmt::format("a manifest of {} bytes", upload->manifest.size());
    change_addon(link, std::move(call), {AddonVerb::kCreate, *name, std::move(upload->manifest)},
                 std::move(entry));
}

void replace(const ServerLink& link, Call call) {
    auto upload = read_upload(call);
    const auto version = version_of_if_match(call);
    if (!upload || !version) {
        call.problem(!upload ? upload.error() : version.error());
        return;
    }
    const std::string name(call.parameter("name"));
    const auto inside = name_in(upload->manifest);
    if (!inside) {
        call.problem(inside.error());
        return;
    }
    if (*inside != name) {
        call.problem(Problem{.status = 422,
                             .code = "addon.name",
                             .detail = fmt::format("the manifest is that of {}, not of {}",
                                                   base::quoted(*inside), base::quoted(name))});
        return;
    }
    auto entry = audit_entry(call, "addon.change", name, upload->reason);
    entry.before = fmt::format("revision {}", addon_revision(*link.view(), name));
    entry.after = fmt::format("a manifest of {} bytes", upload->manifest.size());
    change_addon(link, std::move(call),
                 {AddonVerb::kReplace, name, std::move(upload->manifest), *version},
                 std::move(entry));
}

// Without a manifest: remove, enable, disable.
void steer(const ServerLink& link, AddonVerb verb, const std::string& action, Call call) {
    const auto reason = read_reason(call);
    const auto version = version_of_if_match(call);
    if (!reason || !version) {
        call.problem(!reason ? reason.error() : version.error());
        return;
    }
    const std::string name(call.parameter("name"));
    auto entry = audit_entry(call, action, name, *reason);
    entry.before = fmt::format("revision {}", addon_revision(*link.view(), name));
    change_addon(link, std::move(call), {verb, name, {}, *version}, std::move(entry));
}

// Compiling and reading may take a while: on the pool.
void try_out(const std::shared_ptr<const extract::CompiledAddon>& addon, const Node& body,
             Call call) {
    document::Diagnostics diagnostics;
    document::MapReader reader(body, "", diagnostics);
    reader.any("manifest");
    // What came over the network names no files of the server.
    const auto no_files = [](const std::string&) -> base::Result<std::string> {
        return base::config_error("case.file", "write the reply itself: files are not read here");
    };
    runtime::AddonTrial trial(addon, no_files, diagnostics);
    const base::Status prepared = trial.prepare(reader);
    const Node* list = reader.list("steps", document::Need::kRequired);
    reader.finish();
    if (list != nullptr && list->items().size() > kMostTrialSteps) {
        reader.error("steps", "at most 100 steps are tried");
    }
    if (!prepared && diagnostics.ok()) {
        call.problem(prepared.error());
        return;
    }
    std::vector<runtime::TrialStep> steps;
    for (std::size_t i = 0; diagnostics.ok() && i < list->items().size(); ++i) {
        document::MapReader step(list->items()[i], document::item_path("steps", i), diagnostics);
        trial.run(step, steps.emplace_back());
        step.finish();
    }
    if (!diagnostics.ok()) {
        call.problem(problem_of(diagnostics));
        return;
    }
    call.json(200, trial_page(trial.asks(), steps));
}

void test(const ServerLink& link, Call call) {
    auto body = read_upload_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    const std::string name(call.parameter("name"));
    const auto view = link.view();
    const auto known = view->addons->find(name);
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    std::string manifest = take_manifest(reader, document::Need::kOptional);
    if (!diagnostics.ok()) {
        call.problem(problem_of(diagnostics));
        return;
    }
    if (manifest.empty() && known == view->addons->end()) {
        call.problem(not_found("addon " + base::quoted(name)));
        return;
    }
    auto addon = known == view->addons->end() ? nullptr : known->second;
    link.block(std::move(call), [body = std::move(*body), manifest = std::move(manifest),
                                 addon = std::move(addon)](Call answer) {
        if (manifest.empty()) {
            try_out(addon, body, std::move(answer));
            return;
        }
        const auto compiled = extract::compile(manifest, "manifest");
        if (compiled.addon == nullptr) {
            answer.problem(problem_of_manifest(compiled.diagnostics));
            return;
        }
        try_out(compiled.addon, body, std::move(answer));
    });
}

// --- the table ----------------------------------------------------------------------------------

constexpr std::string_view kUploadSchema =
    R"({"type":"object","required":["manifest"],"properties":{"manifest":)"
    R"({"description":"YAML or JSON as a text, or the map itself."},)"
    R"("reason":{"type":"string"}}})";

Parameter dry_run() {
    return {.name = "dry_run",
            .type = ParameterType::kBoolean,
            .description = "check only",
            .standard = "false"};
}

void add_uploads(std::vector<Route>& routes, const ServerLink& link) {
    Route make = addon_route("POST", "/api/addons", "createAddon",
                             "Store a manifest; one of the same name that came with the server "
                             "gives way to it.");
    make.audit_action = "addon.create";
    make.description =
        "`manifest` is a text in YAML or JSON, in our own form or in one that can be imported. It "
        "is checked whole, with every target that uses it; mistakes are told with their pointer "
        "and line in the manifest. It is in force at the next poll of each target.";
    make.query = {dry_run()};
    make.request_schema = kUploadSchema;
    make.request_example =
        R"({"manifest":"schema: pollux/1\nname: acme-door\nversion: 1.0.0\ntitle: Acme door\n)"
        R"(description: Whether it is open.\nprotocol: http\ninterval: 60s\nhttp:\n)"
        R"(  endpoints:\n    - {name: status, path: /status, format: json}\nmetrics:\n)"
        R"(  - {name: open, type: gauge, help: 1 when it is open., path: $.open}\n",)"
        R"("reason":"new doors"})";
    make.body_optional = false;
    make.body_limit = kMostUploadBytes;
    make.status = 201;
    make.handler = [link](Call call) {
        link.block(std::move(call), [link](Call held) { create(link, std::move(held)); });
    };
    routes.push_back(std::move(make));

    Route set = addon_route("PUT", "/api/addons/{name}", "replaceAddon",
                            "Change the manifest of an addon. Of one that came with the server "
                            "this makes a copy, which is never overwritten.");
    set.audit_action = "addon.change";
    set.query = {dry_run()};
    set.request_schema = kUploadSchema;
    set.request_example =
        R"({"manifest":"schema: pollux/1\nname: snmp-system\nversion: 1.0.1\ntitle: System\n)"
        R"(protocol: snmp\ninterval: 60s\nsnmp:\n  version: 2c\n  gets:\n)"
        R"(    - {name: up, oid: 1.3.6.1.2.1.1.3.0}\nmetrics:\n)"
        R"(  - {name: uptime, type: gauge, unit: seconds, get: up, scale: 0.01}\n"})";
    set.body_optional = false;
    set.body_limit = kMostUploadBytes;
    set.needs_if_match = true;
    set.handler = [link](Call call) {
        link.block(std::move(call), [link](Call held) { replace(link, std::move(held)); });
    };
    routes.push_back(std::move(set));
}

void add_trial(std::vector<Route>& routes, const ServerLink& link) {
    Route route = addon_route("POST", "/api/addons/{name}/test", "testAddon",
                              "Try an addon, or a manifest in the body, with captured replies.");
    route.description =
        "Nothing is asked and nothing is stored. `steps` are those of the cases of addons, without "
        "`expect` and without files.";
    route.request_schema = kAnyFields;
    route.request_example =
        R"({"steps":[{"snmp":".1.3.6.1.2.1.1.3.0 = Timeticks: (4200) 0:00:42.00"}]})";
    route.response_example =
        R"({"asks":["snmp://192.0.2.1:161"],"steps":[{"failed":false,"changed":false,)"
        R"("readings*":{"uptime":"42"},"samples*":{"uptime":"42"},"conditions*":{"hot":"clear"},)"
        R"("rows":["eth0"],"signals":[{"type":"link_down","subject?":"eth0","clear":false,)"
        R"("severity":"major","title?":"eth0 is down","message?":"since 42 s"}],)"
        R"("problems":["no such object"],"missing":0,"dropped":0,"degraded":false,)"
        R"("unreadable":false,"restarted":false}]})";
    route.body_optional = false;
    route.body_limit = kMostUploadBytes;
    route.handler = [link](Call call) { test(link, std::move(call)); };
    routes.push_back(std::move(route));
}

}  // namespace

void add_addon_edit_routes(std::vector<Route>& routes, const ServerLink& link) {
    add_uploads(routes, link);
    struct Row {
        std::string_view method;
        std::string_view path;
        std::string_view operation;
        std::string_view summary;
        AddonVerb verb;
        std::string_view action;
    };
    const Row rows[] = {
        {"DELETE", "/api/addons/{name}", "removeAddon",
         "Take a stored manifest away; one that came with the server is in force again.",
         AddonVerb::kRemove, "addon.remove"},
        {"POST", "/api/addons/{name}/disable", "disableAddon",
         "Stop polling all targets of an addon; nothing is lost.", AddonVerb::kDisable,
         "addon.disable"},
        {"POST", "/api/addons/{name}/enable", "enableAddon", "Poll the targets of an addon again.",
         AddonVerb::kEnable, "addon.enable"}};
    for (const Row& row : rows) {
        Route route = addon_route(row.method, row.path, row.operation, row.summary);
        route.audit_action = row.action;
        route.takes_if_match = true;
        if (row.verb == AddonVerb::kRemove) {
            route.status = 204;
            route.description = "409 while targets use it and nothing would take its place.";
        }
        route.handler = [link, verb = row.verb, action = std::string(row.action)](Call call) {
            steer(link, verb, action, std::move(call));
        };
        routes.push_back(std::move(route));
    }
    add_trial(routes, link);
}

}  // namespace pollux::api
