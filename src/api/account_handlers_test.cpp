#include "api/account_handlers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/account_pages.hpp"
#include "api/accounts_test_support.hpp"
#include "api/router.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using access::Grant;
using access::Role;
using test::kPassword;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

// Takes a request the way of the server: router, query, login, permission, handler.
class AccountHandlersTest : public ::testing::Test, public CallSink {
  protected:
    void SetUp() override {
        auto router = Router::create(handlers_.routes());
        ASSERT_TRUE(router) << router.error().message;
        router_ = std::make_unique<Router>(std::move(*router));
    }
    void first_admin() { ASSERT_TRUE(bench_.add("root", {{Role::kAdmin, ""}})); }

    int ask(std::string method, std::string target, std::string body = "",
            std::vector<net::HeaderField> headers = {}) {
        net::Request request;
        request.method = std::move(method);
        request.target = target;
        request.path = target.substr(0, target.find('?'));
        if (target.find('?') != std::string::npos)
            request.query = target.substr(target.find('?') + 1);
        request.body = std::move(body);
        request.headers = std::move(headers);
        request.peer = net::SocketAddress::parse("192.0.2.9", 5).value();
        const RouteMatch match = router_->match(request.method, request.path);
        if (match.route == nullptr) return match.allow.empty() ? 404 : 405;
        auto query = Query::read(*match.route, request.query);
        if (!query) return query.error().status;
        Call call(home_, request, net::Responder(nullptr, 0));
        call.route = match.route;
        call.parameters = match.parameters;
        call.query = std::move(*query);
        call.request_id = "request-1";
        response_.reset();
        if (match.route->open) {
            match.route->handler(std::move(call));
        } else {
            authenticator_.authenticate(request, *match.route, [&](auto principal) {
                if (!principal) return call.problem(principal.error());
                call.principal = *principal;
                if (!access::may(*principal, match.route->permission, match.route->area)) {
                    return call.problem(Problem{.status = 403, .code = "access.forbidden"});
                }
                match.route->handler(std::move(call));
            });
        }
        bench_.turn_until([&] { return response_.has_value(); });
        return response_->status;
    }
    std::string header(std::string_view name) const {
        for (const auto& field : response_->headers) {
            if (net::equal_ignoring_case(field.name, name)) return field.value;
        }
        return "";
    }
    // A text of the answer, by its path of keys.
    std::string text(std::initializer_list<std::string_view> keys) const {
        document::Diagnostics diagnostics;
        const auto parsed = document::parse_json(response_->body, "answer", diagnostics);
        EXPECT_TRUE(parsed.ok) << response_->body;
        const document::Node* node = &parsed.root;
        for (const std::string_view key : keys) {
            node = node->find(key);
            if (node == nullptr) return "(nothing)";
        }
        return node->scalar();
    }
    // Logs in and gives the fields that a browser would send.
    std::vector<net::HeaderField> browser(const std::string& name) {
        const int status =
            ask("POST", "/api/login",
                R"({"name":")" + name + R"(","password":")" + std::string(kPassword) + "\"}");
        EXPECT_EQ(status, 200) << response_->body;
        const std::string cookie = header("Set-Cookie");
        return {{"Cookie", cookie.substr(0, cookie.find(';'))},
                {"X-CSRF-Token", text({"csrf_token"})}};
    }
    std::vector<net::HeaderField> bearer(const std::string& owner, NewToken token) {
        const auto made = bench_.token(std::move(token), bench_.as_user(owner));
        EXPECT_TRUE(made);
        return {{"Authorization", "Bearer " + made->secret.reveal()}};
    }
    const std::string& body() const { return response_->body; }

    test::AccountBench bench_;
    AccountAuthenticator authenticator_{bench_.accounts(),
                                        {.wall = [this] { return bench_.wall; },
                                         .boot = [this] { return bench_.boot; },
                                         .refused = {}},
                                        {1, 2}};
    AccountHandlers handlers_{bench_.accounts(), authenticator_};

    void finish(Call, net::Response response) override { response_ = std::move(response); }
    net::StreamHandle finish_stream(Call, net::Response, net::BodySource,
                                    std::optional<std::uint64_t>) override {
        return {};
    }
    void finish_upgrade(Call, net::Response, net::UpgradeTaker) override {}

  private:
    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    std::shared_ptr<CallHome> home_ = std::make_shared<CallHome>(*loop_, *this);
    std::unique_ptr<Router> router_;
    std::optional<net::Response> response_;
};

TEST_F(AccountHandlersTest, FromTheFirstStartToALogin) {
    const auto token = bench_.accounts().start_bootstrap();
    const std::string order = R"({"token":")" + token->reveal() +
                              R"(","name":"Root","password":")" + std::string(kPassword) + "\"}";
    EXPECT_EQ(
        ask("POST", "/api/bootstrap", R"({"token":"x","name":"root","password":"0123456789a"})"),
        401);
    EXPECT_EQ(ask("POST", "/api/bootstrap", order), 201) << body();
    EXPECT_EQ(text({"name"}), "root");
    EXPECT_EQ(ask("POST", "/api/bootstrap", order), 401);
    const auto fields = browser("root");
    EXPECT_EQ(header("Cache-Control"), "no-store");
    EXPECT_THAT(header("Set-Cookie"), AllOf(HasSubstr("; HttpOnly"), HasSubstr("; SameSite=Lax"),
                                            HasSubstr("; Path=/"), Not(HasSubstr("Max-Age"))));
    EXPECT_EQ(ask("GET", "/api/me", "", fields), 200);
    EXPECT_EQ(text({"name"}), "root");
    EXPECT_EQ(text({"csrf_token"}), fields[1].value);
    EXPECT_EQ(ask("POST", "/api/logout", "", {fields[0]}), 403) << "without the CSRF token";
    EXPECT_EQ(ask("POST", "/api/logout", "", fields), 204);
    EXPECT_THAT(header("Set-Cookie"), HasSubstr("Max-Age=0"));
    EXPECT_EQ(ask("GET", "/api/me", "", fields), 401);
}

TEST_F(AccountHandlersTest, AWrongPasswordIs401AndALockIs429WithItsTime) {
    first_admin();
    const std::string wrong = R"({"name":"root","password":"hush hush hush"})";
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(ask("POST", "/api/login", wrong), 401);
        EXPECT_EQ(text({"code"}), "access.login_failed");
        EXPECT_THAT(body(), Not(HasSubstr("hush")));
    }
    EXPECT_EQ(ask("POST", "/api/login", wrong), 429);
    EXPECT_EQ(header("Retry-After"), "900");
    EXPECT_EQ(text({"code"}), "access.locked");
}

TEST_F(AccountHandlersTest, ARememberedLoginHasACookieThatStays) {
    first_admin();
    EXPECT_EQ(
        ask("POST", "/api/login",
            R"({"name":"root","remember":true,"password":")" + std::string(kPassword) + "\"}"),
        200);
    EXPECT_THAT(header("Set-Cookie"), HasSubstr("Max-Age=2592000"));
}

TEST_F(AccountHandlersTest, BadBodiesAreToldByFieldAndRepeatNoSecret) {
    first_admin();
    EXPECT_EQ(ask("POST", "/api/login", "{"), 400);
    EXPECT_EQ(ask("POST", "/api/login", R"({"name":"root","password":hushhush})"), 400);
    EXPECT_THAT(body(), Not(HasSubstr("hushhush")));
    EXPECT_EQ(ask("POST", "/api/login", "[]"), 422);
    EXPECT_EQ(ask("POST", "/api/login", R"({"name":"root"})"), 422);
    EXPECT_THAT(body(), HasSubstr("/password"));
    EXPECT_EQ(ask("POST", "/api/login", R"({"name":"root","password":["hushhush"]})"), 422);
    EXPECT_THAT(body(), Not(HasSubstr("hushhush")));
    EXPECT_EQ(ask("POST", "/api/login", R"({"name":"r","password":"p","remember":"hushhush"})"),
              422);
    EXPECT_EQ(ask("POST", "/api/login", R"({"name":"root","password":"x","extra":1})"), 422);
    const auto fields = browser("root");
    EXPECT_EQ(ask("POST", "/api/users", R"({"name":"a","password":"hush"})", fields), 422);
    EXPECT_THAT(body(), AllOf(HasSubstr("too short"), Not(HasSubstr("hush"))));
    EXPECT_EQ(ask("POST", "/api/users", R"({"name":"a","grants":[{"role":"god"}]})", fields), 422);
    EXPECT_THAT(body(), HasSubstr("/grants/0/role"));
    EXPECT_EQ(ask("POST", "/api/users",
                  R"j({"name":"a","grants":[{"role":"admin","selector":"a=("}]})j", fields),
              422);
    EXPECT_THAT(body(), HasSubstr("/grants/0/selector"));
}

TEST_F(AccountHandlersTest, UsersAreMadeShownChangedListedAndRemoved) {
    first_admin();
    const auto root = browser("root");
    EXPECT_EQ(ask("POST", "/api/users",
                  R"({"name":"Alice","display":"A","password":"0123456789a",)"
                  R"("grants":[{"role":"operator","selector":"site = berlin"}]})",
                  root),
              201)
        << body();
    EXPECT_EQ(header("Location"), "/api/users/alice");
    EXPECT_EQ(header("ETag"), "\"v1\"");
    EXPECT_THAT(body(), AllOf(HasSubstr(R"("selector":"site=berlin")"), Not(HasSubstr("argon2")),
                              HasSubstr(R"("has_password":true)")));
    EXPECT_EQ(ask("POST", "/api/users", R"({"name":"alice"})", root), 409);
    EXPECT_EQ(ask("GET", "/api/users/ALICE", "", root), 200);
    EXPECT_EQ(ask("GET", "/api/users/nobody", "", root), 404);
    auto match = root;
    match.push_back({"If-Match", "\"v7\""});
    EXPECT_EQ(ask("PUT", "/api/users/alice", R"({"display":"B"})", match), 412);
    match.back().value = "\"v1\"";
    EXPECT_EQ(ask("PUT", "/api/users/alice", R"({"display":"B"})", match), 200) << body();
    EXPECT_EQ(header("ETag"), "\"v2\"");
    EXPECT_THAT(body(), HasSubstr(R"("role":"operator")")) << "what is not given stays";
    EXPECT_EQ(ask("PUT", "/api/users/root", R"({"disabled":true})", root), 409);
    EXPECT_EQ(text({"code"}), "access.last_admin");
    EXPECT_EQ(ask("GET", "/api/users?limit=1", "", root), 200);
    EXPECT_THAT(body(), AllOf(HasSubstr("alice"), Not(HasSubstr("root"))));
    EXPECT_EQ(ask("GET", "/api/users?limit=1&cursor=" + text({"next"}), "", root), 200) << body();
    EXPECT_THAT(body(), AllOf(HasSubstr("root"), Not(HasSubstr("next"))));
    EXPECT_EQ(ask("GET", "/api/users?cursor=nonsense", "", root), 400);
    EXPECT_EQ(ask("DELETE", "/api/users/alice", "", root), 204);
    EXPECT_EQ(ask("DELETE", "/api/users/alice", "", root), 404);
}

TEST_F(AccountHandlersTest, TokensAreShownOnceAndOnlyToTheirOwnersAndAdmins) {
    first_admin();
    ASSERT_TRUE(bench_.add("alice", {{Role::kViewer, ""}}));
    const auto alice = browser("alice");
    const auto root = browser("root");
    EXPECT_EQ(ask("POST", "/api/tokens",
                  R"({"name":"ci","scopes":["monitoring:read"],"expires":"2030-01-01T00:00:00Z"})",
                  alice),
              201)
        << body();
    EXPECT_EQ(header("Cache-Control"), "no-store");
    const std::string secret = text({"secret"});
    EXPECT_TRUE(access::is_token("plx_", secret));
    EXPECT_EQ(ask("POST", "/api/tokens", R"({"name":"x","expires":"tomorrow"})", alice), 422);
    EXPECT_EQ(ask("POST", "/api/tokens", R"({"name":"x","owner":"root"})", alice), 403);
    EXPECT_EQ(ask("POST", "/api/tokens", R"({"name":"of-root"})", root), 201);
    EXPECT_EQ(ask("GET", "/api/tokens", "", alice), 200);
    EXPECT_THAT(body(), AllOf(HasSubstr("\"ci\""), Not(HasSubstr("of-root")),
                              Not(HasSubstr(secret)), Not(HasSubstr(access::hash_secret(secret)))));
    EXPECT_EQ(ask("GET", "/api/tokens?owner=alice", "", root), 200);
    EXPECT_THAT(body(), AllOf(HasSubstr("\"ci\""), Not(HasSubstr("of-root"))));
    EXPECT_EQ(ask("GET", "/api/me", "", {{"X-API-Token", secret}}), 200);
    EXPECT_EQ(text({"owner"}), "alice");
    EXPECT_EQ(ask("GET", "/api/tokens", "", {{"X-API-Token", secret}}), 403) << "out of its scope";
    EXPECT_EQ(ask("DELETE", "/api/tokens/of-root", "", alice), 404);
    EXPECT_EQ(ask("DELETE", "/api/tokens/ci", "", alice), 204);
    EXPECT_EQ(ask("GET", "/api/me", "", {{"X-API-Token", secret}}), 401);
}

TEST_F(AccountHandlersTest, SessionsAreListedAndEnded) {
    first_admin();
    ASSERT_TRUE(bench_.add("alice", {}));
    const auto first = browser("alice");
    const auto second = browser("alice");
    const auto root = browser("root");
    EXPECT_EQ(ask("GET", "/api/users/root/sessions", "", first), 403);
    EXPECT_EQ(ask("GET", "/api/users/Alice/sessions", "", first), 200);
    EXPECT_THAT(body(), AllOf(HasSubstr(R"("current":true)"), HasSubstr(R"("current":false)"),
                              HasSubstr(R"("address":"192.0.2.9")"), Not(HasSubstr("hash"))));
    EXPECT_EQ(ask("DELETE", "/api/users/alice/sessions?id=none", "", first), 404);
    EXPECT_EQ(ask("DELETE", "/api/users/alice/sessions", "", first), 200);
    EXPECT_EQ(text({"ended"}), "1");
    EXPECT_EQ(ask("GET", "/api/me", "", second), 401);
    EXPECT_EQ(ask("DELETE", "/api/users/alice/sessions", "", root), 200);
    EXPECT_EQ(ask("GET", "/api/me", "", first), 401);
}

TEST_F(AccountHandlersTest, OnesOwnPasswordIsChangedWithTheOldOne) {
    first_admin();
    const auto here = browser("root");
    const auto there = browser("root");
    const std::string good = R"({"old_password":")" + std::string(kPassword) +
                             R"(","password":"another fine password"})";
    EXPECT_EQ(ask("POST", "/api/me/password",
                  R"({"old_password":"wrong","password":"another fine password"})", here),
              401);
    EXPECT_EQ(ask("POST", "/api/me/password", good, bearer("root", {.name = "t"})), 403);
    EXPECT_EQ(ask("POST", "/api/me/password", good, here), 204) << body();
    EXPECT_EQ(ask("GET", "/api/me", "", here), 200);
    EXPECT_EQ(ask("GET", "/api/me", "", there), 401);
}

// Every role, nobody, an expired token and one of a wrong scope, at every route.
TEST_F(AccountHandlersTest, RoleTimesRouteIsWhatTheTableSays) {
    first_admin();
    std::map<std::string, std::vector<net::HeaderField>> callers;
    callers["nobody"] = {};
    for (const Role role : access::kRoles) {
        const std::string name = "the-" + std::string(to_string(role));
        ASSERT_TRUE(bench_.add(name, {{role, ""}}));
        callers[std::string(to_string(role))] = bearer(name, {.name = name});
    }
    callers["expired"] = bearer("the-admin", {.name = "expired", .expires = bench_.wall + 1s});
    callers["scope"] = bearer("the-admin", {.name = "scoped", .scopes = {"jobs:write"}});
    ASSERT_TRUE(bench_.add("berlin", {{Role::kAdmin, "site=berlin"}}));
    callers["berlin"] = bearer("berlin", {.name = "berlin"});
    bench_.pass(2s);
    for (const Route& route : handlers_.routes()) {
        if (route.open) continue;
        for (const auto& [caller, fields] : callers) {
            std::string path(route.path);
            if (const auto at = path.find("{name}"); at != std::string::npos) {
                path.replace(at, 6, "nobody-there");
            }
            const int status = ask(std::string(route.method), path, "{}", fields);
            const std::string what =
                fmt::format("{} {} by {}: {}", route.method, path, caller, status);
            const bool manage = route.permission == access::Permission::kManage;
            const bool about_me = route.area == access::Area::kSystem;
            if (caller == "nobody" || caller == "expired") {
                EXPECT_EQ(status, 401) << what;
            } else if (caller == "scope") {
                EXPECT_EQ(status == 403, !about_me) << what;
            } else if (manage && caller != "admin" && !(caller == "berlin" && status == 422)) {
                EXPECT_EQ(status, 403) << what;
            } else {
                EXPECT_NE(status, 401) << what;
                EXPECT_NE(status, 500) << what;
            }
        }
    }
    // An admin of a part neither makes users nor changes them.
    EXPECT_EQ(ask("POST", "/api/users", R"({"name":"x"})", callers["berlin"]), 403);
    EXPECT_EQ(ask("DELETE", "/api/users/the-viewer", "", callers["berlin"]), 403);
    EXPECT_EQ(
        ask("PUT", "/api/users/berlin", R"({"grants":[{"role":"admin"}]})", callers["berlin"]),
        403);
}

}  // namespace
}  // namespace pollux::api
