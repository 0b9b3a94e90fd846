// Accounts behind the real server: bytes over TCP, a real store, a real pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/account_handlers.hpp"
#include "api/accounts_test_support.hpp"
#include "api/api_test_support.hpp"
#include "document/parse.hpp"
#include "observe/log.hpp"

namespace pollux::api {
namespace {

using access::Role;
using test::kPassword;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kJson = "Content-Type: application/json\r\n";

class AccountsApi : public ::testing::Test {
  protected:
    void SetUp() override {
        auto http = ApiServer::create({.listen = {net::SocketAddress::loopback(0)}}, log_);
        ASSERT_TRUE(http) << http.error().message;
        http_ = std::move(*http);
        AccountPorts ports;
        ports.submit = [this](store::ObjectBatch batch, store::ObjectDone done) {
            return store_->submit(std::move(batch), std::move(done));
        };
        ports.post = [this](auto work) { http_->loop().post(std::move(work)); };
        ports.work = [this](auto work) { return pool_->submit(std::move(work)); };
        ports.wall = &net::wall_now;
        ports.boot = &net::boot_now;
        ports.random = &test::random_bytes;
        accounts_ = std::make_unique<Accounts>(std::move(ports), test::AccountBench::quick());
        authenticator_ = std::make_unique<AccountAuthenticator>(
            *accounts_, AccountAuthenticator::Ports{&net::wall_now, &net::boot_now, {}},
            base::SipKey{1, 2});
        handlers_ = std::make_unique<AccountHandlers>(*accounts_, *authenticator_);
        bootstrap_ = accounts_->start_bootstrap()->reveal();
        auto router = Router::create(handlers_->routes());
        ASSERT_TRUE(router) << router.error().message;
        const auto started = http_->start(std::move(*router), *authenticator_);
        ASSERT_TRUE(started) << started.error().message;
    }
    void TearDown() override {
        http_->stop();
        pool_.reset();
        EXPECT_TRUE(store_->close());
        accounts_.reset();
    }

    test::Reply ask(std::string_view method, std::string_view target, std::string fields = {},
                    const std::string& body = {}) {
        if (!body.empty()) fields += kJson;
        test::Client client(http_->addresses().at(0));
        return client.ask(method, target, fields, body);
    }
    static std::string text(const test::Reply& reply, std::string_view key) {
        document::Diagnostics diagnostics;
        const auto parsed = document::parse_json(reply.body, "answer", diagnostics);
        const document::Node* node = parsed.root.find(key);
        return node == nullptr ? "" : node->scalar();
    }
    std::string login_body(std::string_view password) {
        return fmt::format(R"({{"name":"root","password":"{}"}})", password);
    }
    // Makes the first admin; gives cookie and CSRF field of a session.
    std::string logged_in() {
        const auto made = ask("POST", "/api/bootstrap", {},
                              fmt::format(R"({{"token":"{}","name":"root","password":"{}"}})",
                                          bootstrap_, kPassword));
        EXPECT_EQ(made.status, 201) << made.body;
        const auto login = ask("POST", "/api/login", {}, login_body(kPassword));
        EXPECT_EQ(login.status, 200) << login.body;
        const std::string cookie = login.field("set-cookie");
        EXPECT_THAT(cookie, AllOf(HasSubstr("pollux_session="), HasSubstr("HttpOnly"),
                                  HasSubstr("SameSite=Lax"), HasSubstr("Path=/")));
        cookie_ = "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n";
        return cookie_ + "X-CSRF-Token: " + text(login, "csrf_token") + "\r\n";
    }

    observe::Log log_{{}, &net::wall_now, [this](std::string_view line) { lines_ += line; }};
    std::string lines_;
    std::shared_ptr<const store::AuditKey> key_ = store::AuditKey::random();
    std::unique_ptr<store::Store> store_ = store::open_memory_store(
        std::make_shared<store::MemoryDisk>(), [](auto&&...) {}, {.key = key_, .committed = {}});
    std::unique_ptr<net::WorkPool> pool_ = std::make_unique<net::WorkPool>(2, 16);
    std::unique_ptr<ApiServer> http_;
    std::unique_ptr<Accounts> accounts_;
    std::unique_ptr<AccountAuthenticator> authenticator_;
    std::unique_ptr<AccountHandlers> handlers_;
    std::string bootstrap_;
    std::string cookie_;
};

TEST_F(AccountsApi, FromTheFirstStartToATokenAndOut) {
    EXPECT_EQ(ask("GET", "/api/me").status, 401);
    const std::string session = logged_in();
    EXPECT_EQ(ask("GET", "/api/me", cookie_).status, 200);
    const auto made = ask("POST", "/api/tokens", session + "Idempotency-Key: once\r\n",
                          R"({"name":"ci","scopes":["monitoring:read"]})");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string token = text(made, "secret");
    const std::string field = "X-API-Token: " + token + "\r\n";
    EXPECT_EQ(ask("GET", "/api/me", field).status, 200);
    EXPECT_EQ(ask("GET", "/api/users", field).status, 403) << "out of its scope";
    const auto again = ask("POST", "/api/tokens", session + "Idempotency-Key: once\r\n",
                           R"({"name":"ci","scopes":["monitoring:read"]})");
    EXPECT_EQ(again.status, 409) << "a secret is shown once";
    EXPECT_THAT(again.body, Not(HasSubstr(token)));
    EXPECT_EQ(ask("DELETE", "/api/tokens/ci", session).status, 204);
    EXPECT_EQ(ask("GET", "/api/me", field).status, 401);
    EXPECT_EQ(ask("POST", "/api/logout", cookie_).status, 403) << "without the CSRF token";
    EXPECT_EQ(ask("POST", "/api/logout", session).status, 204);
    EXPECT_EQ(ask("GET", "/api/me", cookie_).status, 401);

    // Each act is in the trail, with who and from where, and no secret is anywhere.
    const auto trail = store_->audit({});
    ASSERT_TRUE(trail);
    std::vector<std::string> acts;
    for (const auto& record : *trail) {
        acts.push_back(record.entry.principal + " " + record.entry.action);
        EXPECT_EQ(record.entry.address, "127.0.0.1");
        EXPECT_FALSE(record.entry.request_id.empty());
        EXPECT_THAT(record.entry.after, Not(HasSubstr(token)));
    }
    EXPECT_THAT(acts, ::testing::ElementsAre("user:root session.logout", "user:root token.revoke",
                                             "user:root token.create", "user:root session.login",
                                             "anonymous access.bootstrap"));
    http_->stop();
    for (const std::string& secret : {token, bootstrap_, std::string(kPassword)}) {
        EXPECT_THAT(lines_, Not(HasSubstr(secret)));
    }
}

TEST_F(AccountsApi, LoginsAreLimitedAlsoFromThisMachine) {
    std::map<int, int> statuses;
    test::Reply last;
    for (int i = 0; i < 12; ++i) {
        last = ask("POST", "/api/login", {}, login_body("a wrong password"));
        ++statuses[last.status];
    }
    EXPECT_EQ(statuses[401], 5) << "then the address is locked";
    EXPECT_EQ(statuses[429], 7);
    EXPECT_EQ(text(last, "code"), "api.too-many-requests") << "the eleventh in a minute";
    EXPECT_EQ(last.field("x-ratelimit-limit"), "10");
    EXPECT_EQ(last.field("x-ratelimit-remaining"), "0");
    EXPECT_FALSE(last.field("retry-after").empty());
}

TEST_F(AccountsApi, ATokenInAUrlIsRefusedAndNotLogged) {
    const std::string token =
        access::make_token(access::kTokenPrefix, test::random_bytes()).reveal();
    const auto reply = ask("GET", "/api/me?token=" + token);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(text(reply, "code"), "access.token_in_url");
    http_->stop();
    EXPECT_THAT(reply.body + lines_, Not(HasSubstr(token)));
}

TEST_F(AccountsApi, AFormOfAnotherSiteCannotLogIn) {
    test::Client client(http_->addresses().at(0));
    const auto reply =
        client.ask("POST", "/api/login", "Content-Type: text/plain\r\nOrigin: https://evil.org\r\n",
                   login_body(kPassword));
    EXPECT_EQ(reply.status, 415);
}

}  // namespace
}  // namespace pollux::api
