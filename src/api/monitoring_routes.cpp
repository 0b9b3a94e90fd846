// The scheduler's health, and what people do about breakers and dead letters. Paths, names and
// answers are those that operators' scripts know.
#include "api/authenticator.hpp"
#include "api/fleet_edits.hpp"
#include "api/health_page.hpp"
#include "api/routes.hpp"
#include "config/target_edit.hpp"
#include "document/json_writer.hpp"
#include "document/map_reader.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;
using runtime::OperateResult;
using schedule::OperatorVerb;

bool may_see(const Call& call, const runtime::FleetView& view, std::string_view key) {
    return access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                          labels_of(view, key));
}

void health(const ServerLink& link, Call call) {
    link.ask(
        [](const auto& core) { return health_facts(core); },
        [call = std::move(call), view = link.view()](HealthFacts facts) mutable {
            // The counts of the queue are those of all; names only of what may be seen.
            if (!access::may_everywhere(call.principal, Permission::kRead, Area::kMonitoring)) {
                std::erase_if(facts.rows, [&](const runtime::TaskRow& row) {
                    return !may_see(call, *view, row.key);
                });
            }
            call.json(200, health_page(std::move(facts), *view));
        });
}

// --- one key ------------------------------------------------------------------------------------

using WriteAnswer = std::function<std::string(const std::string& key, const OperateResult& result,
                                              const model::AuditEntry& entry)>;

// What the trail is to say of an act on one task. Nothing: the call is answered, because its body
// has mistakes or its principal may not do this to a target with these labels.
std::optional<model::AuditEntry> permitted_act(const ServerLink& link, Call& call,
                                               std::string action) {
    const std::string key(call.parameter("key"));
    const auto reason = read_reason(call);
    if (!reason) {
        call.problem(reason.error());
        return std::nullopt;
    }
    const auto view = link.view();
    if (!may_see(call, *view, key)) {
        call.problem(not_found("task " + base::quoted(key)));
        return std::nullopt;
    }
    model::AuditEntry entry = audit_entry(call, std::move(action), key, *reason);
    if (access::may_on(call.principal, call.route->permission, Area::kMonitoring,
                       labels_of(*view, key))) {
        return entry;
    }
    refuse(link, std::move(call), std::move(entry));
    return std::nullopt;
}

// An act on one task: allowed by its labels, recorded with it, answered after the commit.
void operate_one(const ServerLink& link, Call call, OperatorVerb verb, std::string action,
                 WriteAnswer write) {
    const std::string key(call.parameter("key"));
    auto permitted = permitted_act(link, call, std::move(action));
    if (!permitted) return;
    model::AuditEntry entry = std::move(*permitted);
    schedule::OperatorAction act;
    act.verb = verb;
    act.key = key;
    auto held = std::make_shared<Call>(std::move(call));
    link.server.core()->operate(
        std::move(act), entry,
        [held, key, entry, write = std::move(write)](base::Result<OperateResult> result) {
            if (result) {
                held->json(200, write(key, *result, entry));
            } else {
                held->problem(problem_of_edit(result.error()));
            }
        });
}

std::string reset_answer(const std::string& key, const OperateResult& result,
                         const model::AuditEntry& entry) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true).field("key", key);
    json.field("previousState", model::to_string(result.before.breaker));
    json.field("newState", model::to_string(result.after.breaker));
    json.field("resetBy", entry.principal).field("resetAt", entry.at).end_object();
    return text;
}

std::string retry_answer(const std::string& key, const OperateResult& result,
                         const model::AuditEntry&) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true).field("key", key);
    json.field("previousRetryCount", result.before.failures);
    json.time_field("scheduledFor", result.after.next_due).end_object();
    return text;
}

std::string removal_answer(const std::string& key, const OperateResult&,
                           const model::AuditEntry& entry) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true).field("key", key);
    json.field("reason", entry.reason).end_object();
    return text;
}

// The dead letter goes with its target: the addon is taken off the device.
void remove_target(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    auto permitted = permitted_act(link, call, "dlq.remove");
    if (!permitted) return;
    model::AuditEntry entry = std::move(*permitted);
    auto held = std::make_shared<Call>(std::move(call));
    link.ask(
        [key](const auto& core) {
            const auto task = core.engine.core().find(key);
            if (!core.engine.core().is_live(task)) return std::optional<bool>();
            return std::optional<bool>(core.engine.core().failure(task).dead_letter !=
                                       model::DeadLetterReason::kNone);
        },
        [link, held, key, entry](std::optional<bool> dead) {
            if (!dead) {
                held->problem(not_found("task " + base::quoted(key)));
                return;
            }
            if (!*dead) {
                held->problem(conflict("operator.nothing_to_do",
                                       base::quoted(key) + ": it is not a dead letter"));
                return;
            }
            const auto name = config::parse_target_name(key);
            if (!name) {
                held->problem(problem_of_edit(name.error()));
                return;
            }
            edit_fleet(
                link, std::move(*held),
                [name = *name](auto current, auto&) {
                    return config::remove_target(current, name);
                },
                entry,
                [key, entry](Call answer) { answer.json(200, removal_answer(key, {}, entry)); });
        });
}

void remove_dead_letter(const ServerLink& link, Call call) {
    const std::string_view target = call.query.text_or("target", "disable");
    if (target == "remove") {
        remove_target(link, std::move(call));
        return;
    }
    const OperatorVerb verb =
        target == "keep" ? OperatorVerb::kClearDeadLetter : OperatorVerb::kRemoveDeadLetter;
    operate_one(link, std::move(call), verb, "dlq.remove", removal_answer);
}

// --- many ---------------------------------------------------------------------------------------

struct BulkWish {
    std::string reason;
    std::string class_name;
    std::vector<std::string> keys;
};

std::expected<BulkWish, Problem> read_bulk(const Call& call) {
    const auto body = read_body(call);
    if (!body) return std::unexpected(body.error());
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    BulkWish wish;
    wish.reason = reader.string("reason").value_or("");
    wish.class_name = reader.string("type").value_or("");
    wish.keys = reader.strings("keys");
    reader.finish();
    if (wish.keys.size() > runtime::kMostOperatedKeys) reader.error("keys", "at most 10000 keys");
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return wish;
}

std::string bulk_answer(OperatorVerb verb, const base::Result<OperateResult>& result) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true);
    json.field(verb == OperatorVerb::kRetryAllDeadLetters ? "tasksRetried" : "breakersReset",
               result ? result->count : 0);
    json.key("keys").array();
    if (result) {
        for (const std::string& key : result->keys) json.value(key);
    }
    json.end_array().end_object();
    return text;
}

void operate_many(const ServerLink& link, Call call, OperatorVerb verb, std::string action) {
    auto wish = read_bulk(call);
    if (!wish) {
        call.problem(wish.error());
        return;
    }
    const auto view = link.view();
    auto entry = audit_entry(call, std::move(action), "*", wish->reason);
    const bool everywhere =
        access::may_everywhere(call.principal, Permission::kManage, Area::kMonitoring);
    // A principal for a part of the fleet means that part.
    if (!everywhere && wish->keys.empty()) {
        for (const auto& target : view->image->expansion.targets) wish->keys.push_back(target.key);
    }
    if (!everywhere) {
        std::erase_if(wish->keys, [&](const std::string& key) {
            return !access::may_on(call.principal, Permission::kManage, Area::kMonitoring,
                                   labels_of(*view, key));
        });
        if (wish->keys.empty()) {
            refuse(link, std::move(call), std::move(entry));
            return;
        }
    }
    schedule::OperatorAction act;
    act.verb = verb;
    act.filter = std::make_shared<const schedule::OperatorFilter>(
        schedule::OperatorFilter{std::move(wish->keys), wish->class_name});
    auto held = std::make_shared<Call>(std::move(call));
    link.server.core()->operate(std::move(act), std::move(entry),
                                [held, verb](base::Result<OperateResult> result) {
                                    // Nothing that fails is what a fresh start is for.
                                    if (result || result.error().code == "operator.nothing_to_do") {
                                        held->json(200, bulk_answer(verb, result));
                                    } else {
                                        held->problem(problem_of_edit(result.error()));
                                    }
                                });
}

// --- the table ----------------------------------------------------------------------------------

constexpr std::string_view kReasonSchema =
    R"({"type":"object","properties":{"reason":{"type":"string","maxLength":500}}})";
constexpr std::string_view kReasonExample = R"({"reason":"the switch was replaced"})";
constexpr std::string_view kBulkSchema =
    R"({"type":"object","properties":{"reason":{"type":"string","maxLength":500},)"
    R"("type":{"type":"string"},"keys":{"type":"array","items":{"type":"string"}}}})";

Route control(std::string_view method, std::string_view path, std::string_view operation,
              std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.permission = Permission::kManage;
    route.area = Area::kMonitoring;
    route.rate = RateClass::kControl;
    route.operation = operation;
    route.tag = "monitoring";
    route.summary = summary;
    route.request_schema = kReasonSchema;
    route.request_example = kReasonExample;
    route.body_optional = true;
    return route;
}

void add_one_key(std::vector<Route>& routes, const ServerLink& link) {
    Route reset = control("POST", "/api/monitoring/breakers/{key}/reset", "resetBreaker",
                          "Let a task with an open breaker probe now.");
    reset.description =
        "The task is due now as a probe, inside all budgets. A dead letter is retried too. A probe "
        "that fails goes back with its history.";
    reset.response_example =
        R"({"success":true,"key":"pve::pve-node1","previousState":"open","newState":"half_open",)"
        R"("resetBy":"user:ada","resetAt":"2026-01-02T03:04:05.000Z"})";
    reset.handler = [link](Call call) {
        operate_one(link, std::move(call), OperatorVerb::kResetBreaker, "breaker.reset",
                    reset_answer);
    };
    routes.push_back(std::move(reset));

    Route retry = control("POST", "/api/monitoring/dlq/{key}/retry", "retryDeadLetter",
                          "Retry one dead letter now.");
    retry.response_example = R"({"success":true,"key":"pve::pve-node1","previousRetryCount":5,)"
                             R"("scheduledFor":"2026-01-02T03:04:05.000Z"})";
    retry.handler = [link](Call call) {
        operate_one(link, std::move(call), OperatorVerb::kRetryDeadLetter, "dlq.retry",
                    retry_answer);
    };
    routes.push_back(std::move(retry));

    Route remove = control("DELETE", "/api/monitoring/dlq/{key}", "removeDeadLetter",
                           "Take a task off the dead letters.");
    remove.query = {{.name = "target",
                     .type = ParameterType::kWord,
                     .description = "what becomes of the target: disabled (the default), kept and "
                                    "polled again, or removed from the fleet",
                     .words = {"disable", "keep", "remove"},
                     .standard = "disable"}};
    remove.response_example =
        R"({"success":true,"key":"pve::pve-node1","reason":"it was scrapped"})";
    remove.handler = [link](Call call) { remove_dead_letter(link, std::move(call)); };
    routes.push_back(std::move(remove));
}

void add_many(std::vector<Route>& routes, const ServerLink& link) {
    Route retry = control("POST", "/api/monitoring/dlq/retry", "retryDeadLetters",
                          "Retry all dead letters, or some.");
    retry.description =
        "They are spread: together with everything else at most 1.2 times the steady rate starts. "
        "`type` and `keys` choose some of them.";
    retry.request_schema = kBulkSchema;
    retry.request_example = R"({"reason":"the uplink is back","type":"pve"})";
    retry.response_example = R"({"success":true,"tasksRetried":1,"keys":["pve::pve-node1"]})";
    retry.handler = [link](Call call) {
        operate_many(link, std::move(call), OperatorVerb::kRetryAllDeadLetters, "dlq.retry");
    };
    routes.push_back(std::move(retry));

    Route reset = control("POST", "/api/monitoring/breakers/reset", "resetBreakers",
                          "Let all tasks with open breakers probe, or some.");
    reset.description =
        "Dead letters are retried too: this is the fresh start. Spread like a bulk retry. `type` "
        "and `keys` choose some of them.";
    reset.request_schema = kBulkSchema;
    reset.request_example = R"({"reason":"the uplink is back"})";
    reset.response_example = R"({"success":true,"breakersReset":1,"keys":["pve::pve-node1"]})";
    reset.handler = [link](Call call) {
        operate_many(link, std::move(call), OperatorVerb::kResetAllBreakers, "breaker.reset");
    };
    routes.push_back(std::move(reset));
}

}  // namespace

void add_monitoring_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route route;
    route.method = "GET";
    route.path = kHealthPath;
    route.area = Area::kMonitoring;
    route.operation = "getSchedulerHealth";
    route.tag = "monitoring";
    route.summary = "Queue, dead letters, breakers, staleness and every instance.";
    route.description = "Times that never were are left out. Instances are sorted by key.";
    route.response_example =
        R"({"updatedAt":"2026-01-02T03:04:05.000Z","enabled":true,"queue":{"depth":1,)"
        R"("dueWithinSeconds":1,"perType":{"pve":1}},"deadLetter":{"count":0,"tasks":[]},)"
        R"("breakers":[],"staleness":[],"instances":[]})";
    route.handler = [link](Call call) { health(link, std::move(call)); };
    routes.push_back(std::move(route));
    add_one_key(routes, link);
    add_many(routes, link);
}

}  // namespace pollux::api
