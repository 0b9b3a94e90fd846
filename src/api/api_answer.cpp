// How the server sends an answer: its fields, its coding, what is counted and logged.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/api_server.hpp"
#include "api/etag.hpp"
#include "net/gzip.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kWorthCompressing = 1024;
constexpr std::size_t kCompressedAtOnce = 64 * 1024;  // above, piece by piece
constexpr std::size_t kPiece = 32 * 1024;

#define POLLUX_API_PAGE_FIELDS            \
    "X-Content-Type-Options: nosniff\r\n" \
    "Referrer-Policy: no-referrer\r\n"    \
    "X-Frame-Options: DENY\r\n"
constexpr std::string_view kApiFields = POLLUX_API_PAGE_FIELDS
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";
constexpr std::string_view kPageFields = POLLUX_API_PAGE_FIELDS;
#undef POLLUX_API_PAGE_FIELDS

bool has(const net::Response& response, std::string_view name) {
    return std::ranges::any_of(response.headers, [&](const net::HeaderField& field) {
        return net::equal_ignoring_case(field.name, name);
    });
}

std::string* find(net::Response& response, std::string_view name) {
    for (net::HeaderField& field : response.headers) {
        if (net::equal_ignoring_case(field.name, name)) return &field.value;
    }
    return nullptr;
}

bool compressible(const net::Response& response) {
    for (const net::HeaderField& field : response.headers) {
        if (net::equal_ignoring_case(field.name, "Content-Encoding")) return false;
        if (!net::equal_ignoring_case(field.name, "Content-Type")) continue;
        const std::string_view type = field.value;
        if (!type.starts_with("text/") && type.find("json") == std::string_view::npos &&
            type.find("javascript") == std::string_view::npos &&
            type.find("xml") == std::string_view::npos) {
            return false;
        }
    }
    return true;
}

net::Response shown_already() {
    return to_response(conflict("api.idempotency-secret",
                                "this was done already, and its secret is shown only once"),
                       {});
}

void mark_compressed(net::Response& response) {
    response.with("Content-Encoding", "gzip");
    // Another coding is another representation, so it needs another strong tag.
    std::string* etag = find(response, "ETag");
    if (etag != nullptr && etag->ends_with('"')) etag->insert(etag->size() - 1, "-gzip");
}

}  // namespace

std::string ApiServer::next_id() {
    const std::uint64_t number = ++requests_;
    std::string id(16, '0');
    std::uint64_t bits = base::siphash24(options_.random, number);
    for (std::size_t i = id.size(); i-- > 0; bits >>= 4U) id[i] = "0123456789abcdef"[bits & 15U];
    return id;
}

void ApiServer::add_fields(const Call& call, net::Response& response) const {
    const bool own_rules =
        has(response, "Cache-Control") || has(response, "Content-Security-Policy");
    if (own_rules || !call.request.path.starts_with("/api")) {
        response.fixed_fields = kPageFields;
        if (!has(response, "Content-Security-Policy")) {
            response.with("Content-Security-Policy",
                          "default-src 'self'; object-src 'none'; base-uri 'none'; "
                          "form-action 'self'; frame-ancestors 'none'");
        }
        if (!has(response, "Cache-Control")) response.with("Cache-Control", "no-store");
    } else {
        response.fixed_fields = kApiFields;
    }
    response.with("X-Request-Id", call.request_id);
    if (call.trace) {
        const std::uint64_t span =
            base::siphash24({options_.random.k1, options_.random.k0}, requests_);
        response.with("traceparent", traceparent(*call.trace, span));
    }
    if (call.rate.limited) {
        response.with("X-RateLimit-Limit", std::to_string(call.rate.limit));
        response.with("X-RateLimit-Remaining", std::to_string(call.rate.remaining));
        response.with(
            "X-RateLimit-Reset",
            std::to_string(base::ceil_ms(call.rate.reset + std::chrono::milliseconds(999)) / 1000));
    }
}

void ApiServer::finish(Call call, net::Response response) {
    if (!call.idempotency_key.empty()) {
        const bool secret = call.route->secret_answer && response.status < 300;
        idempotency_.finish(call.idempotency_key, secret ? shown_already() : response);
    }
    if (!call.etag.empty() && response.status < 300 && !has(response, "ETag")) {
        response.with("ETag", call.etag);
    }
    const bool read = call.request.method == "GET" || call.request.method == "HEAD";
    if (read && response.status == 200) {
        const std::string* etag = find(response, "ETag");
        const auto known = call.request.header("If-None-Match");
        if (etag != nullptr && known && etag_listed(*known, *etag, true)) {
            response.status = 304;
            response.body.clear();
        }
    }
    add_fields(call, response);
    record(call, response.status);
    const bool large = response.body.size() > kWorthCompressing && compressible(response);
    if (large && !has(response, "Vary")) response.with("Vary", "Accept-Encoding");
    const bool packed =
        large && net::accepts_gzip(call.request.header("Accept-Encoding").value_or(""));
    if (!packed) return call.responder.send(std::move(response));
    mark_compressed(response);
    if (response.body.size() <= kCompressedAtOnce) {
        response.body = net::gzip(response.body);
        return call.responder.send(std::move(response));
    }
    std::string body = std::exchange(response.body, {});
    call.responder.stream(
        std::move(response), [body = std::move(body), at = std::size_t{0},
                              writer = net::GzipWriter()](std::string& out) mutable {
            const std::string_view piece = std::string_view(body).substr(at, kPiece);
            at += piece.size();
            writer.write(piece, at == body.size(), out);
            return at == body.size() ? net::Fill::kDone : net::Fill::kMore;
        });
}

net::StreamHandle ApiServer::finish_stream(Call call, net::Response head, net::BodySource source,
                                           std::optional<std::uint64_t> length) {
    // A stream cannot be kept for a second time.
    if (!call.idempotency_key.empty()) idempotency_.abandon(call.idempotency_key);
    add_fields(call, head);
    record(call, head.status);
    return call.responder.stream(std::move(head), std::move(source), length);
}

void ApiServer::finish_upgrade(Call call, net::Response head, net::UpgradeTaker taker) {
    add_fields(call, head);
    record(call, head.status);
    call.responder.upgrade(std::move(head), std::move(taker));
}

void ApiServer::record(const Call& call, int status) {
    const double seconds = base::to_seconds(net::boot_now() - call.started);
    metrics_.record(call.request.method, call.pattern, status, seconds);
    const auto level = status >= 500 ? observe::LogLevel::kWarn : observe::LogLevel::kDebug;
    if (!log_.enabled(level)) return;
    // Without the query: it may hold what is nobody's business.
    log_.write(level, "api request",
               {{"method", call.request.method},
                {"path", call.request.path},
                {"status", std::to_string(status)},
                {"seconds", fmt::format("{:.4f}", seconds)},
                {"principal", access::audit_name(call.principal)},
                {"address", call.request.peer.host()},
                {"request_id", call.request_id},
                {"trace_id", call.trace ? call.trace->trace_id : std::string()}});
}

net::Response ApiServer::error_page(int status, std::string_view reason) {
    // 503 is either no request at all (too many connections), or one that is still in work and is
    // counted when its handler answers.
    if (status != 503) metrics_.record("other", HttpMetrics::kUnmatched, status, 0);
    Problem problem{
        .status = status, .code = fmt::format("http.{}", status), .detail = std::string(reason)};
    if (status == 503) problem.headers.push_back({"Retry-After", "1"});
    const std::string id = next_id();
    net::Response response = to_response(problem, id);
    response.fixed_fields = kApiFields;
    response.with("X-Request-Id", id);
    return response;
}

}  // namespace pollux::api
