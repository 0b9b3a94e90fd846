// Live events: the WebSocket, and the same events as a list for scripts that ask now and then.
#include "api/event_collector.hpp"
#include "api/event_message.hpp"
#include "api/routes.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;

constexpr std::size_t kLookedAt = 5000;  // events, for one answer

std::vector<std::string> strings(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
}

void list_events(EventHub& hub, EventCollector& collector, Call call) {
    collector.keep_collecting();
    Subscription wanted;
    const auto types = event_types(strings(call.query.texts("type")));
    if (!types) return call.problem(bad_request("api.query", types.error().message));
    wanted.types = *types;
    wanted.targets = strings(call.query.texts("target"));
    wanted.groups = strings(call.query.texts("group"));
    const auto limit = static_cast<std::size_t>(call.query.integer("limit").value_or(100));
    const EventRing& ring = hub.ring();
    const std::uint64_t start = ring.oldest() - 1;
    const auto after = call.query.integer("after");
    std::uint64_t last = after ? static_cast<std::uint64_t>(*after) : start;
    const bool resync = !ring.can_resume(last);
    if (resync) last = start;

    EventSight sight(call.principal);
    std::string body;
    document::JsonWriter json(body);
    json.object().key("events").array();
    std::size_t found = 0;
    bool more = true;
    for (std::size_t i = 0; i < kLookedAt && found < limit; ++i) {
        const EventRing::Next next = ring.after(last);
        if (!next.event) {
            last = ring.newest();
            more = false;
            break;
        }
        last = next.event->number;
        if (!hub.matches(wanted, *next.event) || !hub.sees(sight, *next.event)) continue;
        json.raw(next.event->text());
        ++found;
    }
    json.end_array().field("last", last).field("more", more && last < ring.newest());
    json.field("resync", resync).field("newest", ring.newest());
    json.field("epoch", ring.epoch()).end_object();
    call.json(200, std::move(body));
}

Route socket_route(EventHub& hub) {
    Route route;
    route.method = "GET";
    route.path = "/ws";
    route.area = Area::kMonitoring;
    route.operation = "followEvents";
    route.tag = "events";
    route.summary = "Live events over a WebSocket.";
    route.description =
        "After the upgrade the server says `connected`; say `subscribe` to get events. Messages "
        "and types of events are in the guide of events. `token` is for clients that cannot send "
        "header fields.";
    route.query = {{.name = "token",
                    .type = ParameterType::kText,
                    .description = "an API token; only here, for clients without header fields",
                    .example = "…"}};
    route.status = 101;
    route.upgrade = true;
    route.handler = [&hub](Call call) { hub.accept(std::move(call)); };
    return route;
}

Route list_route(EventHub& hub, EventCollector& collector) {
    Route route;
    route.method = "GET";
    route.path = "/api/events";
    route.area = Area::kMonitoring;
    route.operation = "listEvents";
    route.tag = "events";
    route.summary = "The newest events, for scripts that ask now and then.";
    route.description =
        "Give `last` back as `after`. `resync`: events after that number are gone, fetch the state "
        "anew. Results of polls and statistics are collected while somebody asks for events, and "
        "a minute longer.";
    const auto repeated = [](std::string_view name, std::string_view description,
                             std::string_view example) {
        Parameter parameter;
        parameter.name = name;
        parameter.description = description;
        parameter.repeated = true;
        parameter.example = example;
        return parameter;
    };
    route.query = {
        {.name = "after",
         .type = ParameterType::kInteger,
         .description = "number of the last event that was seen; without: from the "
                        "oldest that is kept",
         .least = 0,
         .example = "0"},
        {.name = "limit",
         .type = ParameterType::kInteger,
         .description = "how many",
         .least = 1,
         .most = 1000,
         .standard = "100",
         .example = "20"},
        repeated("type", "only these types", "task_state_changed"),
        repeated("target", "only about these targets; `*` stands for anything", "snmp-system::*"),
        repeated("group", "only about targets of these groups", "berlin")};
    // `data` is another one for each type.
    route.response_example =
        R"({"events":[{"type":"system_status","seq":30064771073,"at":"2026-01-02T03:04:05.000Z",)"
        R"("key?":"snmp-system::switch-1","data!":{"status":"ok","store_failing":false,"core_answers":true,"version":"0.1.0",)"
        R"("started_at":"2026-01-02T03:04:05.000Z"}}],"last":30064771073,"more":false,)"
        R"("resync":false,"newest":30064771073,"epoch":7})";
    route.handler = [&hub, &collector](Call call) { list_events(hub, collector, std::move(call)); };
    return route;
}

}  // namespace

void add_event_routes(std::vector<Route>& routes, EventHub& hub, EventCollector& collector) {
    routes.push_back(socket_route(hub));
    routes.push_back(list_route(hub, collector));
}

}  // namespace pollux::api
