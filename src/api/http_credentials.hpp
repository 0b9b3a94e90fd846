// What a request shows to say who it is from: header fields and cookies, read strictly. And the
// cookie of a session, written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "net/http_message.hpp"

namespace pollux::api {

// All values of the cookie with this name, in all Cookie fields.
std::vector<std::string_view> cookie_values(const net::Request& request, std::string_view name);

// The token of "Bearer <token>"; nothing for another scheme. A Bearer without a token is empty.
std::optional<std::string_view> bearer_token(std::string_view authorization);

// User name and password of "Basic <base64>"; nothing for another scheme. What cannot be read, or
// has no colon, is empty.
struct BasicCredentials {
    std::string user;
    base::Secret password;
};
std::optional<BasicCredentials> basic_credentials(std::string_view authorization);

// How often a field stands in the request.
std::size_t count_fields(const net::Request& request, std::string_view name);

// Whether a parameter of the query is, or by its name should be, a token. `upgrade`: `token` alone
// may be one.
bool token_in_query(std::string_view query, bool upgrade);

// "pollux_session", or "__Host-pollux_session" over TLS, which no other host can set.
std::string_view session_cookie_name(bool secure);

// The Set-Cookie that opens a session; without an age it ends with the browser.
std::string session_cookie(bool secure, std::string_view secret, std::optional<base::Duration> age);
// The Set-Cookie that removes it.
std::string no_session_cookie(bool secure);

// POST, PUT, PATCH, DELETE and whatever else is not known to only read.
bool is_unsafe(std::string_view method);

}  // namespace pollux::api
