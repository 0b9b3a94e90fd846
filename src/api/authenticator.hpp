// From a request to who sent it, and how often they may ask. On the API's thread, never blocks.
//
// What is looked at, in this order: a token in X-API-Token, one in Authorization: Bearer or as the
// password of Authorization: Basic, one in ?token= of a WebSocket upgrade (and nowhere else in a
// URL), the cookie of a session, the header of a proxy that may log users in. A token that is shown
// counts: if it is wrong the answer is 401, whatever else would have been right. A Basic field
// whose password is no token is that of a proxy in front of us, and says nothing here. An unsafe
// request that carries the cookie needs the token of its session in X-CSRF-Token, also when it
// shows an API token.
#pragma once

#include <functional>
#include <string_view>

#include "access/principal.hpp"
#include "access/rate_limiter.hpp"
#include "api/access_rules.hpp"
#include "api/accounts.hpp"
#include "api/authenticator_port.hpp"
#include "api/client_address.hpp"
#include "api/http_credentials.hpp"
#include "base/siphash.hpp"
#include "model/audit.hpp"

namespace pollux::api {

// The page that anonymous_health opens.
inline constexpr std::string_view kHealthPath = "/api/monitoring/scheduler/health";

class AccountAuthenticator final : public Authenticator {
  public:
    struct Ports {
        std::function<base::WallTime()> wall;
        std::function<base::BootTime()> boot;
        std::function<void(model::AuditEntry)> refused;  // may be empty
    };

    // `accounts` outlives it.
    AccountAuthenticator(Accounts& accounts, Ports ports, base::SipKey key);

    // New settings: holds from the next request on.
    void set_rules(AccessRules rules);
    const AccessRules& rules() const { return rules_; }

    void authenticate(const net::Request& request, const Route& route, Done done) override;
    access::RateDecision check_rate(const access::Principal& principal, const net::Request& request,
                                    const Route& route) override;
    void refused(const Refusal& refusal) override;

    Client client(const net::Request& request) const;

  private:
    std::expected<access::Principal, Problem> identify(const net::Request& request,
                                                       const Route& route, const Client& client);
    std::expected<access::Principal, Problem> without_token(const net::Request& request,
                                                            const Route& route,
                                                            const Client& client,
                                                            std::optional<std::string_view> cookie);
    std::expected<access::Principal, Problem> by_proxy(const net::Request& request,
                                                       std::string_view name) const;
    std::vector<access::Grant> group_grants(const net::Request& request) const;
    std::expected<access::Principal, Problem> by_basic(const net::Request& request,
                                                       const Client& client,
                                                       const BasicCredentials& shown);
    bool may_see_health(const net::Request& request, const Client& client) const;

    Accounts& accounts_;
    Ports ports_;
    AccessRules rules_;
    access::RateLimiter limiter_;
};

// Whether an Origin field, if there is one, names the host that was asked; a trusted proxy says in
// X-Forwarded-Host which one that was. A browser that says same-origin in Sec-Fetch-Site is
// believed.
bool same_origin(const net::Request& request, const Client& client);

}  // namespace pollux::api
