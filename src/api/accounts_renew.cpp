// Accounts: logins of connections that stay open.
#include "api/accounts.hpp"

namespace pollux::api {

std::string Accounts::login_of(const access::Principal& principal) const {
    if (principal.kind == "token") {
        // By its id: another token may get the name of one that was revoked.
        const Token* token = book_.token(principal.name);
        return token == nullptr ? "" : "token/" + token->head.id;
    }
    if (!principal.session_id.empty()) return "session/" + principal.session_id;
    return principal.kind + "/" + principal.name;
}

std::optional<access::Principal> Accounts::renewed(const access::Principal& principal,
                                                   const std::string& login) const {
    if (login.empty() || login_of(principal) != login) return std::nullopt;
    access::Principal now = principal;
    const base::WallTime time = ports_.wall();
    const User* user = book_.user(principal.owner);
    if (user != nullptr && user->disabled) return std::nullopt;
    if (user != nullptr) now.grants = user->grants;
    if (principal.kind == "token") {
        const Token* token = book_.token(principal.name);
        const bool expired = token->expires != base::WallTime{} && time >= token->expires;
        if (user == nullptr || expired) return std::nullopt;
        now.scopes = token->scopes;
        now.limits = token->grants;
    } else if (!principal.session_id.empty()) {
        const Session* session = book_.session(principal.session_id);
        if (user == nullptr || session == nullptr ||
            !access::session_lives(session_limits_, session->created, session->last_seen,
                                   session->remember, time)) {
            return std::nullopt;
        }
    }
    return now;
}

}  // namespace pollux::api
