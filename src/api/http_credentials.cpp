#include "api/http_credentials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "access/token.hpp"
#include "api/paging.hpp"

namespace pollux::api {
namespace {

constexpr std::array<std::string_view, 6> kTokenParameters = {
    "token", "api_token", "apitoken", "access_token", "api_key", "x-api-token"};
constexpr std::size_t kMostParameters = 256;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// What stands behind the scheme of an Authorization field; nothing for another one.
std::optional<std::string_view> after_scheme(std::string_view authorization,
                                             std::string_view scheme) {
    const std::string_view text = trimmed(authorization);
    if (!net::equal_ignoring_case(text.substr(0, scheme.size()), scheme)) return std::nullopt;
    const std::string_view rest = text.substr(scheme.size());
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return std::nullopt;
    return trimmed(rest);
}

}  // namespace

std::vector<std::string_view> cookie_values(const net::Request& request, std::string_view name) {
    std::vector<std::string_view> values;
    for (const net::HeaderField& field : request.headers) {
        if (!net::equal_ignoring_case(field.name, "cookie")) continue;
        std::string_view rest = field.value;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(';'), rest.size());
            const std::string_view pair = trimmed(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || trimmed(pair.substr(0, equals)) != name) {
                continue;
            }
            std::string_view value = trimmed(pair.substr(equals + 1));
            const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
            values.push_back(quoted ? value.substr(1, value.size() - 2) : value);
        }
    }
    return values;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
    return after_scheme(authorization, "bearer");
}

std::optional<BasicCredentials> basic_credentials(std::string_view authorization) {
    const auto shown = after_scheme(authorization, "basic");
    if (!shown) return std::nullopt;
    std::string text(*shown);
    while (!text.empty() && text.back() == '=') text.pop_back();
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    const base::Secret pair(from_base64url(text).value_or(""));
    const std::size_t colon = pair.reveal().find(':');
    if (colon == std::string::npos) return BasicCredentials{};
    return BasicCredentials{pair.reveal().substr(0, colon),
                            base::Secret(pair.reveal().substr(colon + 1))};
}

std::size_t count_fields(const net::Request& request, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::count_if(
        request.headers,
        [&](const net::HeaderField& field) { return net::equal_ignoring_case(field.name, name); }));
}

bool token_in_query(std::string_view query, bool upgrade) {
    // One that is a token is told from the text too, however the parameters are cut.
    if (!upgrade && query.find(access::kTokenPrefix) != std::string_view::npos) {
        return true;
    }
    const auto parameters = net::query_parameters(query, kMostParameters);
    return std::ranges::any_of(parameters, [&](const auto& parameter) {
        const auto& [name, value] = parameter;
        if (upgrade && name == "token") return false;
        return access::is_token(access::kTokenPrefix, value) ||
               std::ranges::any_of(kTokenParameters, [&](std::string_view word) {
                   return net::equal_ignoring_case(name, word);
               });
    });
}

std::string_view session_cookie_name(bool secure) {
    return secure ? "__Host-pollux_session" : "pollux_session";
}

std::string session_cookie(bool secure, std::string_view secret,
                           std::optional<base::Duration> age) {
    std::string cookie =
        fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", session_cookie_name(secure), secret);
    if (secure) cookie += "; Secure";
    if (age) cookie += fmt::format("; Max-Age={}", *age / std::chrono::seconds(1));
    return cookie;
}

std::string no_session_cookie(bool secure) {
    return session_cookie(secure, "", base::Duration::zero());
}

bool is_unsafe(std::string_view method) {
    return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

}  // namespace pollux::api
