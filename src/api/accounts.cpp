#include "api/accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "access/credential_rules.hpp"
#include "api/account_errors.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kMostWaiting = 256;

base::SipKey key_of(const access::RandomBytes& bytes) {
    base::ByteReader reader(std::as_bytes(std::span(bytes)));
    const std::uint64_t first = reader.u64();
    return {first, reader.u64()};
}

}  // namespace

Accounts::Accounts(AccountPorts ports, AccountOptions options)
    : ports_(std::move(ports)),
      options_(options),
      guard_(options.login, key_of(ports_.random())),
      alive_(std::make_shared<bool>(true)) {}

Accounts::~Accounts() { *alive_ = false; }

std::vector<std::string> Accounts::load(const std::vector<model::ConfigObject>& objects) {
    return book_.load(objects);
}

// --- one change at a time
// -------------------------------------------------------------------------

model::AuditEntry Accounts::entry(const Actor& actor, std::string action,
                                  std::string object) const {
    return {.at = ports_.wall(),
            .principal = audit_name(actor.principal),
            .address = actor.principal.address,
            .action = std::move(action),
            .object = std::move(object),
            .result = model::AuditResult::kAllowed,
            .reason = actor.reason,
            .before = {},
            .after = {},
            .request_id = actor.request_id};
}

void Accounts::tell_refusal(model::AuditEntry entry, const base::Error& why) {
    if (!ports_.refused) return;
    entry.result = model::AuditResult::kRefused;
    entry.after = why.code;
    ports_.refused(std::move(entry));
}

void Accounts::change(std::optional<model::AuditEntry> entry, Prepare prepare, Done<void> done) {
    if (waiting_.size() >= kMostWaiting) {
        done(too_busy("too many changes of accounts wait"));
        return;
    }
    waiting_.push_back({std::move(entry), std::move(prepare), std::move(done)});
    run_next();
}

void Accounts::run_next() {
    while (!committing_ && !waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        model::AuditEntry none;
        auto change = next.prepare(next.entry ? *next.entry : none);
        if (!change) {
            const bool refusal = change.error().error_class == base::ErrorClass::kAuth ||
                                 change.error().code == kLastAdmin;
            if (next.entry && refusal) tell_refusal(*next.entry, change.error());
            next.done(std::unexpected(std::move(change.error())));
            continue;
        }
        if (change->empty()) {
            next.done({});
            continue;
        }
        store::ObjectBatch batch = change->batch(ports_.wall());
        // Both ways to the end need them: the store's answer, or its refusal to take the batch.
        auto shared = std::make_shared<std::pair<AccountChange, Done<void>>>(std::move(*change),
                                                                             std::move(next.done));
        committing_ = true;
        auto answered = [this, alive = alive_, post = ports_.post,
                         shared](base::Result<store::ObjectCommit> result) mutable {
            post([this, alive, shared, result = std::move(result)]() mutable {
                if (!*alive) return;
                finish(std::move(shared->first), std::move(shared->second), std::move(result));
            });
        };
        auto accepted = commit(std::move(batch), std::move(next.entry), std::move(answered));
        if (!accepted) {
            committing_ = false;
            shared->second(std::unexpected(std::move(accepted.error())));
        }
    }
}

void Accounts::finish(AccountChange change, Done<void> done,
                      base::Result<store::ObjectCommit> result) {
    committing_ = false;
    if (result) book_.apply(change);
    if (result) {
        done({});
    } else {
        done(std::unexpected(std::move(result.error())));
    }
    run_next();
}

// The one place where an act and its entry of the audit trail meet: one transaction.
base::Status Accounts::commit(store::ObjectBatch batch, std::optional<model::AuditEntry> entry,
                              store::ObjectDone done) {
    if (entry) batch.audit.push_back(std::move(*entry));
    return ports_.submit(std::move(batch), std::move(done));
}

void Accounts::with_hash(base::Secret password, Done<std::string> done) {
    auto shared = std::make_shared<Done<std::string>>(std::move(done));
    auto accepted = on_pool<base::Result<std::string>>(
        [password = std::move(password), cost = options_.cost] {
            return hash_password(password, cost);
        },
        [shared](base::Result<std::string> hash) { (*shared)(std::move(hash)); });
    if (!accepted) (*shared)(too_busy("too many passwords wait to be hashed"));
}

// --- helpers
// --------------------------------------------------------------------------------------

std::string Accounts::new_id() {
    const base::SipKey bits = key_of(ports_.random());
    return base::make_uuid7(ports_.wall(), bits.k0, bits.k1);
}

base::Result<User> Accounts::find_user(std::string_view name) const {
    const auto normal = access::normal_user_name(name);
    const User* user = normal ? book_.user(*normal) : nullptr;
    if (user == nullptr) return no_user(name);
    return *user;
}

base::Status Accounts::may_manage(const access::Principal& principal) const {
    if (access::may_everywhere(principal, access::Permission::kManage, access::Area::kAccess)) {
        return {};
    }
    return forbidden("users and their tokens are managed by admins of everything");
}

base::Status Accounts::keeps_an_admin(const User& before, const User* after) const {
    if (!is_admin(before) || (after != nullptr && is_admin(*after)) || book_.admins() > 1) {
        return {};
    }
    return base::make_error(
        base::ErrorClass::kPermanent, std::string(kLastAdmin),
        fmt::format("{} is the last admin: give somebody else the role admin first",
                    base::quoted(before.head.name)));
}

access::Principal Accounts::principal_of(const User& user) const {
    access::Principal principal;
    principal.name = user.head.name;
    principal.kind = "user";
    principal.owner = user.head.name;
    principal.grants = user.grants;
    return principal;
}

// --- who shows what
// -------------------------------------------------------------------------------

base::Result<access::Principal> Accounts::by_token(std::string_view text) {
    // Unknown, revoked, expired and whose owner is gone look the same from outside.
    const auto refused = [] {
        return unauthenticated("access.token", "the API token is not valid");
    };
    if (!access::is_token(access::kTokenPrefix, text)) return refused();
    const Token* token = book_.token_by_hash(access::hash_secret(text));
    if (token == nullptr) return refused();
    const base::WallTime now = ports_.wall();
    if (token->expires != base::WallTime{} && now >= token->expires) {
        return unauthenticated(
            "access.token_expired",
            fmt::format("the API token {} has expired: make a new one", token->head.name));
    }
    const User* owner = book_.user(token->owner);
    if (owner == nullptr || owner->disabled) return refused();
    access::Principal principal = principal_of(*owner);
    principal.kind = "token";
    principal.name = token->head.name;
    principal.scopes = token->scopes;
    principal.limits = token->grants;
    used_tokens_.insert(token->head.name);
    book_.touch_token(token->head.name, now);
    return principal;
}

const Session* Accounts::living_session(std::string_view secret) const {
    const Session* session = book_.session_by_hash(access::hash_secret(secret));
    if (session == nullptr) return nullptr;
    const User* user = book_.user(session->user);
    const bool lives = user != nullptr && !user->disabled &&
                       access::session_lives(session_limits_, session->created, session->last_seen,
                                             session->remember, ports_.wall());
    return lives ? session : nullptr;
}

base::Result<access::Principal> Accounts::by_session(std::string_view secret) {
    const Session* session = living_session(secret);
    if (session == nullptr) {
        return unauthenticated("access.session", "the session is over: log in again");
    }
    access::Principal principal = principal_of(*book_.user(session->user));
    principal.session_id = session->head.id;
    principal.csrf = access::csrf_token(secret);
    used_sessions_.insert(session->head.id);
    book_.touch_session(session->head.id, ports_.wall());
    return principal;
}

std::optional<std::string> Accounts::owner_of_session(std::string_view secret) const {
    const Session* session = living_session(secret);
    if (session == nullptr) return std::nullopt;
    return session->user;
}

void Accounts::flush_uses(Done<void> done) {
    auto prepare = [this](model::AuditEntry&) -> base::Result<AccountChange> {
        AccountChange uses;
        const base::WallTime now = ports_.wall();
        for (const auto& [id, session] : book_.sessions()) {
            const bool lives = book_.user(session.user) != nullptr &&
                               access::session_lives(session_limits_, session.created,
                                                     session.last_seen, session.remember, now);
            if (!lives) {
                uses.removed_sessions.push_back(session);
            } else if (used_sessions_.contains(id)) {
                uses.sessions.push_back(session);
            }
        }
        for (const std::string& name : used_tokens_) {
            if (const Token* token = book_.token(name)) uses.tokens.push_back(*token);
        }
        used_sessions_.clear();
        used_tokens_.clear();
        return uses;
    };
    change(std::nullopt, std::move(prepare), [done = std::move(done)](base::Status status) mutable {
        if (done) done(std::move(status));
    });
}

}  // namespace pollux::api
