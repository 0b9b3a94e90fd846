#include "api/authenticator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/accounts_test_support.hpp"
#include "api/http_credentials.hpp"
#include "api/paging.hpp"

namespace pollux::api {
namespace {

using access::Grant;
using access::Permission;
using access::Role;
using test::kPassword;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class AuthenticatorTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(bench_.add("root", {{Role::kAdmin, ""}}));
        ASSERT_TRUE(bench_.add("alice", {{Role::kOperator, ""}}));
        token_ = bench_.token({.name = "ci"}, bench_.as_user("alice"))->secret.reveal();
        session_ = bench_.login("alice", kPassword)->secret.reveal();
        use({});
    }
    void use(config::Settings settings) {
        auto rules = make_access_rules(settings);
        ASSERT_TRUE(rules) << rules.error().message;
        authenticator_.set_rules(std::move(*rules));
    }
    net::Request request(std::string method, std::vector<net::HeaderField> headers,
                         std::string_view peer = "192.0.2.1") {
        net::Request one;
        one.method = std::move(method);
        one.path = "/api/targets";
        one.headers = std::move(headers);
        one.headers.push_back({"Host", "monitor.example.org"});
        one.peer = net::SocketAddress::parse(peer, 4711).value();
        return one;
    }
    // "token:ci", or status and code of the problem.
    std::string who(const net::Request& one, bool upgrade = false) {
        Route route{.method = "GET", .path = "/api/targets"};
        route.upgrade = upgrade;
        std::string text = "no answer";
        authenticator_.authenticate(one, route, [&](auto principal) {
            text = principal
                       ? audit_name(*principal)
                       : fmt::format("{} {}", principal.error().status, principal.error().code);
            if (principal) last_ = std::move(*principal);
            if (!principal) detail_ = principal.error().detail;
        });
        return text;
    }
    std::string cookie() { return "pollux_session=" + session_; }
    std::string csrf() { return access::csrf_token(session_); }

    test::AccountBench bench_;
    std::vector<model::AuditEntry> refusals_;
    AccountAuthenticator authenticator_{
        bench_.accounts(),
        {.wall = [this] { return bench_.wall; },
         .boot = [this] { return bench_.boot; },
         .refused = [this](model::AuditEntry entry) { refusals_.push_back(std::move(entry)); }},
        {1, 2}};
    std::string token_;
    std::string session_;
    access::Principal last_;
    std::string detail_;
};

TEST_F(AuthenticatorTest, KnowsEachKindOfCredential) {
    EXPECT_EQ(who(request("GET", {{"X-API-Token", token_}})), "token:ci");
    EXPECT_EQ(last_.address, "192.0.2.1");
    EXPECT_EQ(who(request("POST", {{"Authorization", "Bearer " + token_}})), "token:ci");
    EXPECT_EQ(who(request("GET", {{"Cookie", cookie()}})), "user:alice");
    EXPECT_EQ(last_.csrf, csrf());
    EXPECT_EQ(who(request("GET", {})), "401 access.unauthenticated");
    EXPECT_EQ(who(request("GET", {{"Authorization", "Basic YTpi"}})), "401 access.unauthenticated");
}

TEST_F(AuthenticatorTest, ATokenMayBeThePasswordOfBasic) {
    const auto basic = [](std::string_view user, std::string_view password) {
        std::string text = base64url(fmt::format("{}:{}", user, password));
        std::ranges::replace(text, '-', '+');
        std::ranges::replace(text, '_', '/');
        return net::HeaderField{"Authorization", "Basic " + text};
    };
    EXPECT_EQ(who(request("GET", {basic("alice", token_)})), "token:ci");
    EXPECT_EQ(who(request("POST", {basic("ci", token_)})), "token:ci");
    EXPECT_EQ(who(request("GET", {basic("root", token_)})), "401 access.basic");
    std::string other = token_;
    other.back() = other.back() == '_' ? '-' : '_';
    EXPECT_EQ(who(request("GET", {basic("alice", other)})), "401 access.unauthenticated");
    EXPECT_EQ(who(request("GET", {basic("alice", kPassword)})), "401 access.unauthenticated")
        << "the password of a user is for logging in";
    EXPECT_EQ(who(request("GET", {basic("proxy", "gate"), {"Cookie", cookie()}})), "user:alice")
        << "what a proxy in front asks for";
    EXPECT_EQ(who(request("POST", {basic("alice", token_), {"Origin", "https://evil.example"}})),
              "403 access.origin");
    bench_.wait<base::Status>(
        [&](auto done) { bench_.accounts().revoke_token(bench_.admin(), "ci", std::move(done)); });
    EXPECT_EQ(who(request("GET", {basic("alice", token_), {"Cookie", cookie()}})),
              "401 access.token");
}

TEST_F(AuthenticatorTest, AWrongTokenIsNeverSavedByACookie) {
    bench_.wait<base::Status>(
        [&](auto done) { bench_.accounts().revoke_token(bench_.admin(), "ci", std::move(done)); });
    for (const auto& header :
         {net::HeaderField{"X-API-Token", token_}, net::HeaderField{"X-API-Token", ""},
          net::HeaderField{"X-API-Token", "nonsense"},
          net::HeaderField{"Authorization", "Bearer " + token_},
          net::HeaderField{"Authorization", "Bearer"}}) {
        EXPECT_EQ(who(request("GET", {header, {"Cookie", cookie()}})), "401 access.token");
        EXPECT_THAT(detail_, Not(HasSubstr(token_)));
    }
}

TEST_F(AuthenticatorTest, AnExpiredTokenAndAnExpiredSessionAre401) {
    const auto soon =
        bench_.token({.name = "soon", .expires = bench_.wall + 1h}, bench_.as_user("alice"));
    bench_.pass(1h);
    EXPECT_EQ(who(request("GET", {{"X-API-Token", soon->secret.reveal()}})),
              "401 access.token_expired");
    bench_.pass(24h);
    EXPECT_EQ(who(request("GET", {{"Cookie", cookie()}})), "401 access.session");
    EXPECT_EQ(who(request("GET", {{"Cookie", "pollux_session=x"}})), "401 access.session");
}

TEST_F(AuthenticatorTest, ATokenInAUrlIsRefusedAndNotRepeated) {
    for (const std::string& query : {"token=" + token_, "q=" + token_, std::string("api_key=1")}) {
        net::Request one = request("GET", {{"Cookie", cookie()}});
        one.query = query;
        EXPECT_EQ(who(one), "400 access.token_in_url") << query;
        EXPECT_THAT(detail_, Not(HasSubstr(token_)));
    }
    net::Request socket = request("GET", {});
    socket.query = "token=" + token_;
    EXPECT_EQ(who(socket, true), "token:ci");
    socket.query = "token=nonsense";
    EXPECT_EQ(who(socket, true), "401 access.token");
    socket.query = "api_token=" + token_;
    EXPECT_EQ(who(socket, true), "400 access.token_in_url");
}

TEST_F(AuthenticatorTest, ChangesWithACookieNeedTheTokenOfTheSession) {
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        EXPECT_EQ(who(request(method, {{"Cookie", cookie()}})), "403 access.csrf");
        EXPECT_EQ(who(request(method, {{"Cookie", cookie()}, {"X-CSRF-Token", "wrong"}})),
                  "403 access.csrf");
        EXPECT_EQ(who(request(method, {{"Cookie", cookie()}, {"X-API-Token", token_}})),
                  "403 access.csrf")
            << "also beside an API token";
        EXPECT_EQ(who(request(method, {{"Cookie", cookie()}, {"X-CSRF-Token", csrf()}})),
                  "user:alice");
        EXPECT_EQ(
            who(request(method,
                        {{"Cookie", cookie()}, {"X-CSRF-Token", csrf()}, {"X-API-Token", token_}})),
            "token:ci");
        EXPECT_EQ(who(request(method, {{"X-API-Token", token_}})), "token:ci");
    }
    const std::string other = bench_.login("alice", kPassword)->secret.reveal();
    EXPECT_EQ(
        who(request("POST", {{"Cookie", cookie()}, {"X-CSRF-Token", access::csrf_token(other)}})),
        "403 access.csrf")
        << "the token of another session of the same user";
}

TEST_F(AuthenticatorTest, AWebSocketWithACookieComesFromOurOwnPages) {
    const auto socket = [&](std::string origin) {
        return who(request("GET", {{"Cookie", cookie()}, {"Origin", std::move(origin)}}), true);
    };
    EXPECT_EQ(socket("https://monitor.example.org"), "user:alice");
    EXPECT_EQ(socket("http://monitor.example.org:80"), "user:alice");
    EXPECT_EQ(socket("https://evil.example.org"), "403 access.origin");
    EXPECT_EQ(socket("https://monitor.example.org.evil.org"), "403 access.origin");
    EXPECT_EQ(socket("null"), "403 access.origin");
    EXPECT_EQ(who(request("GET", {{"Cookie", cookie()}}), true), "user:alice");
}

// A proxy that does not pass on Host: the browser's own word counts, and only if it is that word.
TEST_F(AuthenticatorTest, AWebSocketBehindAProxyIsBelievedByWhatTheBrowserSaw) {
    const auto socket = [&](std::string site) {
        return who(request("GET", {{"Cookie", cookie()},
                                   {"Origin", "https://outside.example.org"},
                                   {"Sec-Fetch-Site", std::move(site)}}),
                   true);
    };
    EXPECT_EQ(socket("same-origin"), "user:alice");
    for (const char* other : {"same-site", "cross-site", "none", "", "SAME-ORIGIN, cross-site"}) {
        EXPECT_EQ(socket(other), "403 access.origin") << other;
    }
}

TEST_F(AuthenticatorTest, TwoCredentialsOfAKindAreRefused) {
    EXPECT_EQ(who(request("GET", {{"X-API-Token", token_}, {"x-api-token", token_}})),
              "400 access.ambiguous");
    EXPECT_EQ(
        who(request("GET", {{"Authorization", "Bearer " + token_}, {"Authorization", "Basic x"}})),
        "400 access.ambiguous");
    EXPECT_EQ(who(request("GET", {{"Cookie", cookie() + "; " + cookie()}})),
              "400 access.ambiguous");
}

TEST_F(AuthenticatorTest, OverTlsOnlyTheCookieOfTheHostCounts) {
    net::Request one = request("GET", {{"Cookie", cookie()}});
    one.secure = true;
    EXPECT_EQ(who(one), "401 access.unauthenticated");
    one.headers[0].value = "__Host-" + cookie();
    EXPECT_EQ(who(one), "user:alice");
    one.secure = false;
    EXPECT_EQ(who(one), "401 access.unauthenticated");
}

TEST_F(AuthenticatorTest, AProxyLogsInFromItsAddressOnly) {
    const std::vector<net::HeaderField> as_bob = {{"X-Forwarded-User", "Bob"}};
    EXPECT_EQ(who(request("GET", as_bob, "10.0.0.1")), "401 access.unauthenticated") << "off";
    config::Settings settings;
    settings.proxy_auth_header.text = "X-Forwarded-User";
    settings.proxy_auth_from = {"10.0.0.1"};
    settings.proxy_auth_group_header.text = "X-Groups";
    settings.proxy_auth_groups.items = {{"wheel", "admin"}, {"watch", "auditor"}};
    use(settings);
    EXPECT_EQ(who(request("GET", as_bob, "10.0.0.2")), "401 access.unauthenticated");
    EXPECT_EQ(who(request("GET", as_bob, "10.0.0.1")), "proxy:bob");
    EXPECT_EQ(last_.grants, (std::vector<Grant>{{Role::kViewer, ""}}));
    EXPECT_EQ(who(request("GET", {{"X-Forwarded-User", ""}}, "10.0.0.1")),
              "401 access.unauthenticated");
    EXPECT_EQ(who(request("GET", {{"X-Forwarded-User", "a b"}}, "10.0.0.1")),
              "401 access.user_name");
    EXPECT_EQ(who(request("GET", {as_bob[0], as_bob[0]}, "10.0.0.1")), "400 access.ambiguous");
    EXPECT_EQ(who(request("GET", {as_bob[0], {"X-Groups", "users, Watch"}}, "10.0.0.1")),
              "proxy:bob");
    EXPECT_EQ(last_.grants, (std::vector<Grant>{{Role::kAuditor, ""}}));
    // Somebody who has an account has its grants, whatever the groups say.
    EXPECT_EQ(
        who(request("GET", {{"X-Forwarded-User", "alice"}, {"X-Groups", "wheel"}}, "10.0.0.1")),
        "proxy:alice");
    EXPECT_EQ(last_.grants, (std::vector<Grant>{{Role::kOperator, ""}}));
    ASSERT_TRUE(bench_.edit("alice", {.disabled = true}));
    EXPECT_EQ(who(request("GET", {{"X-Forwarded-User", "alice"}}, "10.0.0.1")),
              "401 access.disabled");
    // A page of somebody else makes the browser send what the proxy turns into a login.
    EXPECT_EQ(who(request("POST", {as_bob[0], {"Origin", "https://evil.org"}}, "10.0.0.1")),
              "403 access.origin");
    EXPECT_EQ(who(request("POST", as_bob, "10.0.0.1")), "proxy:bob");
}

TEST_F(AuthenticatorTest, HealthIsOpenToThisMachineOnlyWhenItIsSet) {
    const auto health = [&](std::string method, std::string path, std::string_view peer,
                            std::vector<net::HeaderField> headers, std::string host) {
        net::Request one = request(std::move(method), std::move(headers), peer);
        one.path = std::move(path);
        one.headers.back().value = std::move(host);
        return who(one);
    };
    const std::string path(kHealthPath);
    const std::string no = "401 access.unauthenticated";
    EXPECT_EQ(health("GET", path, "127.0.0.1", {}, "localhost:7655"), no);
    config::Settings settings;
    settings.anonymous_health = config::AnonymousHealth::kLoopback;
    use(settings);
    EXPECT_EQ(health("GET", path, "127.0.0.1", {}, "localhost:7655"), "anonymous");
    EXPECT_TRUE(access::may(last_, Permission::kRead));
    for (const Permission other :
         {Permission::kOperate, Permission::kManage, Permission::kAudit, Permission::kSelf}) {
        EXPECT_FALSE(access::may(last_, other));
    }
    EXPECT_EQ(health("HEAD", path, "::1", {}, "[::1]:7655"), "anonymous");
    EXPECT_EQ(health("GET", path, "127.0.0.1", {}, "127.0.0.1:7655"), "anonymous");
    EXPECT_EQ(health("GET", path, "192.0.2.1", {}, "localhost"), no);
    EXPECT_EQ(health("POST", path, "127.0.0.1", {}, "localhost"), no);
    EXPECT_EQ(health("GET", "/api/monitoring/dlq", "127.0.0.1", {}, "localhost"), no);
    EXPECT_EQ(health("GET", path + "/x", "127.0.0.1", {}, "localhost"), no);
    EXPECT_EQ(health("GET", path, "127.0.0.1", {{"X-Forwarded-For", "1.1.1.1"}}, "localhost"), no);
    EXPECT_EQ(health("GET", path, "127.0.0.1", {}, "evil.example.org"), no)
        << "a name that somebody made point here";
    EXPECT_EQ(health("GET", path, "127.0.0.1", {}, "localhost:7655.evil.org"), no);
}

TEST_F(AuthenticatorTest, LimitsCountByPrincipalElseByTheClientBehindTheProxy) {
    config::Settings settings;
    settings.trusted_proxies = {"10.0.0.0/8"};
    use(settings);
    Route route{.method = "POST", .path = "/x"};
    route.rate = access::RateClass::kControl;
    access::Principal alice{.name = "alice", .kind = "user"};
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(authenticator_.check_rate(alice, request("POST", {}), route).admitted);
    }
    EXPECT_FALSE(authenticator_.check_rate(alice, request("POST", {}), route).admitted);
    access::Principal nobody;
    const auto behind = [&](const char* address) {
        return authenticator_
            .check_rate(nobody, request("POST", {{"X-Forwarded-For", address}}, "10.0.0.1"), route)
            .admitted;
    };
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(behind(i % 2 ? "2001:db8::1" : "2001:db8::2"));
    EXPECT_FALSE(behind("2001:db8::3")) << "one /64 is one client";
    EXPECT_TRUE(behind("2001:db8:1::1"));
}

TEST_F(AuthenticatorTest, RefusedChangesAreTold) {
    Route route{.method = "POST", .path = "/api/targets"};
    route.operation = "createTarget";
    const access::Principal alice{.name = "alice", .kind = "user"};
    const auto refuse = [&](std::string method) {
        authenticator_.refused({.principal = alice,
                                .request = request(std::move(method), {}),
                                .route = route,
                                .object = "ping::a",
                                .request_id = "r1",
                                .code = "access.forbidden"});
    };
    refuse("GET");
    EXPECT_TRUE(refusals_.empty());
    refuse("POST");
    ASSERT_EQ(refusals_.size(), 1u);
    EXPECT_EQ(refusals_[0].principal, "user:alice");
    EXPECT_EQ(refusals_[0].action, "createTarget") << "without a name for the trail";
    EXPECT_EQ(refusals_[0].object, "ping::a");
    EXPECT_EQ(refusals_[0].request_id, "r1");
    EXPECT_EQ(refusals_[0].after, "access.forbidden");
    EXPECT_EQ(refusals_[0].result, model::AuditResult::kRefused);
    route.audit_action = "target.create";
    refuse("POST");
    EXPECT_EQ(refusals_.back().action, "target.create") << "as one that was done";
}

// Who is logged in is to learn that a page of others sends requests in their name; without a live
// session nobody is named.
TEST_F(AuthenticatorTest, AForgedRequestIsRecordedForTheUserOfTheSession) {
    Route route{.method = "POST", .path = "/api/targets"};
    const access::Principal nobody{.name = "anonymous"};
    const auto refused = [&](std::vector<net::HeaderField> headers, std::string_view code) {
        authenticator_.refused({.principal = nobody,
                                .request = request("POST", std::move(headers)),
                                .route = route,
                                .object = "/api/targets",
                                .request_id = "r1",
                                .code = code});
        return refusals_.back().principal;
    };
    EXPECT_EQ(refused({{"Cookie", cookie()}}, "access.csrf"), "user:alice");
    EXPECT_EQ(refusals_.back().after, "access.csrf");
    EXPECT_EQ(refused({{"Cookie", "pollux_session=x"}}, "access.csrf"), "anonymous");
    EXPECT_EQ(refused({{"Cookie", cookie()}}, "access.token"), "anonymous")
        << "the wrong token says nothing about the session";
    EXPECT_EQ(refused({}, "access.unauthenticated"), "anonymous");
    // It is no use of the session: what others send must not keep it alive.
    bench_.pass(23h);
    EXPECT_EQ(refused({{"Cookie", cookie()}}, "access.csrf"), "user:alice");
    bench_.pass(2h);
    EXPECT_EQ(refused({{"Cookie", cookie()}}, "access.csrf"), "anonymous");
    EXPECT_EQ(who(request("GET", {{"Cookie", cookie()}})), "401 access.session");
}

TEST(AccessRules, RolesOfSettingsAreThoseOfAccess) {
    ASSERT_EQ(config::kAccessRoleNames.size(), access::kRoleNames.size());
    for (std::size_t i = 0; i < access::kRoleNames.size(); ++i) {
        EXPECT_EQ(config::kAccessRoleNames[i], access::kRoleNames[i]);
        config::Settings settings;
        settings.proxy_auth_role = static_cast<config::ProxyRole>(i);
        EXPECT_EQ(to_string(make_access_rules(settings)->proxy_role), access::kRoleNames[i]);
    }
    config::Settings settings;
    settings.session_hours = 8;
    EXPECT_EQ(make_access_rules(settings)->sessions.idle, 8h);
    EXPECT_EQ(make_access_rules(settings)->sessions.remembered, 720h);
}

}  // namespace
}  // namespace pollux::api
