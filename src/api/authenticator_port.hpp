// The port through which the server learns who is asking and how often they may.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "access/principal.hpp"
#include "access/rate_limiter.hpp"
#include "api/problem.hpp"
#include "api/route.hpp"
#include "net/http_message.hpp"

namespace pollux::api {

// A request that was turned away, as the audit trail is to show it. Lives during the call only.
struct Refusal {
    const access::Principal& principal;  // the anonymous one: no valid login
    const net::Request& request;
    const Route& route;
    std::string object;  // what it was about
    std::string_view request_id;
    std::string_view code;  // of the problem: "access.forbidden", "access.csrf"
};

class Authenticator {
  public:
    using Done = std::move_only_function<void(std::expected<access::Principal, Problem>)>;

    virtual ~Authenticator() = default;

    // Who sent the request, for a route that is not open. Calls `done` on the API's thread, at once
    // or later. The problem is 401, or 403 (CSRF), 429 (locked out, with Retry-After), 503.
    // `request` and `route` live only during the call.
    virtual void authenticate(const net::Request& request, const Route& route, Done done) = 0;

    // Asked once for each request, after authenticate(); for an open route, and for a request that
    // is not authenticated, with the anonymous principal. On the API's thread.
    virtual access::RateDecision check_rate(const access::Principal& principal,
                                            const net::Request& request, const Route& route) = 0;

    // A request was turned away for want of permission or of a valid login, within its limits: to
    // be counted or recorded.
    virtual void refused(const Refusal& refusal) = 0;
};

}  // namespace pollux::api
