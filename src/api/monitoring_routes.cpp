// The scheduler's health, and what people do about breakers and dead letters. Paths, names and
// answers are those that operators' scripts know.
#include <future>
#include <set>

#include "api/authenticator.hpp"
#include "api/fleet_edits.hpp"
#include "api/health_page.hpp"
#include "api/routes.hpp"
#include "config/target_edit.hpp"
#include "document/json_writer.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;
using runtime::OperateResult;
using schedule::OperatorVerb;

constexpr base::Duration kCoreWait = std::chrono::seconds(5);

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
std::optional<model::AuditEntry> permitted_act(const ServerLink& link, Call& call) {
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
    model::AuditEntry entry = audit_entry(call, call.route->audit_action, key, *reason);
    if (access::may_on(call.principal, call.route->permission, Area::kMonitoring,
                       labels_of(*view, key))) {
        return entry;
    }
    refuse(link, std::move(call), std::move(entry));
    return std::nullopt;
}

// An act on one task: allowed by its labels, recorded with it, answered after the commit.
void operate_one(const ServerLink& link, Call call, OperatorVerb verb, WriteAnswer write) {
    const std::string key(call.parameter("key"));
    auto permitted = permitted_act(link, call);
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
    if (result.after.waits_for_needs) json.field("waitsForNeeds", true);
    json.field("resetBy", entry.principal).field("resetAt", entry.at).end_object();
    return text;
}

std::string retry_answer(const std::string& key, const OperateResult& result,
                         const model::AuditEntry&) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true).field("key", key);
    json.field("previousRetryCount", result.before.failures);
    json.time_field("scheduledFor", result.after.next_due);
    if (result.after.waits_for_needs) json.field("waitsForNeeds", true);
    json.end_object();
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

// On the main loop, which waits for the core in every edit. Nothing: it is a dead letter.
base::Status check_dead(const ServerLink& link, const std::string& key) {
    struct Found {
        std::promise<void> asked;
        bool answered = false;  // a core that ends drops its questions
        bool known = false;
        bool dead = false;
    };
    const auto found = std::make_shared<Found>();
    auto future = found->asked.get_future();
    link.server.core()->ask([key, found](const runtime::CoreLoop::View& view) {
        const auto& core = view.engine.core();
        const model::TaskHandle task = core.find(key);
        found->answered = true;
        found->known = core.is_live(task);
        found->dead =
            found->known && core.failure(task).dead_letter != model::DeadLetterReason::kNone;
        found->asked.set_value();
    });
    if (future.wait_for(kCoreWait) != std::future_status::ready || !found->answered) {
        return base::make_error(base::ErrorClass::kTransient, "core.slow",
                                "the scheduler did not answer in time: try again");
    }
    if (!found->known) {
        return base::config_error("task.unknown", "there is no task " + base::quoted(key));
    }
    if (!found->dead) {
        return base::config_error("operator.nothing_to_do",
                                  base::quoted(key) + ": it is not a dead letter");
    }
    return {};
}

// The dead letter goes with its target: the addon is taken off the device. Whether it still is one
// is looked at when the edit is made: a target that recovered must stay.
void remove_target(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    auto permitted = permitted_act(link, call);
    if (!permitted) return;
    const model::AuditEntry entry = std::move(*permitted);
    edit_fleet(
        link, std::move(call),
        [link, key](auto current, auto&) -> base::Result<std::vector<config::WantedObject>> {
            if (auto status = check_dead(link, key); !status) {
                return std::unexpected(status.error());
            }
            const auto name = config::parse_target_name(key);
            if (!name) return std::unexpected(name.error());
            return config::remove_target(current, *name);
        },
        entry, [key, entry](Call answer) { answer.json(200, removal_answer(key, {}, entry)); });
}

void remove_dead_letter(const ServerLink& link, Call call) {
    const std::string_view target = call.query.text_or("target", "disable");
    if (target == "remove") {
        remove_target(link, std::move(call));
        return;
    }
    const OperatorVerb verb =
        target == "keep" ? OperatorVerb::kClearDeadLetter : OperatorVerb::kRemoveDeadLetter;
    operate_one(link, std::move(call), verb, removal_answer);
}

// --- many ---------------------------------------------------------------------------------------

constexpr const char* kMany = "*";  // of the audit trail: an act on many
// As many keys as one act may name, each of a hundred bytes; what a JSON body may have at all.
constexpr std::size_t kMostBulkBytes = document::ParseLimits{}.max_bytes;

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

// Keys that were named and to which nothing was done: they are not there (for who asks), or have
// nothing to do.
void write_passed_over(JsonWriter& json, const std::vector<std::string>& named,
                       const std::vector<std::string>& done, const runtime::FleetView& view,
                       const access::Principal& principal) {
    const std::set<std::string_view> acted(done.begin(), done.end());
    std::set<std::string_view> told;
    json.key("passedOver").array();
    for (const std::string& key : named) {
        if (acted.contains(key) || !told.insert(key).second) continue;
        const bool known =
            view.image->plans.contains(key) &&
            access::may_on(principal, Permission::kRead, Area::kMonitoring, labels_of(view, key));
        json.object().field("key", key);
        json.field("why", known ? "nothing_to_do" : "unknown").end_object();
    }
    json.end_array();
}

std::string bulk_answer(OperatorVerb verb, const base::Result<OperateResult>& result,
                        const std::vector<std::string>& named, const runtime::FleetView& view,
                        const access::Principal& principal) {
    std::string text;
    JsonWriter json(text);
    json.object().field("success", true);
    json.field(verb == OperatorVerb::kRetryAllDeadLetters ? "tasksRetried" : "breakersReset",
               result ? result->count : 0);
    json.key("keys").array();
    if (result) {
        for (const std::string& key : result->keys) json.value(key);
    }
    json.end_array();
    write_passed_over(json, named, result ? result->keys : std::vector<std::string>(), view,
                      principal);
    json.end_object();
    return text;
}

void operate_many(const ServerLink& link, Call call, OperatorVerb verb) {
    auto wish = read_bulk(call);
    if (!wish) {
        call.problem(wish.error());
        return;
    }
    const auto view = link.view();
    auto entry = audit_entry(call, call.route->audit_action, kMany, wish->reason);
    const std::vector<std::string> named = wish->keys;
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
    link.server.core()->operate(
        std::move(act), std::move(entry),
        [held, verb, named, view](base::Result<OperateResult> result) {
            // Nothing that fails is what a fresh start is for.
            if (result || result.error().code == "operator.nothing_to_do") {
                held->json(200, bulk_answer(verb, result, named, *view, held->principal));
            } else {
                held->problem(problem_of_edit(result.error()));
            }
        });
}

// --- the table ----------------------------------------------------------------------------------

constexpr std::string_view kReasonExample = R"({"reason":"the switch was replaced"})";
constexpr std::string_view kBulkSchema =
    R"({"type":"object","properties":{"reason":{"type":"string","maxLength":500},)"
    R"("type":{"type":"string"},)"
    R"("keys":{"type":"array","maxItems":10000,"items":{"type":"string"}}}})";

Route control(std::string_view method, std::string_view path, std::string_view operation,
              std::string_view summary, std::string action) {
    Route route;
    route.method = method;
    route.path = path;
    route.permission = Permission::kManage;
    route.area = Area::kMonitoring;
    route.rate = RateClass::kControl;
    route.operation = operation;
    route.tag = "monitoring";
    route.summary = summary;
    route.request_schema = kReasonBody;
    route.request_example = kReasonExample;
    route.body_optional = true;
    route.audit_action = std::move(action);
    return route;
}

void add_one_key(std::vector<Route>& routes, const ServerLink& link) {
    Route reset = control("POST", "/api/monitoring/breakers/{key}/reset", "resetBreaker",
                          "Let a task with an open breaker probe now.", "breaker.reset");
    reset.description =
        "The task is due now as a probe, inside all budgets. A dead letter is retried too. A probe "
        "that fails goes back with its history. `waitsForNeeds`: it is due, and probes when what "
        "it needs is there. One that is disabled is 409: enable it first.";
    reset.response_example =
        R"({"success":true,"key":"pve::pve-node1","previousState":"open","newState":"half_open",)"
        R"("waitsForNeeds?":true,"resetBy":"user:ada","resetAt":"2026-01-02T03:04:05.000Z"})";
    reset.handler = [link](Call call) {
        operate_one(link, std::move(call), OperatorVerb::kResetBreaker, reset_answer);
    };
    routes.push_back(std::move(reset));

    Route retry = control("POST", "/api/monitoring/dlq/{key}/retry", "retryDeadLetter",
                          "Retry one dead letter now.", "dlq.retry");
    retry.response_example = R"({"success":true,"key":"pve::pve-node1","previousRetryCount":5,)"
                             R"("scheduledFor?":"2026-01-02T03:04:05.000Z","waitsForNeeds?":true})";
    retry.handler = [link](Call call) {
        operate_one(link, std::move(call), OperatorVerb::kRetryDeadLetter, retry_answer);
    };
    routes.push_back(std::move(retry));

    Route remove = control("DELETE", "/api/monitoring/dlq/{key}", "removeDeadLetter",
                           "Take a task off the dead letters.", "dlq.remove");
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

// What both have in common.
void take_many(Route& route) {
    route.audit_object = kMany;
    route.request_schema = kBulkSchema;
    route.body_limit = kMostBulkBytes;
}

void add_many(std::vector<Route>& routes, const ServerLink& link) {
    Route retry = control("POST", "/api/monitoring/dlq/retry", "retryDeadLetters",
                          "Retry all dead letters, or some.", "dlq.retry");
    retry.description =
        "They are spread, behind those of earlier acts: they add at most a fifth of the steady "
        "rate, or one a second where that is less. `type` and `keys` choose some of them. With "
        "nothing to do the count is 0, so that it may be repeated; `passedOver` has the named "
        "`keys` that are not there or have nothing to do.";
    take_many(retry);
    retry.request_example = R"({"reason":"the uplink is back","type":"pve"})";
    retry.response_example = R"({"success":true,"tasksRetried":1,"keys":["pve::pve-node1"],)"
                             R"("passedOver":[{"key":"pve::pve-node2","why":"nothing_to_do"}]})";
    retry.handler = [link](Call call) {
        operate_many(link, std::move(call), OperatorVerb::kRetryAllDeadLetters);
    };
    routes.push_back(std::move(retry));

    Route reset = control("POST", "/api/monitoring/breakers/reset", "resetBreakers",
                          "Let all tasks with open breakers probe, or some.", "breaker.reset");
    reset.description =
        "Dead letters are retried too: this is the fresh start. Spread like a bulk retry. `type` "
        "and `keys` choose some of them. `passedOver` has the named `keys` that are not there or "
        "have nothing to do.";
    take_many(reset);
    reset.request_example = R"({"reason":"the uplink is back"})";
    reset.response_example = R"({"success":true,"breakersReset":1,"keys":["pve::pve-node1"],)"
                             R"("passedOver":[{"key":"pve::pve-node2","why":"nothing_to_do"}]})";
    reset.handler = [link](Call call) {
        operate_many(link, std::move(call), OperatorVerb::kResetAllBreakers);
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
        R"("dueWithinSeconds":1,"perType*":{"pve":1}},"deadLetter":{"count":1,"tasks":[{)"
        R"("instance":"pve-node1","type":"pve","nextRun?":"2026-01-02T03:34:05.000Z",)"
        R"("lastError?":"no answer within 5 s","failures":5}]},"breakers":[{)"
        R"("instance":"pve-node1","type":"pve","state":"open","failures":5,)"
        R"("retryAt?":"2026-01-02T03:34:05.000Z"}],"staleness":[{"instance":"pve-node1",)"
        R"("type":"pve","score":0.42,"lastSuccess?":"2026-01-02T03:00:05.000Z",)"
        R"("lastError?":"2026-01-02T03:04:05.000Z"}],"instances":[{"key":"pve::pve-node1",)"
        R"("type":"pve","displayName":"pve-node1","instance":"pve-node1",)"
        R"("connection":"192.0.2.1:8006","enabled":true,"pollStatus":{)"
        R"("lastSuccess?":"2026-01-02T03:00:05.000Z","lastError?":{)"
        R"("at":"2026-01-02T03:04:05.000Z","message?":"no answer within 5 s",)"
        R"("code?":"http.timeout","category":"transient"},"consecutiveFailures":5,)"
        R"("firstFailureAt?":"2026-01-02T03:01:05.000Z"},"breaker":{"state":"open",)"
        R"("since?":"2026-01-02T03:02:05.000Z","lastTransition?":"2026-01-02T03:02:05.000Z",)"
        R"("retryAt?":"2026-01-02T03:34:05.000Z","failureCount":5},"deadLetter":{)"
        R"("present":true,"reason?":"max_retry_attempts",)"
        R"("firstAttempt?":"2026-01-02T03:01:05.000Z",)"
        R"("lastAttempt?":"2026-01-02T03:04:05.000Z","retryCount?":5,)"
        R"("nextRetry?":"2026-01-02T03:34:05.000Z"},"warnings":["no such class"]}]})";
    route.handler = [link](Call call) { health(link, std::move(call)); };
    routes.push_back(std::move(route));
    add_one_key(routes, link);
    add_many(routes, link);
}

}  // namespace pollux::api
