// What would be: policies compared, settings tried out.
#include "api/outlook.hpp"
#include "api/routes.hpp"
#include "api/settings_pages.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using runtime::FleetImage;

// By task, in the order of the expansion.
std::vector<bool> seen_tasks(const access::Principal& principal, const runtime::FleetView& view) {
    const auto& targets = view.image->expansion.targets;
    if (access::may_everywhere(principal, Permission::kRead, Area::kMonitoring)) {
        return std::vector<bool>(targets.size(), true);
    }
    std::vector<bool> seen;
    seen.reserve(targets.size());
    for (const config::TargetPlanInput& target : targets) {
        seen.push_back(
            access::may_on(principal, Permission::kRead, Area::kMonitoring, target.labels));
    }
    return seen;
}

void compare(const ServerLink& link, Call call) {
    const auto view = link.view();
    link.ask(
        [image = view->image](const auto& core) { return outlook_facts(core, image->expansion); },
        [link, view, call = std::move(call)](OutlookFacts facts) mutable {
            link.block(std::move(call), [view, facts = std::move(facts)](Call answer) {
                answer.json(200,
                            policies_page(*view->image, facts, seen_tasks(answer.principal, *view),
                                          view->settings.policy));
            });
        });
}

Route compare_route() {
    Route route;
    route.method = "GET";
    route.path = "/api/scheduler/policies";
    route.area = Area::kMonitoring;
    route.operation = "comparePolicies";
    route.tag = "insight";
    route.summary = "How often each policy would poll the fleet with what is known now.";
    route.description =
        "Worked out by the planner of the scheduler itself, with the change rates that it has "
        "learned, as if the policy had been in force for a while. `mean_age` is the expected age "
        "of data in seconds: half of the interval, over all targets. `budget` is what the tasks "
        "cost at their base interval, as far as the preset spends it, and at most what the limit "
        "of all polls leaves; `used` is what the intervals in force cost.";
    route.response_example =
        R"({"adaptive":true,"in_force":"optimal","budget":{"polls_per_second":40.5,"used":38.5},)"
        R"("items":[{"policy":"fixed","...":"$PollLoad","classes":[{"class":"snmp-system",)"
        R"("tasks":400,"polls_per_second":40.5,"mean_interval":10.5}]}]})";
    return route;
}

// --- settings tried out -------------------------------------------------------------------------

struct BothFacts {
    OutlookFacts now;
    OutlookFacts then;
};

// On the main loop: what the body makes of the settings; null and an answer if it is refused.
std::shared_ptr<const FleetImage> image_of_body(const ServerLink& link, const document::Node& body,
                                                Call& call) {
    document::Diagnostics diagnostics;
    const auto wanted = edited_settings(*link.view(), SettingsPart::kMonitoring, body, diagnostics);
    if (!wanted) {
        call.json(200, refused_preview_page(problem_of(diagnostics).errors));
        return nullptr;
    }
    auto image = link.server.preview_settings(*wanted);
    if (image) return std::make_shared<const FleetImage>(std::move(*image));
    call.json(200, refused_preview_page({{.pointer = "", .detail = image.error().message}}));
    return nullptr;
}

void preview(const ServerLink& link, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, body = std::move(*body)] {
        const auto now = link.view()->image;
        const auto then = image_of_body(link, body, *held);
        if (!then) return;
        link.ask(
            [now, then](const auto& core) {
                return BothFacts{outlook_facts(core, now->expansion),
                                 outlook_facts(core, then->expansion)};
            },
            [link, held, now, then](BothFacts facts) {
                link.block(std::move(*held), [now, then, facts = std::move(facts)](Call answer) {
                    answer.json(200, preview_page(*now, facts.now, *then, facts.then));
                });
            });
    });
}

Route preview_route() {
    Route route;
    route.method = "POST";
    route.path = "/api/settings/monitoring/preview";
    route.permission = Permission::kManage;
    route.area = Area::kSettings;
    route.everywhere = true;
    route.rate = access::RateClass::kConfigWrite;
    route.operation = "previewMonitoring";
    route.tag = "insight";
    route.summary = "What a change of the monitoring settings would do; changes nothing.";
    route.description =
        "The body is that of PUT /api/settings/monitoring. A body that would be refused is "
        "answered with `valid` false and the reasons. `now` and `then` are worked out in the same "
        "way, as in GET /api/scheduler/policies; `targets_changed` counts targets whose interval "
        "would be another.";
    route.request_schema = kAnyFields;
    route.request_example = R"({"adaptive_polling_enabled":true})";
    route.response_example =
        R"({"valid":true,"errors":[{"pointer":"/adaptive_policy","detail":"no such policy"}],)"
        R"("now~":"$PollLoad","then~":"$PollLoad","targets_changed":120})";
    return route;
}

}  // namespace

void add_outlook_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route policies = compare_route();
    policies.handler = [link](Call call) { compare(link, std::move(call)); };
    routes.push_back(std::move(policies));
    Route trial = preview_route();
    trial.handler = [link](Call call) { preview(link, std::move(call)); };
    routes.push_back(std::move(trial));
}

}  // namespace pollux::api
