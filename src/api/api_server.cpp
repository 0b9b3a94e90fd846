#include "api/api_server.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <utility>

#include "api/etag.hpp"

namespace pollux::api {
namespace {

// What a request is about, in the words of the audit trail.
std::string audit_object(const Call& call) {
    if (call.route->audit_object.empty()) {
        return call.parameters.empty() ? call.request.path : call.parameters.front();
    }
    std::string text(call.route->audit_object);
    const std::size_t begin = text.find('{');
    const std::size_t end = text.find('}', begin);
    if (begin == std::string::npos || end == std::string::npos) return text;
    const std::string name = text.substr(begin + 1, end - begin - 1);
    return text.replace(begin, end - begin + 1, call.parameter(name));
}

// The version is the handler's to compare; that it is given where it counts is checked here.
std::optional<Problem> check_precondition(const Call& call) {
    const Route& route = *call.route;
    const bool given = call.request.header("If-Match").has_value();
    if (route.needs_if_match) return given ? std::nullopt : check_if_match(call, {});
    if (!given || route.takes_if_match || route.method == "GET") return std::nullopt;
    return bad_request("api.if_match",
                       "this operation compares no version: send it without If-Match");
}

}  // namespace

base::Result<std::unique_ptr<ApiServer>> ApiServer::create(ApiServerOptions options,
                                                           observe::Log& log) {
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    std::unique_ptr<ApiServer> server(new ApiServer(std::move(options), log, std::move(*loop)));
    if (server->options_.tls) {
        auto context = net::TlsServerContext::create(*server->options_.tls);
        if (!context) return std::unexpected(context.error());
        server->tls_ = std::move(*context);
    }
    return server;
}

ApiServer::ApiServer(ApiServerOptions options, observe::Log& log,
                     std::unique_ptr<net::EventLoop> loop)
    : options_(std::move(options)),
      log_(log),
      loop_(std::move(loop)),
      home_(std::make_shared<CallHome>(*loop_, static_cast<CallSink&>(*this))),
      idempotency_(options_.random) {}

ApiServer::~ApiServer() {
    stop();
    http_.reset();
    home_->close();
}

base::Status ApiServer::start(Router router, Authenticator& authenticator) {
    router_ = std::move(router);
    authenticator_ = &authenticator;
    metrics_.set_routes(router_->routes());
    net::HttpServerOptions http = options_.http;
    // By the head: a large upload somewhere must not let everybody send that much anywhere.
    http.body_limit = [this](const net::Request& head) {
        const RouteMatch match = router_->match(head.method, head.path);
        return match.route == nullptr ? Route{}.body_limit : match.route->body_limit;
    };
    http.error_page = [this](int status, std::string_view reason) {
        return error_page(status, reason);
    };
    http_ = std::make_unique<net::HttpServer>(
        *loop_, std::move(http), [this](net::Request request, net::Responder responder) {
            receive(std::move(request), std::move(responder));
        });
    for (const net::SocketAddress& at : options_.listen) {
        auto bound = http_->listen(at, tls_ ? &*tls_ : nullptr,
                                   {.allow_non_loopback = options_.allow_non_loopback});
        if (!bound) return std::unexpected(bound.error());
        addresses_.push_back(*bound);
        log_.info("api listens", {{"address", bound->to_string()}, {"tls", tls_ ? "yes" : "no"}});
    }
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-api");
        home_->settle();
        loop_->run();
    });
    return {};
}

void ApiServer::stop() {
    if (!thread_.joinable()) return;
    loop_->post([this] { http_->drain(options_.drain, [this] { loop_->stop(); }); });
    thread_.join();
    home_->settle();  // what is left is ended by this thread
}

// --- the way of a request -----------------------------------------------------------------------

void ApiServer::receive(net::Request request, net::Responder responder) {
    Call call(home_, std::move(request), std::move(responder));
    call.started = loop_->now();
    call.request_id = next_id();
    for (const net::HeaderField& field : call.request.headers) {
        if (net::equal_ignoring_case(field.name, "X-Request-Id")) {
            if (is_clean_id(field.value)) call.request_id = field.value;
        } else if (net::equal_ignoring_case(field.name, "traceparent")) {
            call.trace = parse_traceparent(field.value);
        }
    }
    RouteMatch match = router_->match(call.request.method, call.request.path);
    call.pattern = match.pattern.empty() ? HttpMetrics::kUnmatched : match.pattern;
    if (match.route == nullptr) return answer_unmatched(std::move(call), match);
    call.route = match.route;
    call.parameters = std::move(match.parameters);
    authenticate(std::move(call));
}

void ApiServer::answer_unmatched(Call call, const RouteMatch& match) {
    call.principal.address = call.request.peer.host();
    if (match.allow.empty()) {
        return call.problem(
            not_found("there is nothing at this path; GET /api/docs lists what is"));
    }
    if (call.request.method == "OPTIONS") {
        net::Response response{.status = 204, .headers = {}, .body = {}};
        response.with("Allow", match.allow);
        return call.send(std::move(response));
    }
    call.problem(Problem{.status = 405,
                         .code = "api.method",
                         .detail = fmt::format("this path takes {}", match.allow),
                         .headers = {{"Allow", match.allow}}});
}

void ApiServer::authenticate(Call call) {
    if (call.route->open) {
        call.principal.name = "anonymous";
        call.principal.address = call.request.peer.host();
        return admit(std::move(call));
    }
    // On the heap, so that the authenticator may look at the request while the call is in `done`.
    auto held = std::make_unique<Call>(std::move(call));
    const net::Request& request = held->request;
    const Route& route = *held->route;
    authenticator_->authenticate(request, route,
                                 [this, home = home_, held = std::move(held)](
                                     std::expected<access::Principal, Problem> who) mutable {
                                     if (home->sink() != nullptr)
                                         authenticated(std::move(*held), std::move(who));
                                 });
}

void ApiServer::authenticated(Call call, std::expected<access::Principal, Problem> who) {
    if (who) {
        call.principal = std::move(*who);
        return admit(std::move(call));
    }
    call.principal.name = "anonymous";
    call.principal.address = call.request.peer.host();
    if (limited(call)) return;
    const Problem& problem = who.error();
    // Not those that were not judged: 503, 429.
    if (problem.status < 429) tell_refusal(call, problem.code);
    call.problem(problem);
}

void ApiServer::tell_refusal(const Call& call, std::string_view code) {
    authenticator_->refused({.principal = call.principal,
                             .request = call.request,
                             .route = *call.route,
                             .object = audit_object(call),
                             .request_id = call.request_id,
                             .code = code});
}

bool ApiServer::limited(Call& call) {
    call.rate = authenticator_->check_rate(call.principal, call.request, *call.route);
    if (call.rate.admitted) return false;
    call.problem(Problem{
        .status = 429,
        .code = "api.too-many-requests",
        .detail =
            fmt::format("too many requests; try again in {} s", call.rate.retry_after_seconds),
        .headers = {{"Retry-After", fmt::format("{}", call.rate.retry_after_seconds)}}});
    return true;
}

void ApiServer::admit(Call call) {
    if (limited(call)) return;
    const Route& route = *call.route;
    const bool allowed =
        route.open ||
        (route.everywhere ? access::may_everywhere(call.principal, route.permission, route.area)
                          : access::may(call.principal, route.permission, route.area));
    if (!allowed) {
        const std::string code = "access.forbidden";
        tell_refusal(call, code);
        return call.problem(Problem{.status = 403,
                                    .code = code,
                                    .detail = fmt::format("this needs the permission {} in {}",
                                                          access::to_string(route.permission),
                                                          access::to_string(route.area))});
    }
    validate(std::move(call));
}

void ApiServer::validate(Call call) {
    if (auto problem = check_body(call)) return call.problem(*problem);
    if (!call.route->any_query) {
        auto query = Query::read(*call.route, call.request.query);
        if (!query) return call.problem(query.error());
        call.query = std::move(*query);
    }
    if (auto problem = check_precondition(call)) return call.problem(std::move(*problem));
    if (!begin_idempotent(call)) return;
    handle(std::move(call));
}

void ApiServer::handle(Call call) {
    const Route& route = *call.route;
    route.handler(std::move(call));
}

std::optional<Problem> ApiServer::check_body(const Call& call) const {
    const Route& route = *call.route;
    const net::Request& request = call.request;
    if (request.body.size() > route.body_limit) {
        return Problem{.status = 413,
                       .code = "api.body-too-large",
                       .detail = fmt::format("the body has {} bytes; this takes at most {}",
                                             request.body.size(), route.body_limit)};
    }
    const bool takes_body = !route.request_schema.empty() || !route.request_type.empty();
    if (!takes_body || (request.body.empty() && route.body_optional)) return std::nullopt;
    const std::string_view wanted =
        route.request_type.empty() ? std::string_view("application/json") : route.request_type;
    std::string_view type = request.header("Content-Type").value_or("");
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' ')) type.remove_suffix(1);
    if (net::equal_ignoring_case(type, wanted)) return std::nullopt;
    return Problem{.status = 415,
                   .code = "api.media-type",
                   .detail = fmt::format("send Content-Type: {}", wanted),
                   .headers = {{"Accept", std::string(wanted)}}};
}

bool ApiServer::begin_idempotent(Call& call) {
    using Verdict = IdempotencyTable::Verdict;
    if (call.request.method != "POST") return true;
    const auto key = call.request.header("Idempotency-Key");
    if (!key) return true;
    if (!is_clean_id(*key)) {
        call.problem(bad_request("api.idempotency-key",
                                 "Idempotency-Key must be 1 to 128 visible characters"));
        return false;
    }
    call.idempotency_key = IdempotencyTable::name(access::audit_name(call.principal), *key);
    const auto found = idempotency_.begin(call.idempotency_key, call.request.method,
                                          call.request.target, call.request.body, loop_->now());
    if (found.verdict == Verdict::kFresh) return true;
    call.idempotency_key.clear();
    switch (found.verdict) {
        case Verdict::kReplay: {
            net::Response again = *found.answer;
            again.with("Idempotency-Replayed", "true");
            call.send(std::move(again));
            break;
        }
        case Verdict::kInWork:
            call.problem(conflict("api.idempotency-in-work",
                                  "the first request with this key is not answered yet"));
            break;
        case Verdict::kMismatch:
            call.problem(Problem{.status = 422,
                                 .code = "api.idempotency-mismatch",
                                 .detail = "this key was used for another request; take a new "
                                           "key for each act"});
            break;
        default:
            call.problem(Problem{.status = 503,
                                 .code = "api.idempotency-full",
                                 .detail = "too many requests with keys are in work",
                                 .headers = {{"Retry-After", "1"}}});
    }
    return false;
}

}  // namespace pollux::api
