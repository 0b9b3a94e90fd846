// Accounts: users and their sessions, as admins manage them.
#include <fmt/format.h>

#include <utility>

#include "access/credential_rules.hpp"
#include "api/account_errors.hpp"
#include "api/accounts.hpp"
#include "base/text.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kMostDisplay = 200;

base::Status check_display(std::string_view display) {
    if (display.size() <= kMostDisplay && !base::has_control(display)) return {};
    return base::config_error("access.display",
                              "the shown name must be at most 200 bytes without control "
                              "characters");
}

base::Status is_as_seen(const User& user, std::optional<std::uint64_t> version) {
    if (!version || *version == user.head.version) return {};
    return base::make_error(base::ErrorClass::kPermanent, std::string(kChanged),
                            fmt::format("user {} was changed meanwhile: it has version {}, not {}",
                                        user.head.name, user.head.version, *version));
}

}  // namespace

base::Result<AccountChange> Accounts::prepare_new_user(const NewUser& user,
                                                       const std::string& hash) {
    if (book_.user(user.name) != nullptr) {
        return base::make_error(base::ErrorClass::kPermanent, std::string(kExists),
                                fmt::format("there is a user {} already", user.name));
    }
    if (book_.users().size() >= options_.most_users) {
        return base::make_error(
            base::ErrorClass::kPermanent, "access.too_many",
            fmt::format("there are {} users, as many as there may be", options_.most_users));
    }
    const base::WallTime now = ports_.wall();
    User made;
    made.head = {new_id(), user.name, 0};
    made.display = user.display;
    made.password = hash;
    made.grants = user.grants;
    made.created = now;
    if (!hash.empty()) made.password_changed = now;
    AccountChange change;
    change.users.push_back(std::move(made));
    return change;
}

void Accounts::create_user(Actor actor, NewUser user, Done<User> done) {
    const auto name = access::normal_user_name(user.name);
    if (!name) return done(std::unexpected(name.error()));
    user.name = *name;
    if (auto status = check_display(user.display); !status) {
        return done(std::unexpected(std::move(status.error())));
    }
    auto grants = access::normal_grants(std::move(user.grants));
    if (!grants) return done(std::unexpected(std::move(grants.error())));
    user.grants = std::move(*grants);
    if (user.password) {
        if (auto status = access::check_password(user.name, *user.password); !status) {
            return done(std::unexpected(std::move(status.error())));
        }
    }
    auto go = [this, actor, user](std::string hash, Done<User> answer) mutable {
        auto prepare = [this, actor, user, hash = std::move(hash)](
                           model::AuditEntry& log) -> base::Result<AccountChange> {
            if (auto status = may_manage(actor.principal); !status) {
                return std::unexpected(std::move(status.error()));
            }
            if (auto status = access::may_grant(actor.principal, user.grants); !status) {
                return std::unexpected(std::move(status.error()));
            }
            auto made = prepare_new_user(user, hash);
            if (made) log.after = shown(made->users[0]);
            return made;
        };
        change(entry(actor, "user.create", user.name), std::move(prepare),
               [this, name = user.name, answer = std::move(answer)](base::Status status) mutable {
                   if (!status) return answer(std::unexpected(std::move(status.error())));
                   answer(*book_.user(name));
               });
    };
    // Who may not does not make us hash.
    const bool may = may_manage(actor.principal).has_value();
    if (!user.password || !may) return go("", std::move(done));
    with_hash(*user.password, [go = std::move(go), done = std::move(done)](auto hash) mutable {
        if (!hash) return done(std::unexpected(std::move(hash.error())));
        go(std::move(*hash), std::move(done));
    });
}

base::Result<AccountChange> Accounts::prepare_user_edit(const Actor& actor, const std::string& name,
                                                        const UserEdit& edit,
                                                        const std::string& hash,
                                                        model::AuditEntry& log) {
    if (auto status = may_manage(actor.principal); !status) {
        return std::unexpected(std::move(status.error()));
    }
    auto user = find_user(name);
    if (!user) return std::unexpected(std::move(user.error()));
    if (auto status = is_as_seen(*user, edit.version); !status) {
        return std::unexpected(std::move(status.error()));
    }
    const User before = *user;
    log.before = shown(before);
    if (edit.display) user->display = *edit.display;
    if (edit.grants) user->grants = *edit.grants;
    if (edit.disabled) user->disabled = *edit.disabled;
    if (!hash.empty()) {
        user->password = hash;
        user->password_changed = ports_.wall();
    }
    // Neither more than one has, nor anything about somebody who has more.
    for (const User* one : {&before, static_cast<const User*>(&*user)}) {
        if (auto status = access::may_grant(actor.principal, one->grants); !status) {
            return std::unexpected(std::move(status.error()));
        }
    }
    if (auto status = keeps_an_admin(before, &*user); !status) {
        return std::unexpected(std::move(status.error()));
    }
    log.after = shown(*user);
    AccountChange change;
    if (!hash.empty() || user->disabled) {
        for (Session& session : book_.sessions_of(user->head.name)) {
            if (session.head.id == actor.principal.session_id && !user->disabled) continue;
            change.removed_sessions.push_back(std::move(session));
        }
    }
    change.users.push_back(std::move(*user));
    return change;
}

void Accounts::change_user(Actor actor, std::string name, UserEdit edit, Done<User> done) {
    const auto normal = access::normal_user_name(name);
    if (!normal) return done(no_user(name));
    if (edit.display) {
        if (auto status = check_display(*edit.display); !status) {
            return done(std::unexpected(std::move(status.error())));
        }
    }
    if (edit.grants) {
        auto grants = access::normal_grants(std::move(*edit.grants));
        if (!grants) return done(std::unexpected(std::move(grants.error())));
        edit.grants = std::move(*grants);
    }
    if (edit.password) {
        if (auto status = access::check_password(*normal, *edit.password); !status) {
            return done(std::unexpected(std::move(status.error())));
        }
    }
    auto go = [this, actor, name = *normal, edit](std::string hash, Done<User> answer) mutable {
        auto prepare = [this, actor, name, edit, hash = std::move(hash)](model::AuditEntry& log) {
            return prepare_user_edit(actor, name, edit, hash, log);
        };
        change(entry(actor, "user.change", name), std::move(prepare),
               [this, name, answer = std::move(answer)](base::Status status) mutable {
                   if (!status) return answer(std::unexpected(std::move(status.error())));
                   answer(*book_.user(name));
               });
    };
    const bool may = may_manage(actor.principal).has_value();
    if (!edit.password || !may) return go("", std::move(done));
    with_hash(*edit.password, [go = std::move(go), done = std::move(done)](auto hash) mutable {
        if (!hash) return done(std::unexpected(std::move(hash.error())));
        go(std::move(*hash), std::move(done));
    });
}

void Accounts::remove_user(Actor actor, std::string name, std::optional<std::uint64_t> version,
                           Done<void> done) {
    auto prepare = [this, actor, name,
                    version](model::AuditEntry& log) -> base::Result<AccountChange> {
        if (auto status = may_manage(actor.principal); !status) {
            return std::unexpected(std::move(status.error()));
        }
        auto user = find_user(name);
        if (!user) return std::unexpected(std::move(user.error()));
        if (auto status = is_as_seen(*user, version); !status) {
            return std::unexpected(std::move(status.error()));
        }
        if (auto status = access::may_grant(actor.principal, user->grants); !status) {
            return std::unexpected(std::move(status.error()));
        }
        if (auto status = keeps_an_admin(*user, nullptr); !status) {
            return std::unexpected(std::move(status.error()));
        }
        log.before = shown(*user);
        AccountChange change;
        change.removed_sessions = book_.sessions_of(user->head.name);
        change.removed_tokens = book_.tokens_of(user->head.name);
        change.removed_users.push_back(std::move(*user));
        return change;
    };
    change(entry(actor, "user.remove", name), std::move(prepare), std::move(done));
}

void Accounts::end_sessions(Actor actor, std::string name, std::optional<std::string> id,
                            Done<std::size_t> done) {
    auto ended = std::make_shared<std::size_t>(0);
    auto prepare = [this, actor, name, id,
                    ended](model::AuditEntry& log) -> base::Result<AccountChange> {
        auto user = find_user(name);
        const bool own =
            user && actor.principal.kind == "user" && user->head.name == actor.principal.name;
        if (!own) {
            if (auto status = may_manage(actor.principal); !status) {
                return std::unexpected(std::move(status.error()));
            }
        }
        if (!user) return std::unexpected(std::move(user.error()));
        AccountChange change;
        for (Session& session : book_.sessions_of(user->head.name)) {
            const bool meant =
                id ? session.head.id == *id : session.head.id != actor.principal.session_id;
            if (meant) change.removed_sessions.push_back(std::move(session));
        }
        *ended = change.removed_sessions.size();
        if (id && *ended == 0) {
            return base::make_error(
                base::ErrorClass::kPermanent, std::string(kNoSession),
                fmt::format("{} has no session {}", user->head.name, base::quoted(*id)));
        }
        log.before = fmt::format("{} sessions", *ended);
        return change;
    };
    change(entry(actor, "session.end", name), std::move(prepare),
           [ended, done = std::move(done)](base::Status status) mutable {
               if (!status) return done(std::unexpected(std::move(status.error())));
               done(*ended);
           });
}

}  // namespace pollux::api
