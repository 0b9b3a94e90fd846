#include "api/authenticator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "access/credential_rules.hpp"
#include "access/token.hpp"
#include "base/text.hpp"

namespace pollux::api {
namespace {

using access::Principal;

constexpr std::string_view kCsrf = "access.csrf";

Problem unauthorized(std::string code, std::string detail) {
    Problem problem{.status = 401, .code = std::move(code), .detail = std::move(detail)};
    problem.headers.push_back({"WWW-Authenticate", "Bearer realm=\"pollux\""});
    return problem;
}

Problem unauthorized(const base::Error& error) { return unauthorized(error.code, error.message); }

Problem refusal(std::string code, std::string detail) {
    return {.status = 403, .code = std::move(code), .detail = std::move(detail)};
}

// Names both sides, for who set up a proxy that does not pass on which host was asked.
Problem foreign_origin(const net::Request& request) {
    return refusal(
        "access.origin",
        fmt::format("the request comes from another site: its Origin is {}, this host is {}; a "
                    "proxy in front must pass on the field Host as it got it",
                    base::quoted(request.header("origin").value_or("")),
                    base::quoted(request.header("host").value_or(""))));
}

// The host of "https://host:port" or "host:port", without a port that is the scheme's own.
std::string_view host_of_origin(std::string_view origin) {
    std::string_view port = ":80";
    if (origin.starts_with("https://")) port = ":443";
    const std::size_t scheme = origin.find("://");
    if (scheme == std::string_view::npos) return {};
    origin.remove_prefix(scheme + 3);
    if (origin.ends_with(port)) origin.remove_suffix(port.size());
    return origin;
}

bool is_token_of_session(std::string_view cookie, const net::Request& request) {
    const auto shown = request.header("x-csrf-token");
    return shown && !cookie.empty() && access::same_secret(*shown, access::csrf_token(cookie));
}

// A name that a page of somebody else cannot make point here.
bool is_own_host(std::string_view host) {
    if (net::equal_ignoring_case(host, "localhost")) return true;
    if (host.starts_with("localhost:")) {
        return host.find_first_not_of("0123456789", 10) == std::string_view::npos;
    }
    if (const std::size_t bracket = host.find(']'); bracket != std::string_view::npos) {
        host = host.substr(0, bracket + 1);
    } else if (std::ranges::count(host, ':') == 1) {
        host = host.substr(0, host.find(':'));
    }
    return net::IpAddress::parse(host).has_value();
}

}  // namespace

bool same_origin(const net::Request& request, const Client& client) {
    const auto origin = request.header("origin");
    if (!origin) return true;
    // No page can set this one: its browser compared the origins as it sees them, in front of all
    // proxies. It is sent over TLS only.
    if (request.header("sec-fetch-site") == "same-origin") return true;
    auto host = request.header("host");
    if (client.by_trusted_proxy && request.header("x-forwarded-host")) {
        host = request.header("x-forwarded-host");
    }
    std::string_view own = host.value_or("");
    const std::string_view port = origin->starts_with("https://") ? ":443" : ":80";
    if (own.ends_with(port)) own.remove_suffix(port.size());
    return !own.empty() && net::equal_ignoring_case(host_of_origin(*origin), own);
}

AccountAuthenticator::AccountAuthenticator(Accounts& accounts, Ports ports, base::SipKey key)
    : accounts_(accounts), ports_(std::move(ports)), limiter_(key) {}

void AccountAuthenticator::set_rules(AccessRules rules) {
    accounts_.set_session_limits(rules.sessions);
    rules_ = std::move(rules);
}

Client AccountAuthenticator::client(const net::Request& request) const {
    return client_of(request, rules_.trusted_proxies);
}

void AccountAuthenticator::authenticate(const net::Request& request, const Route& route,
                                        Done done) {
    const Client from = client(request);
    auto principal = identify(request, route, from);
    if (principal) principal->address = from.address.to_string();
    done(std::move(principal));
}

std::expected<Principal, Problem> AccountAuthenticator::identify(const net::Request& request,
                                                                 const Route& route,
                                                                 const Client& client) {
    if (token_in_query(request.query, route.upgrade)) {
        return std::unexpected(
            bad_request("access.token_in_url",
                        "a token does not belong in a URL, where logs and histories keep it: send "
                        "it in the header X-API-Token, and revoke this one"));
    }
    const auto cookies = cookie_values(request, session_cookie_name(client.secure));
    if (cookies.size() > 1 || count_fields(request, "x-api-token") > 1 ||
        count_fields(request, "authorization") > 1) {
        return std::unexpected(
            bad_request("access.ambiguous", "the request shows the same kind of credential twice"));
    }
    std::optional<std::string_view> cookie;
    if (!cookies.empty() && !cookies[0].empty()) cookie = cookies[0];
    if (cookie && is_unsafe(request.method) && !is_token_of_session(*cookie, request)) {
        return std::unexpected(refusal(std::string(kCsrf),
                                       "a change with a session's cookie needs the session's token "
                                       "in X-CSRF-Token; GET /api/me has it"));
    }
    std::optional<std::string> token;
    if (const auto shown = request.header("x-api-token")) {
        token = *shown;
    } else if (const auto field = request.header("authorization")) {
        if (const auto bearer = bearer_token(*field)) token = *bearer;
        const auto basic = basic_credentials(*field);
        if (basic && access::is_token(access::kTokenPrefix, basic->password.reveal())) {
            return by_basic(request, client, *basic);
        }
    }
    if (!token && route.upgrade) token = net::query_parameter(request.query, "token");
    if (!token) return without_token(request, route, client, cookie);
    auto principal = accounts_.by_token(*token);
    if (!principal) return std::unexpected(unauthorized(principal.error()));
    return std::move(*principal);
}

// The name must be that of the token or of its owner: who mixes up two tokens learns it here.
std::expected<Principal, Problem> AccountAuthenticator::by_basic(const net::Request& request,
                                                                 const Client& client,
                                                                 const BasicCredentials& shown) {
    auto principal = accounts_.by_token(shown.password.reveal());
    if (!principal) return std::unexpected(unauthorized(principal.error()));
    if (shown.user != principal->name && shown.user != principal->owner) {
        return std::unexpected(unauthorized("access.basic",
                                            "the user name is neither that of the token nor of its "
                                            "owner"));
    }
    // Browsers add it by themselves.
    if (is_unsafe(request.method) && !same_origin(request, client)) {
        return std::unexpected(foreign_origin(request));
    }
    return std::move(*principal);
}

std::expected<Principal, Problem> AccountAuthenticator::without_token(
    const net::Request& request, const Route& route, const Client& client,
    std::optional<std::string_view> cookie) {
    // What a browser adds by itself must not work for pages of others: those cannot read answers,
    // but a WebSocket they could.
    const bool ambient_use = route.upgrade || is_unsafe(request.method);
    const auto foreign = [&] { return std::unexpected(foreign_origin(request)); };
    std::optional<Problem> problem;
    if (cookie) {
        auto principal = accounts_.by_session(*cookie);
        if (principal) {
            // Changes have shown the session's own token already.
            if (route.upgrade && !same_origin(request, client)) return foreign();
            return std::move(*principal);
        }
        problem = unauthorized(principal.error());
    }
    if (!rules_.proxy_header.empty() && in_ranges(rules_.proxy_from, client.peer)) {
        if (const auto name = request.header(rules_.proxy_header); name && !name->empty()) {
            if (ambient_use && !same_origin(request, client)) return foreign();
            return by_proxy(request, *name);
        }
    }
    if (may_see_health(request, client)) {
        Principal looker;
        looker.name = "anonymous";
        looker.grants = {{access::Role::kViewer, ""}};
        return looker;
    }
    if (problem) return std::unexpected(std::move(*problem));
    return std::unexpected(unauthorized("access.unauthenticated",
                                        "log in, or show an API token in the header X-API-Token"));
}

std::expected<Principal, Problem> AccountAuthenticator::by_proxy(const net::Request& request,
                                                                 std::string_view name) const {
    if (count_fields(request, rules_.proxy_header) > 1) {
        return std::unexpected(bad_request("access.ambiguous", "the proxy names two users"));
    }
    const auto normal = access::normal_user_name(name);
    if (!normal) return std::unexpected(unauthorized(normal.error()));
    Principal principal;
    principal.kind = "proxy";
    principal.name = *normal;
    principal.owner = *normal;
    if (const User* user = accounts_.book().user(*normal)) {
        if (user->disabled) {
            return std::unexpected(unauthorized("access.disabled", "this user is disabled"));
        }
        principal.grants = user->grants;
        return principal;
    }
    principal.grants = group_grants(request);
    if (principal.grants.empty()) principal.grants = {{rules_.proxy_role, ""}};
    return principal;
}

std::vector<access::Grant> AccountAuthenticator::group_grants(const net::Request& request) const {
    std::vector<access::Grant> grants;
    if (rules_.group_header.empty()) return grants;
    const auto list = request.header(rules_.group_header);
    if (!list || count_fields(request, rules_.group_header) > 1) return grants;
    for (const auto& [group, role] : rules_.groups) {
        const access::Grant grant{role, ""};
        if (net::list_has(*list, group) && std::ranges::find(grants, grant) == grants.end()) {
            grants.push_back(grant);
        }
    }
    return grants;
}

bool AccountAuthenticator::may_see_health(const net::Request& request, const Client& client) const {
    return rules_.health_from_loopback && client.direct_loopback() &&
           (request.method == "GET" || request.method == "HEAD") && request.path == kHealthPath &&
           is_own_host(request.header("host").value_or(""));
}

access::RateDecision AccountAuthenticator::check_rate(const Principal& principal,
                                                      const net::Request& request,
                                                      const Route& route) {
    const Client from = client(request);
    const std::string address = limit_key(from.address);
    const std::string name = principal.anonymous() ? "" : audit_name(principal);
    return limiter_.admit(
        route.rate,
        {.principal = name, .address = address, .direct_loopback = from.direct_loopback()},
        ports_.boot());
}

void AccountAuthenticator::refused(const Refusal& refusal) {
    const net::Request& request = refusal.request;
    if (!ports_.refused || !is_unsafe(request.method)) return;
    const Client from = client(request);
    std::string who = audit_name(refusal.principal);
    // Somebody is logged in, and a page of others sent this in their name: that is theirs to know.
    if (refusal.principal.anonymous() && refusal.code == kCsrf) {
        const auto cookies = cookie_values(request, session_cookie_name(from.secure));
        const auto owner = cookies.empty() ? std::nullopt : accounts_.owner_of_session(cookies[0]);
        if (owner) who = "user:" + *owner;
    }
    const Route& route = refusal.route;
    ports_.refused(
        {.at = ports_.wall(),
         .principal = std::move(who),
         .address = from.address.to_string(),
         .action = route.audit_action.empty() ? std::string(route.operation) : route.audit_action,
         .object = refusal.object,
         .result = model::AuditResult::kRefused,
         .reason = {},
         .before = {},
         .after = std::string(refusal.code),
         .request_id = std::string(refusal.request_id)});
}

}  // namespace pollux::api
