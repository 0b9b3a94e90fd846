// GET /api/monitoring/breakers and /dlq: every entry, filtered and paged, with its history.
#include <algorithm>

#include "api/paging.hpp"
#include "api/routes.hpp"
#include "api/task_pages.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;
using runtime::TaskRow;

constexpr std::size_t kShownHistory = 10;

enum class Kind : std::uint8_t { kBreakers, kDeadLetters };

bool wanted(const Call& call, Kind kind, const runtime::FleetView& view, const TaskRow& row) {
    if (!row.failure) return false;
    if (kind == Kind::kBreakers ? !row.failure->open() : !row.failure->dead()) return false;
    const auto type = call.query.text("type");
    const auto text = call.query.text("q");
    const auto state = call.query.text("state");
    const auto reason = call.query.text("reason");
    return (!type || row.class_name == *type) && (!text || text_matches(row.key, *text)) &&
           (!state || model::to_string(row.failure->breaker) == *state) &&
           (!reason || model::to_string(row.failure->dead_letter) == *reason) &&
           access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                          labels_of(view, row.key));
}

// On the pool: one indexed read per row.
void write_page(Kind kind, const Page& page, const std::vector<TaskRow>& rows, std::size_t total,
                bool more, store::Store& store, Call call) {
    std::string body;
    JsonWriter json(body);
    json.object().field("count", total).key("items").array();
    for (const TaskRow& row : rows) {
        store::ChangeQuery query;
        query.key = row.key;
        query.newest_first = true;
        query.limit = kShownHistory;
        const auto history = store.changes(query);
        if (!history) {
            call.problem(history.error());
            return;
        }
        if (kind == Kind::kBreakers) {
            write_breaker(json, row, *history);
        } else {
            write_dead_letter(json, row, *history);
        }
    }
    json.end_array();
    page.write_next(json, more, rows.empty() ? "" : rows.back().key);
    json.end_object();
    call.json(200, std::move(body));
}

void list(const ServerLink& link, Kind kind, Call call) {
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    link.ask(
        [](const auto& core) {
            return runtime::task_rows(core, [](const schedule::TaskSlot& slot) {
                return slot.failure != model::kNoIndex;
            });
        },
        [link, kind, page = *page, call = std::move(call)](std::vector<TaskRow> rows) mutable {
            const auto view = link.view();
            std::erase_if(rows,
                          [&](const TaskRow& row) { return !wanted(call, kind, *view, row); });
            std::ranges::sort(rows, {}, &TaskRow::key);
            const std::size_t total = rows.size();
            std::erase_if(rows, [&](const TaskRow& row) { return row.key <= page.after; });
            const bool more = rows.size() > page.limit;
            if (more) rows.resize(page.limit);
            link.block(std::move(call), [kind, page, rows = std::move(rows), total, more,
                                         &store = link.server.store()](Call answer) {
                write_page(kind, page, rows, total, more, store, std::move(answer));
            });
        });
}

Route list_route(std::string_view path, std::string_view operation, std::string_view summary) {
    Route route;
    route.method = "GET";
    route.path = path;
    route.area = Area::kMonitoring;
    route.operation = operation;
    route.tag = "monitoring";
    route.summary = summary;
    route.query = {limit_parameter(),
                   cursor_parameter(),
                   {.name = "type", .description = "only of this class", .longest = 64},
                   {.name = "q", .description = "part of the key; * is anything", .longest = 200}};
    return route;
}

}  // namespace

void add_failure_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route breakers = list_route("/api/monitoring/breakers", "listBreakers",
                                "Breakers that are not closed, with their history.");
    breakers.query.push_back({.name = "state",
                              .type = ParameterType::kWord,
                              .description = "only in this state",
                              .words = {"open", "half_open"}});
    breakers.response_example =
        R"({"count":1,"items":[{"key":"pve::pve-node1","type":"pve","instance":"pve-node1",)"
        R"("state":"open","failures":3,"since?":"2026-01-02T03:04:05.000Z",)"
        R"("retryAt?":"2026-01-02T03:05:05.000Z","firstFailureAt?":"2026-01-02T03:03:05.000Z",)"
        R"("lastError?":"no answer within 5 s","code?":"http.timeout","deadLetter":false,)"
        R"("history":["$ChangeStep"]}],"next?":"cHZlOjpwdmUtbm9kZTE"})";
    breakers.handler = [link](Call call) { list(link, Kind::kBreakers, std::move(call)); };
    routes.push_back(std::move(breakers));

    Route letters =
        list_route("/api/monitoring/dlq", "listDeadLetters", "Dead letters, with their history.");
    letters.query.push_back(
        {.name = "reason",
         .type = ParameterType::kWord,
         .description = "only for this reason",
         .words = {"max_retry_attempts", "permanent_failure", "repeated_interruption"}});
    letters.response_example =
        R"({"count":1,"items":[{"key":"pve::pve-node1","type":"pve","instance":"pve-node1",)"
        R"("reason":"max_retry_attempts","since?":"2026-01-02T03:04:05.000Z",)"
        R"("firstAttempt?":"2026-01-02T03:00:05.000Z","lastAttempt?":"2026-01-02T03:04:05.000Z",)"
        R"("retryCount":5,"entries":1,"nextRetry?":"2026-01-02T03:34:05.000Z","enabled":true,)"
        R"("lastError?":"no answer within 5 s","code?":"http.timeout",)"
        R"("history":["$ChangeStep"]}],"next?":"cHZlOjpwdmUtbm9kZTE"})";
    letters.handler = [link](Call call) { list(link, Kind::kDeadLetters, std::move(call)); };
    routes.push_back(std::move(letters));
}

}  // namespace pollux::api
