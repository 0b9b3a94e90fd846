// Many targets at once: a list of operations that is taken whole or not at all.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "api/routes.hpp"
#include "config/target_batch.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using config::TargetOperation;
using config::TargetVerb;
using document::JsonWriter;
using document::Node;
using schedule::OperatorVerb;

constexpr std::size_t kMostBulkBytes = 4U << 20U;
constexpr document::ParseLimits kBulkLimits{.max_bytes = kMostBulkBytes};
constexpr const char* kOperations = "operations";

struct Bulk {
    std::vector<TargetOperation> operations;
    std::string reason;
};

std::expected<Bulk, Problem> read_bulk(const Call& call) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(call.request.body, "body", diagnostics, kBulkLimits);
    if (!parsed.ok) return std::unexpected(problem_of(diagnostics, false));
    Bulk bulk;
    take_reason(parsed.root, bulk.reason);
    document::MapReader reader(parsed.root, "", diagnostics);
    const Node* list = reader.list(kOperations, document::Need::kRequired);
    reader.finish();
    if (list != nullptr) {
        bulk.operations = config::read_target_operations(*list, kOperations, diagnostics);
    }
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return bulk;
}

// As the operations on one target: edits need more than switches and polls.
bool may(const Call& call, const runtime::FleetView& view, const TargetOperation& one) {
    const Permission needed =
        config::is_edit(one.verb) ? Permission::kManage : Permission::kOperate;
    model::ConfigObject meant;
    meant.kind = model::ObjectKind::kTarget;
    meant.name = one.target.key();
    return access::may_everywhere(call.principal, needed, Area::kFleet) ||
           access::may_on(call.principal, needed, Area::kFleet, labels_of_object(view, meant));
}

// In the words of the operations on one target.
model::AuditEntry entry_of(const Call& call, const TargetOperation& one,
                           const std::string& reason) {
    constexpr std::array<std::string_view, 6> kActions = {"create", "change",  "remove",
                                                          "enable", "disable", "poll"};
    return audit_entry(call, fmt::format("target.{}", kActions[static_cast<std::size_t>(one.verb)]),
                       one.target.key(), reason);
}

// Of what is switched or polled: the addon must let it.
std::optional<Problem> check_switches(const runtime::FleetView& view,
                                      const std::vector<TargetOperation>& operations) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const TargetOperation& one = operations[i];
        const bool starts = one.verb == TargetVerb::kEnable || one.verb == TargetVerb::kPoll;
        if (!starts || !view.disabled_addons.contains(one.target.addon)) continue;
        Problem problem = conflict(
            "addon.disabled",
            fmt::format("addon {} is disabled: enable it first", base::quoted(one.target.addon)));
        problem.errors.push_back(
            {.pointer = fmt::format("/operations/{}", i), .detail = problem.detail});
        return problem;
    }
    return std::nullopt;
}

// What is switched and polled after the edits, one after another; the last one answers.
class Switching : public std::enable_shared_from_this<Switching> {
  public:
    Switching(ServerLink link, Call call, Bulk bulk)
        : link_(std::move(link)), call_(std::move(call)), bulk_(std::move(bulk)) {
        json_.object().key("results").array();
    }

    // On the API's thread.
    void go_on() {
        for (; at_ < bulk_.operations.size(); ++at_) {
            const TargetOperation& one = bulk_.operations[at_];
            if (!config::is_edit(one.verb)) {
                operate(one);
                return;
            }
            write(one, "done", "");
        }
        json_.end_array().field("failed", failed_).end_object();
        call_.json(200, std::move(body_));
    }

  private:
    void operate(const TargetOperation& one) {
        schedule::OperatorAction act;
        act.verb = one.verb == TargetVerb::kEnable    ? OperatorVerb::kEnable
                   : one.verb == TargetVerb::kDisable ? OperatorVerb::kDisable
                                                      : OperatorVerb::kTriggerNow;
        act.key = one.target.key();
        auto done = [self = shared_from_this()](base::Result<runtime::OperateResult> result) {
            self->link_.loop->post(
                [self, status = result ? base::Status{} : std::unexpected(result.error())] {
                    self->take(status);
                });
        };
        link_.server.core()->operate(std::move(act), entry_of(call_, one, bulk_.reason),
                                     std::move(done));
    }

    void take(const base::Status& status) {
        const TargetOperation& one = bulk_.operations[at_++];
        if (status) {
            write(one, "done", "");
        } else if (status.error().code == "operator.nothing_to_do") {
            write(one, "unchanged", status.error().message);
        } else {
            ++failed_;
            write(one, "failed", status.error().message);
        }
        go_on();
    }

    void write(const TargetOperation& one, std::string_view result, std::string_view detail) {
        json_.object().field("op", config::to_string(one.verb)).field("key", one.target.key());
        json_.field("result", result).text_field("detail", detail).end_object();
    }

    ServerLink link_;
    Call call_;
    Bulk bulk_;
    std::size_t at_ = 0;
    std::size_t failed_ = 0;
    std::string body_;
    JsonWriter json_{body_};
};

void bulk(const ServerLink& link, Call call) {
    auto read = read_bulk(call);
    if (!read) {
        call.problem(read.error());
        return;
    }
    const auto view = link.view();
    std::vector<model::AuditEntry> entries;
    for (const TargetOperation& one : read->operations) {
        if (!may(call, *view, one)) {
            auto entry = entry_of(call, one, read->reason);
            refuse(link, std::move(call), std::move(entry));
            return;
        }
        if (config::is_edit(one.verb)) entries.push_back(entry_of(call, one, read->reason));
    }
    if (auto problem = check_switches(*view, read->operations)) {
        call.problem(*problem);
        return;
    }
    // Only switches: there is no edit, but they are checked as one is.
    if (entries.empty()) {
        document::Diagnostics diagnostics;
        const auto checked =
            config::plan_targets(*view->objects, read->operations, kOperations, diagnostics);
        if (!checked) {
            call.problem(problem_of_fleet(checked.error(), diagnostics));
            return;
        }
        std::make_shared<Switching>(link, std::move(call), std::move(*read))->go_on();
        return;
    }
    auto operations = read->operations;
    edit_fleet(
        link, std::move(call),
        [operations = std::move(operations)](auto current, auto& problems) {
            return config::plan_targets(current, operations, kOperations, problems);
        },
        std::move(entries),
        [link, bulk = std::move(*read)](Call answer) mutable {
            std::make_shared<Switching>(link, std::move(answer), std::move(bulk))->go_on();
        });
}

}  // namespace

void add_target_bulk_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route many =
        target_route("POST", "/api/targets/bulk", "changeTargets",
                     "Create, update, delete, enable, disable and poll up to 1000 targets.");
    many.audit_action = "target.bulk";
    many.audit_object = "*";
    many.description =
        "All edits are taken in one transaction or none is; each operation sees those before it, "
        "and a mistake is told with its pointer. Switches and polls are checked with them and done "
        "after; one that finds nothing to do is `unchanged`. An operator may switch and poll, an "
        "admin may also edit.";
    many.permission = Permission::kOperate;
    many.request_schema =
        R"({"type":"object","required":["operations"],"properties":{"operations":)"
        R"({"type":"array","maxItems":1000,"items":{"type":"object","required":["op"],)"
        R"("properties":{"op":{"type":"string"},"key":{"type":"string"},)"
        R"("addon":{"type":"string"},"device":{"type":"string"},)"
        R"("device_spec":{"type":"object","additionalProperties":true},)"
        R"("spec":{"type":"object","additionalProperties":true},)"
        R"("if_version":{"type":"integer"}}}},"reason":{"type":"string"}}})";
    many.request_example =
        R"({"operations":[{"op":"create","addon":"icmp-ping","device":"switch-9",)"
        R"("device_spec":{"address":"192.0.2.9"}},{"op":"create","addon":"snmp-system",)"
        R"("device":"switch-9","spec":{"tier":"high"}},{"op":"disable",)"
        R"("key":"snmp-system::switch-9"}],"reason":"new racks"})";
    many.response_example =
        R"({"results":[{"op":"create","key":"icmp-ping::switch-9","result":"done",)"
        R"("detail?":"the disk fails"}],"failed":0})";
    many.body_optional = false;
    many.body_limit = kMostBulkBytes;
    many.handler = [link](Call call) { bulk(link, std::move(call)); };
    routes.push_back(std::move(many));
}

}  // namespace pollux::api
