// The settings: shown, changed while everything runs, compared and rolled back by version.
#include <fmt/format.h>

#include "api/etag.hpp"
#include "api/fleet_edits.hpp"
#include "api/routes.hpp"
#include "api/settings_pages.hpp"
#include "document/map_reader.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using config::StoredSettings;

constexpr std::size_t kMostVersions = 1000;

void show(const ServerLink& link, SettingsPart part, Call call) {
    const auto view = link.view();
    call.etag = etag_of(view->settings_version);
    call.json(200, settings_page(*view, part));
}

// What a change of the settings says of itself in the audit trail: names and values, short.
std::string changes_text(const StoredSettings& before, const StoredSettings& after,
                         bool old_values) {
    std::string text;
    for (const config::SettingChange& change : config::changes(before, after)) {
        const std::string& value = old_values ? change.before : change.after;
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", change.name,
                            value.empty() ? "(default)" : value);
    }
    return text;
}

// On the main loop. `wanted` is made there: it must start from what is stored at that moment.
template <class MakeWanted>
void change(const ServerLink& link, Call call, std::string action, std::string reason,
            SettingsPart part, MakeWanted make_wanted) {
    const auto if_match = version_of_if_match(call);
    if (!if_match) {
        call.problem(if_match.error());
        return;
    }
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, action, reason, part, expected = *if_match,
                  make_wanted = std::move(make_wanted)]() mutable {
        Call answer = std::move(*held);
        const auto before = link.view();
        if (expected && *expected != before->settings_version) {
            answer.problem(Problem{412, "settings.version",
                                   fmt::format("the settings are at version {} now, not {}: read "
                                               "them again",
                                               before->settings_version, *expected)});
            return;
        }
        const auto wanted = make_wanted(*before, answer);
        if (!wanted) return;  // answered
        auto entry = audit_entry(answer, action, "settings", reason);
        entry.before = changes_text(before->stored, *wanted, true);
        entry.after = changes_text(before->stored, *wanted, false);
        const std::string note = fmt::format("{} by {}{}{}", action, entry.principal,
                                             reason.empty() ? "" : ": ", reason);
        const auto status = link.server.change_settings(*wanted, {note, {std::move(entry)}});
        if (!status) {
            answer.problem(problem_of_edit(status.error()));
            return;
        }
        show(link, part, std::move(answer));
    });
}

void put(const ServerLink& link, SettingsPart part, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    std::string reason;
    const document::Node* given = body->find("reason");
    if (given != nullptr && !given->is_scalar()) {
        document::Diagnostics diagnostics;
        diagnostics.error(given->mark(), "reason", "a text is expected");
        call.problem(problem_of(diagnostics));
        return;
    }
    take_reason(*body, reason);
    change(link, std::move(call), "settings.change", reason, part,
           [part, body = std::move(*body)](const runtime::FleetView& view,
                                           Call& answer) -> std::optional<StoredSettings> {
               document::Diagnostics diagnostics;
               auto wanted = edited_settings(view, part, body, diagnostics);
               if (wanted) return std::move(*wanted);
               Problem problem = problem_of(diagnostics);
               problem.code = wanted.error().code;
               if (problem.code == "settings.locked") problem.status = 409;
               answer.problem(problem);
               return std::nullopt;
           });
}

// One version; nothing and an answer, if there is none. Version 0 is the state before the first.
std::optional<store::SettingsVersion> version_at(store::Store& store, std::uint64_t number,
                                                 Call& call) {
    // Before the first change: nothing was stored.
    if (number == 0) {
        store::SettingsVersion none;
        none.object.body = config::write_system_json(StoredSettings{});
        return none;
    }
    const auto found = store.settings_versions(number + 1, 1);
    if (!found) {
        call.problem(found.error());
        return std::nullopt;
    }
    if (found->empty() || found->front().object.version != number) {
        call.problem(not_found(fmt::format("version {} of the settings", number)));
        return std::nullopt;
    }
    return found->front();
}

void versions(const ServerLink& link, Call call) {
    const auto limit = static_cast<std::size_t>(call.query.integer("limit").value_or(20));
    const std::int64_t cursor = call.query.integer("cursor").value_or(INT64_MAX);
    const auto before = static_cast<std::uint64_t>(
        std::min(cursor, call.query.integer("before").value_or(INT64_MAX)));
    link.block(std::move(call), [&store = link.server.store(), limit, before](Call answer) {
        auto found = store.settings_versions(before, limit + 1);
        if (!found) {
            answer.problem(found.error());
            return;
        }
        std::optional<store::SettingsVersion> older;
        if (found->size() > limit) {
            older = std::move(found->back());
            found->pop_back();
        }
        answer.json(200, versions_page(*found, older));
    });
}

void difference(const ServerLink& link, Call call) {
    const auto from = static_cast<std::uint64_t>(call.query.integer("from").value_or(0));
    const auto to = static_cast<std::uint64_t>(call.query.integer("to").value_or(0));
    link.block(std::move(call), [&store = link.server.store(), from, to](Call answer) {
        const auto old_one = version_at(store, from, answer);
        if (!old_one) return;
        const auto new_one = version_at(store, to, answer);
        if (new_one) answer.json(200, difference_page(*old_one, *new_one));
    });
}

void rollback(const ServerLink& link, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    const auto number = reader.integer("version", 0, INT64_MAX, document::Need::kRequired);
    const std::string reason = reader.string("reason").value_or("");
    reader.finish();
    if (!diagnostics.ok() || !number) {
        call.problem(problem_of(diagnostics));
        return;
    }
    change(link, std::move(call), "settings.rollback",
           fmt::format("to version {}{}{}", *number, reason.empty() ? "" : ": ", reason),
           SettingsPart::kAll,
           [&store = link.server.store(), number = static_cast<std::uint64_t>(*number)](
               const runtime::FleetView&, Call& answer) -> std::optional<StoredSettings> {
               const auto version = version_at(store, number, answer);
               if (!version) return std::nullopt;
               auto stored = settings_of(*version);
               if (stored) return std::move(*stored);
               answer.problem(stored.error());
               return std::nullopt;
           });
}

constexpr std::string_view kExample = R"("$Settings")";

Route settings_route(std::string_view method, std::string_view path, std::string_view operation,
                     std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kSettings;
    route.operation = operation;
    route.tag = "settings";
    route.summary = summary;
    route.response_example = kExample;
    route.rate = RateClass::kPublic;
    if (method != "GET") {
        route.permission = Permission::kManage;
        route.everywhere = true;
        route.rate = RateClass::kConfigWrite;
    }
    return route;
}

void add_part(std::vector<Route>& routes, const ServerLink& link, SettingsPart part,
              std::string_view path, std::string_view get, std::string_view set) {
    Route read = settings_route("GET", path, get,
                                "The settings in force, each with where its value came from.");
    read.handler = [link, part](Call call) { show(link, part, std::move(call)); };
    routes.push_back(std::move(read));
    Route write = settings_route("PUT", path, set, "Change settings while everything runs.");
    write.audit_action = "settings.change";
    write.takes_if_match = true;
    write.audit_object = "settings";
    write.description =
        "Names as in the answer of GET, or as in system.json; null takes a value away. What is "
        "not named stays. All is checked, stored as a new version, then put in force. A value that "
        "a variable of the environment decides is locked: 409.";
    write.request_schema = kAnyFields;
    write.request_example =
        R"({"adaptive_polling_enabled":true,"adaptive_polling_scope":"percent:25",)"
        R"("reason":"first stage"})";
    write.handler = [link, part](Call call) { put(link, part, std::move(call)); };
    routes.push_back(std::move(write));
}

}  // namespace

void add_settings_routes(std::vector<Route>& routes, const ServerLink& link) {
    add_part(routes, link, SettingsPart::kMonitoring, "/api/settings/monitoring",
             "getMonitoringSettings", "changeMonitoringSettings");
    add_part(routes, link, SettingsPart::kAll, "/api/settings", "getSettings", "changeSettings");

    Route list = settings_route("GET", "/api/settings/versions", "listSettingsVersions",
                                "Every version of the settings with what it changed.");
    list.query = {{.name = "limit",
                   .type = ParameterType::kInteger,
                   .description = "how many, the newest first",
                   .least = 1,
                   .most = kMostVersions - 1,
                   .standard = "20"},
                  {.name = "cursor",
                   .type = ParameterType::kInteger,
                   .description = "`next` of the page before",
                   .least = 1},
                  {.name = "before",
                   .type = ParameterType::kInteger,
                   .description = "only versions below this one",
                   .least = 1}};
    list.response_example =
        R"({"items":[{"version":4,"at":"2026-01-02T03:04:05.000Z","note":"settings.change by )"
        R"(user:ada","changes":["$SettingChange"]}],"next?":4})";
    list.handler = [link](Call call) { versions(link, std::move(call)); };
    routes.push_back(std::move(list));

    Route diff = settings_route("GET", "/api/settings/diff", "diffSettings",
                                "What differs between two versions.");
    const auto number = [](std::string_view name) {
        return Parameter{.name = name,
                         .type = ParameterType::kInteger,
                         .description = "number of a version; 0: before the first change",
                         .required = true,
                         .least = 0,
                         .example = "1"};
    };
    diff.query = {number("from"), number("to")};
    diff.response_example = R"({"from":1,"to":4,"changes":["$SettingChange"]})";
    diff.handler = [link](Call call) { difference(link, std::move(call)); };
    routes.push_back(std::move(diff));

    Route back = settings_route("POST", "/api/settings/rollback", "rollbackSettings",
                                "Make the settings what they were in an earlier version.");
    back.audit_action = "settings.rollback";
    back.audit_object = "settings";
    back.takes_if_match = true;
    back.description =
        "The result is a new version with the values of the old one. Version 0 is what holds "
        "before "
        "the first change.";
    back.request_schema =
        R"({"type":"object","required":["version"],"properties":{"version":{"type":"integer",)"
        R"("minimum":0},"reason":{"type":"string"}}})";
    back.request_example = R"({"version":1,"reason":"the second stage was too early"})";
    back.handler = [link](Call call) { rollback(link, std::move(call)); };
    routes.push_back(std::move(back));
}

}  // namespace pollux::api
