// The audit trail: who did what. Listed by pages, streamed whole, and looked over for tampering.
#include <charconv>

#include "api/audit_pages.hpp"
#include "api/paging.hpp"
#include "api/routes.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;

constexpr std::size_t kRecordsPerPiece = 200;

store::AuditQuery query_of(const Call& call) {
    store::AuditQuery query;
    const auto text = [&](std::string_view name) -> std::optional<std::string> {
        const auto given = call.query.text(name);
        return given ? std::optional<std::string>(*given) : std::nullopt;
    };
    query.principal = text("principal");
    query.action = text("action");
    query.object = text("object");
    query.from = call.query.time("from");
    query.to = call.query.time("to");
    const auto result = call.query.text("result");
    for (const auto one : {model::AuditResult::kAllowed, model::AuditResult::kRefused,
                           model::AuditResult::kFailed}) {
        if (result && *result == to_string(one)) query.result = one;
    }
    return query;
}

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    store::AuditQuery query = query_of(call);
    query.limit = page->limit;
    if (!page->after.empty()) {
        const char* end = page->after.data() + page->after.size();
        const auto read = std::from_chars(page->after.data(), end, query.before);
        if (read.ec != std::errc() || read.ptr != end || query.before > INT64_MAX) {
            call.problem(bad_request("api.cursor", "the cursor is broken: begin without one"));
            return;
        }
    }
    link.block(std::move(call), [query = std::move(query), page = *page,
                                 &store = link.server.store()](Call answer) {
        const auto records = store.audit(query);
        if (!records) {
            answer.problem(records.error());
            return;
        }
        std::string body;
        JsonWriter json(body);
        json.object().key("items").array();
        for (const auto& record : *records) write_audit_record(json, record);
        json.end_array();
        // A full page may be the last one; then the next is empty.
        const bool more = records->size() == page.limit && records->back().number > 1;
        page.write_next(json, more, more ? std::to_string(records->back().number) : std::string());
        json.end_object();
        answer.json(200, std::move(body));
    });
}

// One export under way. Everything but the reading itself happens on the API's thread: the pool
// reads one piece ahead of nobody, only when the client took the piece before.
class Export : public std::enable_shared_from_this<Export> {
  public:
    Export(ServerLink link, store::AuditQuery query)
        : link_(std::move(link)), query_(std::move(query)) {
        query_.limit = kRecordsPerPiece;
    }

    void begin(Call call) {
        net::Response head;
        head.status = 200;
        head.with("Content-Type", "application/x-ndjson").with("Cache-Control", "no-store");
        handle_ = call.stream(std::move(head), [self = shared_from_this()](std::string& out) {
            return self->fill(out);
        });
    }

  private:
    struct Piece {
        std::string text;
        std::uint64_t last = 0;
        bool full = false;
    };

    net::Fill fill(std::string& out) {
        if (failed_) return net::Fill::kAbort;
        out = std::exchange(ready_, {});
        if (ended_) return net::Fill::kDone;
        read();
        return failed_ ? net::Fill::kAbort : net::Fill::kWait;
    }

    void read() {
        const auto accepted = link_.pool.submit([self = shared_from_this(), query = query_] {
            auto piece = std::make_shared<base::Result<Piece>>(
                self->read_piece(self->link_.server.store(), query));
            self->link_.loop->post([self, piece] { self->take(std::move(*piece)); });
        });
        if (!accepted) failed_ = true;
    }

    static base::Result<Piece> read_piece(store::Store& store, const store::AuditQuery& query) {
        const auto records = store.audit(query);
        if (!records) return std::unexpected(records.error());
        Piece piece;
        for (const auto& record : *records) {
            piece.text += audit_record_json(record);
            piece.text += '\n';
        }
        piece.full = records->size() == query.limit;
        piece.last = records->empty() ? 0 : records->back().number;
        return piece;
    }

    void take(base::Result<Piece> piece) {
        failed_ = !piece.has_value();
        if (piece) {
            ready_ = std::move(piece->text);
            ended_ = !piece->full;
            (query_.oldest_first ? query_.after : query_.before) = piece->last;
        }
        handle_.resume();
    }

    ServerLink link_;
    store::AuditQuery query_;
    net::StreamHandle handle_;
    std::string ready_;
    bool ended_ = false;
    bool failed_ = false;
};

void verify(const ServerLink& link, Call call) {
    link.block(std::move(call), [&server = link.server](Call answer) {
        auto report = server.verify_audit();
        if (!report) {
            answer.problem(problem_of_edit(report.error()));
            return;
        }
        answer.json(200, audit_report_json(report->first, *report->second));
    });
}

std::vector<Parameter> filters() {
    return {{.name = "principal", .description = "who, such as user:alice", .longest = 200},
            {.name = "action",
             .description = "what, such as breaker.reset; breaker. is all that begin so",
             .longest = 64},
            {.name = "object", .description = "of which object", .longest = 800},
            {.name = "result",
             .type = ParameterType::kWord,
             .description = "only with this result",
             .words = {"allowed", "refused", "failed"}},
            {.name = "from", .type = ParameterType::kTime, .description = "not before this time"},
            {.name = "to", .type = ParameterType::kTime, .description = "before this time"}};
}

Route audit_route(std::string_view path, std::string_view operation, std::string_view summary) {
    Route route;
    route.method = "GET";
    route.path = path;
    route.permission = Permission::kAudit;
    route.area = Area::kAudit;
    route.everywhere = true;
    route.operation = operation;
    route.tag = "audit";
    route.summary = summary;
    return route;
}

}  // namespace

void add_audit_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route records = audit_route("/api/audit", "listAudit", "The audit trail, newest first.");
    records.query = filters();
    records.query.push_back(limit_parameter());
    records.query.push_back(cursor_parameter());
    records.response_example =
        R"({"items":[{"number":7,"damaged?":false,"at":"2026-01-02T03:04:05.000Z","result":"allowed",)"
        R"("principal":"user:ada","address":"127.0.0.1","action":"breaker.reset",)"
        R"("object":"pve::pve-node1","reason":"the switch was replaced","before":"open",)"
        R"("after":"half_open","request_id":"6c62272e07bb0142"}],"next?":"Nw"})";
    records.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(records));

    Route all = audit_route("/api/audit/export", "exportAudit",
                            "All records that match, in the order of time, one JSON object per "
                            "line.");
    all.query = filters();
    all.query.push_back({.name = "order",
                         .type = ParameterType::kWord,
                         .description = "oldest or newest first",
                         .words = {"asc", "desc"},
                         .standard = "asc"});
    all.rate = RateClass::kExport;
    all.response_type = "application/x-ndjson";
    all.handler = [link](Call call) {
        store::AuditQuery query = query_of(call);
        query.oldest_first = call.query.text_or("order", "asc") == "asc";
        std::make_shared<Export>(link, std::move(query))->begin(std::move(call));
    };
    routes.push_back(std::move(all));

    Route check = audit_route("/api/audit/verify", "verifyAudit",
                              "Check every record, the chain and the checkpoints.");
    check.description =
        "Reads the whole trail. `ok` is false when something does not fit; `findings` says what.";
    check.rate = RateClass::kExport;
    check.response_example =
        R"({"ok":true,"records":7,"first":1,"last":7,"removed":0,"checkpoints":1,)"
        R"("newest_checkpoint":7,"newest_checkpoint_time?":"2026-01-02T03:04:05.000Z",)"
        R"("key":"9f86d081884c7d65","public_key":"","found":0,)"
        R"("findings":[{"code":"audit.changed","number":4,"text":"record 4 was changed"}]})";
    check.handler = [link](Call call) { verify(link, std::move(call)); };
    routes.push_back(std::move(check));
}

}  // namespace pollux::api
