// Accounts: the first admin, logging in and out, one's own password.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "access/credential_rules.hpp"
#include "api/account_errors.hpp"
#include "api/accounts.hpp"
#include "base/text.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kMostAgent = 200;
constexpr std::size_t kMostName = 64;

// A name that can be none counts like one that nobody has.
std::string counted_name(std::string_view text) {
    auto normal = access::normal_user_name(text);
    return normal ? std::move(*normal) : base::valid_utf8(text.substr(0, kMostName));
}

base::Error login_failed() {
    return {std::string(kLoginFailed), base::ErrorClass::kAuth,
            "the user or the password is wrong"};
}

LoginRefusal locked(base::Duration wait) {
    return {{std::string(kLocked), base::ErrorClass::kAuth,
             fmt::format("too many failed logins: try again in {}", base::format_duration(wait))},
            wait};
}

Actor actor_of(const LoginAttempt& attempt) {
    Actor actor;
    actor.principal.address = attempt.address;
    actor.request_id = attempt.request_id;
    return actor;
}

}  // namespace

// --- the first admin
// ------------------------------------------------------------------------------

std::optional<base::Secret> Accounts::start_bootstrap() {
    bootstrap_hash_.clear();
    if (!waits_for_bootstrap()) return std::nullopt;
    base::Secret token = access::make_token(access::kBootstrapPrefix, ports_.random());
    bootstrap_hash_ = access::hash_secret(token.reveal());
    bootstrap_until_ = ports_.wall() + options_.bootstrap_life;
    return token;
}

void Accounts::bootstrap(const base::Secret& token, NewUser user, Actor actor, Done<User> done) {
    const auto check = [this, given = access::hash_secret(token.reveal())]() -> base::Status {
        if (waits_for_bootstrap() && !bootstrap_hash_.empty() && ports_.wall() < bootstrap_until_ &&
            access::same_secret(given, bootstrap_hash_)) {
            return {};
        }
        return unauthenticated(
            "access.bootstrap",
            "the bootstrap token is not valid: it works once, for 24 hours, "
            "while there is no admin; each start of the server prints a new one");
    };
    model::AuditEntry about = entry(actor, "access.bootstrap", user.name);
    if (auto status = check(); !status) {
        tell_refusal(std::move(about), status.error());
        return done(std::unexpected(std::move(status.error())));
    }
    user.grants = {{access::Role::kAdmin, ""}};
    if (!user.password) {
        return done(base::config_error("access.password", "the first admin needs a password"));
    }
    const auto name = access::normal_user_name(user.name);
    if (!name) return done(std::unexpected(name.error()));
    user.name = *name;
    if (auto status = access::check_password(user.name, *user.password); !status) {
        return done(std::unexpected(std::move(status.error())));
    }
    base::Secret password = *user.password;
    with_hash(std::move(password), [this, check, about = std::move(about), user = std::move(user),
                                    done = std::move(done)](auto hash) mutable {
        if (!hash) return done(std::unexpected(std::move(hash.error())));
        auto prepare = [this, check, user,
                        hash = *hash](model::AuditEntry& log) -> base::Result<AccountChange> {
            if (auto status = check(); !status) return std::unexpected(std::move(status.error()));
            auto made = prepare_new_user(user, hash);
            if (made) log.after = shown(made->users[0]);
            return made;
        };
        change(std::move(about), std::move(prepare),
               [this, name = user.name, done = std::move(done)](base::Status status) mutable {
                   if (!status) return done(std::unexpected(std::move(status.error())));
                   bootstrap_hash_.clear();
                   done(*book_.user(name));
               });
    });
}

// --- login
// ----------------------------------------------------------------------------------------

void Accounts::login(LoginAttempt attempt, LoginDone done) {
    attempt.user = counted_name(attempt.user);
    const User* user = book_.user(attempt.user);
    const bool known = user != nullptr;
    const base::Duration wait =
        guard_.admit(attempt.user, known, attempt.address_key, ports_.boot());
    if (wait > base::Duration::zero()) {
        LoginRefusal refusal = locked(wait);
        tell_refusal(entry(actor_of(attempt), "session.login", attempt.user), refusal.error);
        return done(std::unexpected(std::move(refusal)));
    }
    // Somebody who does not exist, or has no password, costs as much as a wrong password.
    const std::string stored = known ? user->password : "";
    base::Secret password = attempt.password;
    struct State {
        LoginAttempt attempt;
        LoginDone done;
    };
    auto state = std::make_shared<State>(std::move(attempt), std::move(done));
    auto accepted = on_pool<bool>(
        [stored, password = std::move(password), cost = options_.cost] {
            if (!stored.empty()) return verify_password(stored, password);
            const auto hash = hash_password(password, cost);
            return hash && hash->empty();  // never
        },
        [this, stored, state](bool right) {
            finish_login(std::move(state->attempt), stored, right, std::move(state->done));
        });
    if (accepted) return;
    guard_.abandoned(state->attempt.user, known, state->attempt.address_key, ports_.boot());
    state->done(std::unexpected(LoginRefusal{too_busy("too many logins wait").error()}));
}

void Accounts::finish_login(LoginAttempt attempt, const std::string& checked, bool right,
                            LoginDone done) {
    const User* user = book_.user(attempt.user);
    // The password may have been changed while the old one was looked at.
    if (!right || user == nullptr || user->disabled || user->password != checked) {
        tell_refusal(entry(actor_of(attempt), "session.login", attempt.user), login_failed());
        return done(std::unexpected(LoginRefusal{login_failed()}));
    }
    guard_.succeeded(attempt.user, true, attempt.address_key, ports_.boot());
    open_session(std::move(attempt), std::move(done));
}

void Accounts::open_session(LoginAttempt attempt, LoginDone done) {
    const base::WallTime now = ports_.wall();
    auto made = std::make_shared<LoggedIn>();
    made->secret = access::make_session_secret(ports_.random());
    Session& session = made->session;
    session.head.id = new_id();
    session.head.name = session.head.id;
    session.user = attempt.user;
    session.hash = access::hash_secret(made->secret.reveal());
    session.created = now;
    session.last_seen = now;
    session.address = attempt.address;
    session.agent = base::valid_utf8(std::string_view(attempt.agent).substr(0, kMostAgent));
    session.remember = attempt.remember;
    made->ends = now + (attempt.remember ? session_limits_.remembered : session_limits_.life);

    Actor actor = actor_of(attempt);
    const User* user = book_.user(attempt.user);
    actor.principal.name = user->head.name;
    actor.principal.kind = "user";
    auto prepare = [this, made](model::AuditEntry&) -> base::Result<AccountChange> {
        const User* still = book_.user(made->session.user);
        if (still == nullptr || still->disabled) return std::unexpected(login_failed());
        AccountChange change;
        change.sessions.push_back(made->session);
        std::vector<Session> others = book_.sessions_of(made->session.user);
        while (others.size() >= options_.sessions_per_user) {
            change.removed_sessions.push_back(std::move(others.back()));
            others.pop_back();
        }
        return change;
    };
    change(entry(actor, "session.login", attempt.user), std::move(prepare),
           [made, done = std::move(done)](base::Status status) mutable {
               if (!status) {
                   return done(std::unexpected(LoginRefusal{std::move(status.error())}));
               }
               ++made->session.head.version;
               done(std::move(*made));
           });
}

void Accounts::logout(Actor actor, Done<void> done) {
    const std::string id = actor.principal.session_id;
    change(
        entry(actor, "session.logout", actor.principal.name),
        [this, id](model::AuditEntry&) -> base::Result<AccountChange> {
            AccountChange change;
            if (const Session* session = book_.session(id)) {
                change.removed_sessions.push_back(*session);
            }
            return change;  // over already: nothing to do
        },
        std::move(done));
}

// --- one's own password
// ---------------------------------------------------------------------------

void Accounts::change_own_password(Actor actor, base::Secret old_password, base::Secret password,
                                   std::string address_key, PasswordDone done) {
    const std::string name = actor.principal.name;
    const User* user = actor.principal.kind == "user" ? book_.user(name) : nullptr;
    if (user == nullptr) {
        const base::Error why =
            forbidden("a password is changed by its user, logged in with a session").error();
        tell_refusal(entry(actor, "user.password", name), why);
        return done(std::unexpected(LoginRefusal{why}));
    }
    if (auto status = access::check_password(name, password); !status) {
        return done(std::unexpected(LoginRefusal{std::move(status.error())}));
    }
    const base::Duration wait = guard_.admit(name, true, address_key, ports_.boot());
    if (wait > base::Duration::zero()) return done(std::unexpected(locked(wait)));
    struct State {
        Actor actor;
        std::string stored;
        std::string address_key;
        PasswordDone done;
    };
    auto state = std::make_shared<State>(std::move(actor), user->password, std::move(address_key),
                                         std::move(done));
    using Hashed = std::pair<bool, base::Result<std::string>>;
    auto accepted = on_pool<Hashed>(
        [stored = user->password, old_password = std::move(old_password),
         password = std::move(password), cost = options_.cost]() -> Hashed {
            if (!verify_password(stored, old_password)) return {false, std::string()};
            return {true, hash_password(password, cost)};
        },
        [this, state, name](Hashed hashed) {
            model::AuditEntry about = entry(state->actor, "user.password", name);
            if (!hashed.first) {
                const base::Error wrong{std::string(kLoginFailed), base::ErrorClass::kAuth,
                                        "the old password is wrong"};
                tell_refusal(std::move(about), wrong);
                return state->done(std::unexpected(LoginRefusal{wrong}));
            }
            guard_.succeeded(name, true, state->address_key, ports_.boot());
            if (!hashed.second) {
                return state->done(std::unexpected(LoginRefusal{hashed.second.error()}));
            }
            auto prepare = [this, state, name, hash = *hashed.second](
                               model::AuditEntry&) -> base::Result<AccountChange> {
                auto found = find_user(name);
                if (!found) return std::unexpected(std::move(found.error()));
                if (found->password != state->stored) {
                    return base::make_error(base::ErrorClass::kPermanent, std::string(kChanged),
                                            "the password was changed meanwhile");
                }
                AccountChange change;
                found->password = hash;
                found->password_changed = ports_.wall();
                change.users.push_back(std::move(*found));
                for (Session& session : book_.sessions_of(name)) {
                    if (session.head.id == state->actor.principal.session_id) continue;
                    change.removed_sessions.push_back(std::move(session));
                }
                return change;
            };
            change(std::move(about), std::move(prepare), [state](base::Status status) {
                if (status) return state->done({});
                state->done(std::unexpected(LoginRefusal{std::move(status.error())}));
            });
        });
    if (accepted) return;
    guard_.abandoned(name, true, state->address_key, ports_.boot());
    state->done(std::unexpected(LoginRefusal{too_busy("too many passwords wait").error()}));
}

}  // namespace pollux::api
