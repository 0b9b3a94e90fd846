// Users, tokens and sessions: who there is, and every act that changes them.
//
// Owned by one thread, the API's loop: all calls and all answers are on it. What blocks (argon2id)
// runs on a pool; what is changed is committed by the store together with its audit entry, and seen
// here after the commit.
//
// Invariants
// 1. One change at a time: each is worked out against what the one before left. So two admins who
//    demote each other at once do not leave the server without any.
// 2. There is an admin for ever once there was one: the last one cannot be removed, disabled or
//    demoted.
// 3. Nobody gives what he does not have himself.
// 4. Of passwords, tokens and sessions only hashes are kept, in memory and on disk.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "access/login_guard.hpp"
#include "access/principal.hpp"
#include "access/session_rules.hpp"
#include "access/token.hpp"
#include "api/account_book.hpp"
#include "api/password_hash.hpp"
#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "model/audit.hpp"
#include "store/store.hpp"

namespace pollux::api {

struct AccountPorts {
    // store::Store::submit; `done` comes from any thread.
    std::function<base::Status(store::ObjectBatch, store::ObjectDone)> submit;
    // Runs the work on the thread that owns the accounts.
    std::function<void(std::move_only_function<void()>)> post;
    // Runs the work on a pool (at most two hashes at once: 64 MiB each); full: an error.
    std::function<base::Status(std::move_only_function<void()>)> work;
    // Entries of refusals, which change nothing; may be empty.
    std::function<void(model::AuditEntry)> refused;
    std::function<base::WallTime()> wall;
    std::function<base::BootTime()> boot;
    std::function<access::RandomBytes()> random;
};

struct AccountOptions {
    PasswordCost cost = {};
    access::LoginLimits login = {};
    std::size_t most_users = 10'000;
    std::size_t most_tokens = 10'000;
    std::size_t sessions_per_user = 20;  // one more ends the one that was not used for longest
    base::Duration bootstrap_life = std::chrono::hours(24);
};

// Who does it, for the rules and for the audit trail.
struct Actor {
    access::Principal principal = {};
    std::string request_id = {};
    std::string reason = {};
};

struct LoginAttempt {
    std::string user = {};
    base::Secret password = {};
    bool remember = false;
    std::string address = {};      // of the client, as it is shown
    std::string address_key = {};  // what the lock-out counts by: IPv6 by its /64
    std::string agent = {};
    std::string request_id = {};
};

struct LoggedIn {
    Session session = {};
    base::Secret secret = {};  // for the cookie
    base::WallTime ends = {};  // at the latest
};

// Why a password was not taken, and how long the lock lasts if there is one.
struct LoginRefusal {
    base::Error error = {};
    base::Duration retry_after = base::Duration::zero();
};

struct NewUser {
    std::string name = {};
    std::string display = {};
    std::optional<base::Secret> password = std::nullopt;  // without: no login by password
    std::vector<access::Grant> grants = {};
};

struct UserEdit {
    std::optional<std::string> display = std::nullopt;
    std::optional<std::vector<access::Grant>> grants = std::nullopt;
    std::optional<bool> disabled = std::nullopt;
    std::optional<base::Secret> password = std::nullopt;
    std::optional<std::uint64_t> version = std::nullopt;  // refused when it is another by now
};

struct NewToken {
    std::string name = {};
    std::string owner = {};
    std::vector<std::string> scopes = {};
    std::optional<std::vector<access::Grant>> grants = std::nullopt;
    base::WallTime expires = {};  // zero: never
};

struct MadeToken {
    Token token = {};
    base::Secret secret = {};  // shown once
};

class Accounts {
  public:
    template <class T>
    using Done = std::move_only_function<void(base::Result<T>)>;
    using LoginDone = std::move_only_function<void(std::expected<LoggedIn, LoginRefusal>)>;
    using PasswordDone = std::move_only_function<void(std::expected<void, LoginRefusal>)>;

    Accounts(AccountPorts ports, AccountOptions options);
    ~Accounts();
    Accounts(const Accounts&) = delete;
    Accounts& operator=(const Accounts&) = delete;

    // At the start; messages about what could not be read are for the log.
    std::vector<std::string> load(const std::vector<model::ConfigObject>& objects);
    void set_session_limits(const access::SessionLimits& limits) { session_limits_ = limits; }
    const access::SessionLimits& session_limits() const { return session_limits_; }
    const AccountBook& book() const { return book_; }
    base::WallTime now() const { return ports_.wall(); }

    // While there is no admin: a new one-time token, which is the only one that counts. Printed by
    // the server at its start. Nothing once there is an admin.
    std::optional<base::Secret> start_bootstrap();
    bool waits_for_bootstrap() const { return book_.admins() == 0; }
    // Makes the first admin.
    void bootstrap(const base::Secret& token, NewUser user, Actor actor, Done<User> done);

    void login(LoginAttempt attempt, LoginDone done);
    void logout(Actor actor, Done<void> done);

    void create_user(Actor actor, NewUser user, Done<User> done);
    void change_user(Actor actor, std::string name, UserEdit edit, Done<User> done);
    // With a version: only if it still has that one; account.version otherwise.
    void remove_user(Actor actor, std::string name, std::optional<std::uint64_t> version,
                     Done<void> done);
    // One's own; needs the old one, and ends the other sessions.
    void change_own_password(Actor actor, base::Secret old_password, base::Secret password,
                             std::string address_key, PasswordDone done);
    // Sessions of a user: all but the caller's own, or the one with that id. Gives how many ended.
    void end_sessions(Actor actor, std::string user, std::optional<std::string> id,
                      Done<std::size_t> done);

    void create_token(Actor actor, NewToken token, Done<MadeToken> done);
    void revoke_token(Actor actor, std::string name, Done<void> done);

    // Who shows this token or this cookie: access.token, access.session (class auth).
    base::Result<access::Principal> by_token(std::string_view text);
    base::Result<access::Principal> by_session(std::string_view secret);
    // The user of a session that lives. No use of it.
    std::optional<std::string> owner_of_session(std::string_view secret) const;

    // For connections that stay open. What names the login of a principal, and the principal as it
    // is now: its grants may have changed; nothing when that login is over. A use of neither.
    std::string login_of(const access::Principal& principal) const;
    std::optional<access::Principal> renewed(const access::Principal& principal,
                                             const std::string& login) const;

    // Writes when tokens and sessions were last used, and removes sessions that are over. Called
    // once a minute; `done` may be empty.
    void flush_uses(Done<void> done);

  private:
    // Works out a change, as far as it is allowed; may fill in before and after of the entry.
    using Prepare = std::move_only_function<base::Result<AccountChange>(model::AuditEntry&)>;
    struct Waiting {
        std::optional<model::AuditEntry> entry;
        Prepare prepare;
        Done<void> done;
    };

    model::AuditEntry entry(const Actor& actor, std::string action, std::string object) const;
    void tell_refusal(model::AuditEntry entry, const base::Error& why);
    void change(std::optional<model::AuditEntry> entry, Prepare prepare, Done<void> done);
    void run_next();
    void finish(AccountChange change, Done<void> done, base::Result<store::ObjectCommit> result);
    base::Status commit(store::ObjectBatch batch, std::optional<model::AuditEntry> entry,
                        store::ObjectDone done);
    // Runs `job` on the pool and hands its result to `done` on our thread.
    template <class T>
    base::Status on_pool(std::move_only_function<T()> job, std::move_only_function<void(T)> done);
    void with_hash(base::Secret password, Done<std::string> done);

    std::string new_id();
    base::Result<User> find_user(std::string_view name) const;
    const Session* living_session(std::string_view secret) const;  // of a user who may log in
    base::Status may_manage(const access::Principal& principal) const;
    base::Status keeps_an_admin(const User& before, const User* after) const;
    base::Result<AccountChange> prepare_user_edit(const Actor& actor, const std::string& name,
                                                  const UserEdit& edit, const std::string& hash,
                                                  model::AuditEntry& entry);
    base::Result<AccountChange> prepare_new_user(const NewUser& user, const std::string& hash);
    base::Status check_new_token(const Actor& actor, const NewToken& token) const;
    void finish_login(LoginAttempt attempt, const std::string& checked, bool right, LoginDone done);
    void open_session(LoginAttempt attempt, LoginDone done);
    access::Principal principal_of(const User& user) const;

    AccountPorts ports_;
    AccountOptions options_;
    access::SessionLimits session_limits_;
    AccountBook book_;
    access::LoginGuard guard_;
    std::string bootstrap_hash_;
    base::WallTime bootstrap_until_;
    std::set<std::string, std::less<>> used_tokens_;    // since the last flush
    std::set<std::string, std::less<>> used_sessions_;  // ids
    std::deque<Waiting> waiting_;
    bool committing_ = false;
    std::shared_ptr<bool> alive_;  // what comes back later looks whether we are still there
};

template <class T>
base::Status Accounts::on_pool(std::move_only_function<T()> job,
                               std::move_only_function<void(T)> done) {
    return ports_.work([alive = alive_, post = ports_.post, job = std::move(job),
                        done = std::move(done)]() mutable {
        T result = job();
        post([alive, result = std::move(result), done = std::move(done)]() mutable {
            if (*alive) done(std::move(result));
        });
    });
}

}  // namespace pollux::api
