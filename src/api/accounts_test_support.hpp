// For tests of accounts: a real store, a real pool, a clock that is set by hand, and a thread that
// owns the accounts: the test's.
#pragma once

#include <gtest/gtest.h>
#include <sys/random.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/accounts.hpp"
#include "net/test_process.hpp"
#include "net/work_pool.hpp"
#include "store/audit/audit_key.hpp"
#include "store/data_directory.hpp"
#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::api::test {

inline constexpr std::string_view kPassword = "correct horse battery";

inline access::RandomBytes random_bytes() {
    access::RandomBytes bytes{};
    EXPECT_EQ(getrandom(bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
}

class AccountBench {
  public:
    // With a folder: a SQLite store in it; otherwise one in memory.
    explicit AccountBench(std::string folder = {}, AccountOptions options = quick())
        : folder_(std::move(folder)), options_(options) {
        start();
    }
    ~AccountBench() { stop(); }

    static AccountOptions quick() {
        AccountOptions options;
        options.cost = {.operations = 1, .memory = 8192};
        return options;
    }

    // Ends the process as far as accounts know one, and starts it again.
    void restart() {
        stop();
        start();
    }

    // Runs what was posted until `begin`'s callback was called.
    template <class T, class Begin>
    T wait(Begin&& begin) {
        std::optional<T> result;
        begin([&result](T value) { result = std::move(value); });
        turn_until([&] { return result.has_value(); });
        return std::move(result).value();
    }
    template <class Condition>
    void turn_until(const Condition& condition) {
        const auto end = std::chrono::steady_clock::now() + net::test::kPatience;
        while (!condition() && std::chrono::steady_clock::now() < end) {
            std::move_only_function<void()> work;
            {
                std::unique_lock lock(mutex_);
                changed_.wait_for(lock, std::chrono::milliseconds(50),
                                  [&] { return !posted_.empty(); });
                if (posted_.empty()) continue;
                work = std::move(posted_.front());
                posted_.pop_front();
            }
            work();
        }
    }

    Accounts& accounts() { return *accounts_; }
    void pass(base::Duration time) {
        wall += time;
        boot += time;
    }
    // What is stored now, as bytes.
    std::vector<model::ConfigObject> stored() {
        store_->flush();
        std::vector<model::ConfigObject> objects;
        store::LoadVisitor visitor;
        visitor.object = [&](model::ConfigObject&& object) {
            objects.push_back(std::move(object));
        };
        EXPECT_TRUE(store_->load(visitor));
        return objects;
    }

    // Shortcuts.
    Actor admin() {
        Actor actor;
        actor.principal.kind = "local";
        actor.principal.name = "uid=0";
        actor.principal.grants = {{access::Role::kAdmin, ""}};
        return actor;
    }
    Actor as_user(const std::string& name) {
        const User* user = accounts().book().user(name);
        Actor actor;
        actor.principal.kind = "user";
        actor.principal.name = name;
        actor.principal.owner = name;
        if (user != nullptr) actor.principal.grants = user->grants;
        return actor;
    }
    base::Result<User> add(const std::string& name, std::vector<access::Grant> grants,
                           std::optional<Actor> actor = std::nullopt) {
        NewUser user;
        user.name = name;
        user.password = base::Secret(std::string(kPassword));
        user.grants = std::move(grants);
        return wait<base::Result<User>>([&](auto done) {
            accounts().create_user(actor.value_or(admin()), std::move(user), std::move(done));
        });
    }
    std::expected<LoggedIn, LoginRefusal> login(const std::string& name, std::string_view password,
                                                const std::string& address = "192.0.2.1",
                                                bool remember = false) {
        LoginAttempt attempt;
        attempt.user = name;
        attempt.password = base::Secret(std::string(password));
        attempt.address = address;
        attempt.address_key = address;
        attempt.agent = "a browser";
        attempt.remember = remember;
        return wait<std::expected<LoggedIn, LoginRefusal>>(
            [&](auto done) { accounts().login(std::move(attempt), std::move(done)); });
    }
    base::Result<User> edit(const std::string& name, UserEdit edit,
                            std::optional<Actor> actor = std::nullopt) {
        return wait<base::Result<User>>([&](auto done) {
            accounts().change_user(actor.value_or(admin()), name, std::move(edit), std::move(done));
        });
    }
    base::Status remove(const std::string& name, std::optional<Actor> actor = std::nullopt,
                        std::optional<std::uint64_t> version = std::nullopt) {
        return wait<base::Status>([&](auto done) {
            accounts().remove_user(actor.value_or(admin()), name, version, std::move(done));
        });
    }
    base::Result<MadeToken> token(NewToken token, const Actor& actor) {
        return wait<base::Result<MadeToken>>(
            [&](auto done) { accounts().create_token(actor, std::move(token), std::move(done)); });
    }

    base::WallTime wall{1'800'000'000'000'000};
    base::BootTime boot{3'600'000'000'000};
    std::vector<model::AuditEntry> acts;      // committed with their acts
    std::vector<model::AuditEntry> refusals;  // without
    bool store_full = false;

  private:
    void post(std::move_only_function<void()> work) {
        const std::scoped_lock lock(mutex_);
        posted_.push_back(std::move(work));
        changed_.notify_all();
    }

    AccountPorts ports() {
        AccountPorts ports;
        ports.submit = [this](store::ObjectBatch batch, store::ObjectDone done) -> base::Status {
            if (store_full) {
                return base::make_error(base::ErrorClass::kTransient, "store.queue_full", "full");
            }
            for (const model::AuditEntry& entry : batch.audit) acts.push_back(entry);
            return store_->submit(std::move(batch), std::move(done));
        };
        ports.post = [this](auto work) { post(std::move(work)); };
        ports.work = [this](auto work) { return pool_->submit(std::move(work)); };
        ports.refused = [this](model::AuditEntry entry) { refusals.push_back(std::move(entry)); };
        ports.wall = [this] { return wall; };
        ports.boot = [this] { return boot; };
        ports.random = [] { return random_bytes(); };
        return ports;
    }

    void start() {
        if (folder_.empty()) {
            store_ = store::open_memory_store(disk_, [](auto&&...) {}, audit());
        } else {
            auto directory = store::DataDirectory::open(folder_);
            ASSERT_TRUE(directory) << directory.error().message;
            store::SqliteOptions how;
            how.audit = audit();
            auto opened = store::open_sqlite_store(*directory, [](auto&&...) {}, how);
            ASSERT_TRUE(opened) << opened.error().message;
            store_ = std::move(*opened);
        }
        pool_ = std::make_unique<net::WorkPool>(2, 16);
        accounts_ = std::make_unique<Accounts>(ports(), options_);
        EXPECT_TRUE(accounts_->load(stored()).empty());
    }
    void stop() {
        accounts_.reset();
        pool_.reset();
        EXPECT_TRUE(store_->close());
        store_.reset();
        posted_.clear();
    }

    store::AuditOptions audit() const { return {.key = key_, .committed = {}}; }

    std::string folder_;
    AccountOptions options_;
    std::shared_ptr<const store::AuditKey> key_ = store::AuditKey::random();
    std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<net::WorkPool> pool_;
    std::unique_ptr<Accounts> accounts_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::move_only_function<void()>> posted_;
};

}  // namespace pollux::api::test
