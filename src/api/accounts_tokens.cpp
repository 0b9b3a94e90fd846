// Accounts: API tokens.
#include <fmt/format.h>

#include <utility>

#include "access/credential_rules.hpp"
#include "access/scope.hpp"
#include "api/account_errors.hpp"
#include "api/accounts.hpp"
#include "base/text.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kMostPerUser = 100;

// A token that makes a token hands on at most what it has.
base::Status within_scopes(const access::Principal& principal, const NewToken& token) {
    for (const access::Permission permission : access::kPermissions) {
        for (const access::Area area : access::kAreas) {
            if (access::scopes_cover(token.scopes, permission, area) &&
                !access::scopes_cover(principal.scopes, permission, area)) {
                return base::make_error(
                    base::ErrorClass::kAuth, "access.escalation",
                    fmt::format("{} cannot make a token with wider scopes than its own ({})",
                                audit_name(principal), fmt::join(principal.scopes, ", ")));
            }
        }
    }
    return {};
}

}  // namespace

base::Status Accounts::check_new_token(const Actor& actor, const NewToken& token) const {
    const User* owner = book_.user(token.owner);
    const bool own = token.owner == actor.principal.owner &&
                     access::may(actor.principal, access::Permission::kSelf, access::Area::kAccess);
    if (!own) {
        if (auto status = may_manage(actor.principal); !status) return status;
    }
    if (owner == nullptr) return no_user(token.owner);
    if (auto status = within_scopes(actor.principal, token); !status) return status;
    // A token of somebody else acts as they do; one of one's own narrows by itself.
    const bool narrowed = actor.principal.limits.has_value();
    if (!own || narrowed) {
        const auto& grants = token.grants ? *token.grants : owner->grants;
        if (auto status = access::may_grant(actor.principal, grants); !status) return status;
    }
    if (token.grants && own) {
        access::Principal whole = principal_of(*owner);
        if (auto status = access::may_grant(whole, *token.grants); !status) return status;
    }
    if (token.expires != base::WallTime{} && token.expires <= ports_.wall()) {
        return base::config_error("access.expires", "the token would have expired already");
    }
    if (book_.token(token.name) != nullptr) {
        return base::make_error(base::ErrorClass::kPermanent, std::string(kExists),
                                fmt::format("there is a token {} already", token.name));
    }
    if (book_.tokens().size() >= options_.most_tokens ||
        book_.tokens_of(token.owner).size() >= kMostPerUser) {
        return base::make_error(base::ErrorClass::kPermanent, "access.too_many",
                                "there are as many tokens as there may be: revoke some");
    }
    return {};
}

void Accounts::create_token(Actor actor, NewToken token, Done<MadeToken> done) {
    const auto name = access::normal_token_name(token.name);
    if (!name) return done(std::unexpected(name.error()));
    token.name = *name;
    if (auto status = access::check_scopes(token.scopes); !status) {
        return done(std::unexpected(std::move(status.error())));
    }
    if (token.owner.empty()) token.owner = actor.principal.owner;
    if (const auto owner = access::normal_user_name(token.owner)) token.owner = *owner;
    if (token.grants) {
        auto grants = access::normal_grants(std::move(*token.grants));
        if (!grants) return done(std::unexpected(std::move(grants.error())));
        token.grants = std::move(*grants);
    }
    auto made = std::make_shared<MadeToken>();
    made->secret = access::make_token(access::kTokenPrefix, ports_.random());
    made->token.head = {new_id(), token.name, 0};
    made->token.owner = token.owner;
    made->token.hash = access::hash_secret(made->secret.reveal());
    made->token.scopes = token.scopes;
    made->token.grants = token.grants;
    made->token.expires = token.expires;
    made->token.created = ports_.wall();
    auto prepare = [this, actor, token,
                    made](model::AuditEntry& log) -> base::Result<AccountChange> {
        if (auto status = check_new_token(actor, token); !status) {
            return std::unexpected(std::move(status.error()));
        }
        log.after = shown(made->token);
        AccountChange change;
        change.tokens.push_back(made->token);
        return change;
    };
    change(entry(actor, "token.create", token.name), std::move(prepare),
           [made, done = std::move(done)](base::Status status) mutable {
               if (!status) return done(std::unexpected(std::move(status.error())));
               ++made->token.head.version;
               done(std::move(*made));
           });
}

void Accounts::revoke_token(Actor actor, std::string name, Done<void> done) {
    auto prepare = [this, actor, name](model::AuditEntry& log) -> base::Result<AccountChange> {
        const auto normal = access::normal_token_name(name);
        const Token* token = normal ? book_.token(*normal) : nullptr;
        const bool own =
            token != nullptr && token->owner == actor.principal.owner &&
            access::may(actor.principal, access::Permission::kSelf, access::Area::kAccess);
        const bool manages = may_manage(actor.principal).has_value();
        // Tokens of others are not there for who may not manage them.
        if (token == nullptr || (!own && !manages)) {
            return base::make_error(base::ErrorClass::kPermanent, std::string(kNoToken),
                                    fmt::format("there is no token {}", base::quoted(name)));
        }
        log.before = shown(*token);
        AccountChange change;
        change.removed_tokens.push_back(*token);
        return change;
    };
    change(entry(actor, "token.revoke", name), std::move(prepare), std::move(done));
}

}  // namespace pollux::api
