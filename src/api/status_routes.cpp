// What everybody may read: the status page and its badges while the setting says so, and what the
// page for logging in needs to know. And, for people with a login, how long a target was up.
#include <algorithm>

#include "api/accounts.hpp"
#include "api/alert_acts.hpp"
#include "api/made_once.hpp"
#include "api/public_incidents.hpp"
#include "api/routes.hpp"
#include "api/status_page.hpp"
#include "document/json_writer.hpp"
#include "runtime/uptime/uptime_keeper.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;

constexpr base::Duration kFreshFor = std::chrono::seconds(10);
constexpr std::size_t kMostWaiting = 1000;
constexpr std::string_view kUsualTitle = "Status";
constexpr const char* kNoPage = "there is no status page";

// Makes the page now and then, and hands it out. Making it reads the store, on the pool; whoever
// comes meanwhile waits for it without holding a thread that others need.
class StatusDesk {
  public:
    struct Made {
        std::string title;
        std::vector<std::string> wanted;
        std::string json;
        std::shared_ptr<const StatusPage> page;
    };
    using Answer = void (*)(Call call, const Made& made);

    explicit StatusDesk(const ServerLink& link)
        : link_(link),
          pages_(std::make_shared<MadeOnce<Made>>(MadeOnce<Made>::Rules{
              .make = made_on<Made>(link.pool, link.loop, [link] { return make(link); }),
              .fits = [link](const Made& made) { return is_as_set(link, made); },
              .fresh_for = kFreshFor,
              .most_waiting = kMostWaiting})) {}

    void answer(Call call, Answer with) const {
        if (!is_on(link_)) return call.problem(not_found(kNoPage));
        const auto held = std::make_shared<Call>(std::move(call));
        const bool taken = pages_->ask([link = link_, held, with](const auto& made) {
            // It may have been switched off while this one waited.
            if (!is_on(link)) return held->problem(not_found(kNoPage));
            if (!made) return held->problem(made.error());
            with(std::move(*held), **made);
        });
        if (!taken) held->problem(too_many_wait());
    }

  private:
    static bool is_on(const ServerLink& link) {
        return link.view()->settings.status_page && link.server.uptime() != nullptr;
    }
    static bool is_as_set(const ServerLink& link, const Made& made) {
        const auto view = link.view();
        return made.title == view->settings.status_page_title.text &&
               made.wanted == view->settings.status_page_groups.items;
    }

    // On the pool.
    static MadeOnce<Made>::Result make(const ServerLink& link) {
        const auto view = link.view();
        auto made = std::make_shared<Made>();
        made->title = view->settings.status_page_title.text;
        made->wanted = view->settings.status_page_groups.items;
        StatusFacts facts;
        facts.now = net::wall_now();
        facts.title = made->title.empty() ? std::string(kUsualTitle) : made->title;
        facts.wanted = made->wanted;
        facts.groups = link.server.uptime()->groups();
        store::OverlaidAlerts reader = alert_view(link);
        auto incidents = public_incidents(reader, facts.now);
        if (!incidents) return std::unexpected(incidents.error());
        const StatusPage shown(facts);
        for (PublicIncident& incident : *incidents) {
            const bool named = !incident.groups.empty();
            std::erase_if(incident.groups,
                          [&](const std::string& group) { return !shown.shows(group); });
            const bool elsewhere = !facts.wanted.empty() || named;
            if (elsewhere && incident.groups.empty()) continue;
            facts.incidents.push_back(std::move(incident));
        }
        made->page = std::make_shared<const StatusPage>(std::move(facts));
        made->json = made->page->json();
        return made;
    }

    ServerLink link_;
    std::shared_ptr<MadeOnce<Made>> pages_;
};

void send_page(Call call, const StatusDesk::Made& made) {
    net::Response response = net::Response::json(200, made.json);
    response.with("Cache-Control", "public, max-age=10");
    response.with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    call.send(std::move(response));
}

void send_badge(Call call, const StatusDesk::Made& made) {
    const std::string group(call.parameter("group"));
    const auto status = made.page->find(group);
    if (!status) return call.problem(not_found("the status page has no such group"));
    net::Response response{
        .status = 200, .headers = {}, .body = status_badge(status->name, *status)};
    response.with("Content-Type", "image/svg+xml");
    response.with("Cache-Control", "public, max-age=60");
    response.with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    // Pages of others may show it: that is what it is for.
    response.with("Cross-Origin-Resource-Policy", "cross-origin");
    call.send(std::move(response));
}

// Whether the call may see the target of the path; otherwise it is answered.
void answer_uptime(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    const auto view = link.view();
    const bool known = runtime::find_object(*view, model::ObjectKind::kTarget, key) != nullptr;
    runtime::UptimeKeeper* keeper = link.server.uptime();
    if (!known || keeper == nullptr ||
        !access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                        labels_of(*view, key))) {
        return call.problem(not_found("target " + base::quoted(key)));
    }
    link.block(std::move(call), [key, keeper](Call held) {
        // What is only heard, or new: nothing is known of it.
        const runtime::TargetUptime uptime = keeper->target(key).value_or(runtime::TargetUptime{});
        std::string days;
        write_days(days, uptime.days);
        std::string body;
        JsonWriter json(body);
        json.object().field("key", key).raw_field("days", days);
        const auto share = [&](std::string_view name, const runtime::UptimeSum& sum) {
            json.key(name);
            if (const auto part = sum.share()) {
                json.value(rounded_share(*part));
            } else {
                json.null();
            }
        };
        share("uptime_24h", uptime.last_24h);
        share("uptime_30d", uptime.last_30d);
        share("uptime_90d", uptime.last_90d);
        json.end_object();
        held.json(200, std::move(body));
    });
}

Route open_route(std::string_view path, std::string_view operation, std::string_view summary) {
    Route route = system_route(path, operation, summary);
    route.open = true;
    route.rate = RateClass::kPublic;
    return route;
}

void add_page_routes(std::vector<Route>& routes, const ServerLink& link) {
    const auto desk = std::make_shared<StatusDesk>(link);
    Route page = open_route("/api/status-page", "getStatusPage",
                            "How groups do, for everybody; 404 while the setting status_page is "
                            "off.");
    page.description =
        "Uptime is the share of the time in which it is known how targets did, of all members "
        "together; `down_seconds` is of one member on average. Days are those of UTC, the oldest "
        "first. An incident is listed when somebody wrote a public note to it.";
    page.response_example =
        R"({"title":"Status","updated_at":"2026-01-31T03:04:05.000Z","state":"up","groups":[{)"
        R"("name":"berlin","state":"up","uptime_90d~":0.9995,"days":[{"day":"2026-01-30",)"
        R"("uptime~":1.0,"down_seconds":0}],"members":12}],"incidents":[{)"
        R"("title":"Disruption in berlin","state":"open","started":"2026-01-31T03:04:05.000Z",)"
        R"("ended?":"2026-01-31T04:04:05.000Z","groups":["berlin"],"notes":[{)"
        R"("at":"2026-01-31T03:10:00.000Z","text":"the provider knows"}]}]})";
    page.handler = [desk](Call call) { desk->answer(std::move(call), &send_page); };
    routes.push_back(std::move(page));

    Route badge = open_route("/api/status-page/badge/{group}", "getStatusBadge",
                             "How a group does, as a small picture; 404 while the setting "
                             "status_page is off.");
    badge.path_parameters = {{.name = "group",
                              .description = "Name of a group that the status page shows; `all` "
                                             "is the whole, unless a group is called so.",
                              .example = "all"}};
    badge.response_type = "image/svg+xml";
    badge.handler = [desk](Call call) { desk->answer(std::move(call), &send_badge); };
    routes.push_back(std::move(badge));
}

}  // namespace

void add_status_routes(std::vector<Route>& routes, const ServerLink& link,
                       const Accounts& accounts) {
    add_page_routes(routes, link);

    Route welcome =
        open_route("/api/welcome", "getWelcome", "What a page needs before anybody logs in.");
    welcome.description =
        "`needs_bootstrap`: there is no admin yet, make one with the one-time token that the "
        "server printed. `status_page`: there is a public one.";
    welcome.response_example = R"({"needs_bootstrap":false,"status_page":false})";
    welcome.handler = [link, &accounts](Call call) {
        std::string body;
        JsonWriter json(body);
        json.object().field("needs_bootstrap", accounts.waits_for_bootstrap());
        json.field("status_page", link.view()->settings.status_page).end_object();
        call.json(200, std::move(body));
    };
    routes.push_back(std::move(welcome));

    Route uptime = target_route("GET", "/api/targets/{key}/uptime", "getTargetUptime",
                                "How long a target was up in the last 90 days.");
    uptime.area = Area::kMonitoring;
    uptime.description =
        "Made of its transitions. The time before the first answer, while it was disabled, behind "
        "a parent that was down, or while no server ran counts neither way: `uptime` is null where "
        "nothing is known. Days are those of UTC, the oldest first.";
    uptime.response_example =
        R"({"key":"snmp-system::switch-1","days":[{"day":"2026-01-30","uptime~":1.0,)"
        R"("down_seconds":0}],"uptime_24h~":1.0,"uptime_30d~":0.9995,"uptime_90d~":0.9995})";
    uptime.handler = [link](Call call) { answer_uptime(link, std::move(call)); };
    routes.push_back(std::move(uptime));
}

}  // namespace pollux::api
