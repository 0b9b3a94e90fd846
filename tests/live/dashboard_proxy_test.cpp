// The dashboard as browsers reach it: directly, and through a real nginx that puts it below a path,
// with the lines of docs/dashboard-hosting.md.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "net/test_nginx.hpp"
#include "net/websocket_client.hpp"
#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using net::test::free_port;
using testing::HasSubstr;
using testing::Not;

class DashboardProxy : public ApiStage {
  protected:
    void begin() {
        ASSERT_NO_FATAL_FAILURE(
            start("devices: {}\n", {{"POLLUX_TRUSTED_PROXIES", "127.0.0.1/32"}}));
        const net::test::TestCertificate certificate =
            net::test::make_self_signed(proxy_folder_, "proxy", 10);
        const std::string forward = R"(
            proxy_http_version 1.1;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            proxy_read_timeout 1h;)";
        const std::string places = fmt::format(
            "location /mon/ {{ rewrite ^ $request_uri; rewrite ^/mon(/.*) $1 break; return 400; "
            "proxy_pass http://{0}$uri; proxy_set_header Host $http_host; {1} }}\n"
            "location /bare/ {{ proxy_pass http://{0}/; {1} }}\n"
            "location /named/ {{ proxy_pass http://{0}/; proxy_set_header X-Forwarded-Host "
            "$http_host; {1} }}\n",
            server_->api_address(), forward);
        nginx_ = std::make_unique<net::test::Nginx>(
            proxy_folder_,
            fmt::format("map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}\n"
                        "server {{ listen 127.0.0.1:{0}; {2} }}\n"
                        "server {{ listen 127.0.0.1:{1} ssl; ssl_certificate {3}; "
                        "ssl_certificate_key {4}; {2} }}\n",
                        plain_, secure_, places, certificate.certificate, certificate.key),
            plain_);
    }
    ApiClient browser(std::vector<std::string> fields = {}) const {
        return ApiClient(fmt::format("127.0.0.1:{}", plain_), std::move(fields));
    }
    // Logs in through the proxy, as the page does.
    Session session_through(const std::string& prefix) {
        ApiClient page = browser();
        const ApiAnswer answer =
            page.post(prefix + "api/login",
                      fmt::format(R"({{"name":"root","password":"{}"}})", kAdminPassword));
        EXPECT_EQ(answer.status, 200) << answer.body << answer.problem;
        const std::string cookie = answer.header("set-cookie");
        EXPECT_THAT(cookie, HasSubstr("; Path=/;"));
        return {"Cookie: " + cookie.substr(0, cookie.find(';')),
                "X-CSRF-Token: " + answer.at("csrf_token")};
    }
    base::Result<std::unique_ptr<net::WebSocketClient>> follow(
        const std::string& prefix, const Session& session,
        std::vector<std::pair<std::string, std::string>> fields) const {
        net::WebSocketTarget target;
        target.url = fmt::format("http://127.0.0.1:{}{}ws", plain_, prefix);
        target.patience = kLong;
        target.headers = std::move(fields);
        target.headers.emplace_back("Cookie", session.cookie.substr(8));
        return net::WebSocketClient::connect(target);
    }
    std::string own_origin() const { return fmt::format("http://127.0.0.1:{}", plain_); }

    net::test::TempDir proxy_folder_;
    std::uint16_t plain_ = free_port();
    std::uint16_t secure_ = free_port();
    std::unique_ptr<net::test::Nginx> nginx_;
};

TEST_F(DashboardProxy, PagesAssetsLoginAndEventsWorkBelowAPath) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient page = browser();
    EXPECT_EQ(page.get("/mon").status, 301) << "nginx adds the slash";
    const ApiAnswer index = page.get("/mon/");
    EXPECT_EQ(index.status, 200);
    EXPECT_EQ(index.header("content-type"), "text/html; charset=utf-8");
    EXPECT_THAT(index.header("content-security-policy"), HasSubstr("script-src 'self'"));
    EXPECT_THAT(index.body, Not(HasSubstr("src=\"/")));
    EXPECT_THAT(index.body, Not(HasSubstr("href=\"/")));
    // Whatever the page names is there, below the same path.
    std::size_t at = 0;
    std::size_t assets = 0;
    while ((at = index.body.find("assets/", at)) != std::string::npos) {
        const std::size_t end = index.body.find_first_of("\"' ", at);
        const ApiAnswer asset = page.get("/mon/" + index.body.substr(at, end - at));
        EXPECT_EQ(asset.status, 200) << index.body.substr(at, end - at);
        EXPECT_THAT(asset.header("cache-control"), HasSubstr("immutable"));
        at = end;
        ++assets;
    }
    EXPECT_GT(assets, 0U) << index.body;
    EXPECT_EQ(page.ask("GET", "/mon/", "", {"If-None-Match: " + index.header("etag")}).status, 304);
    EXPECT_EQ(page.get("/mon/api/welcome").body,
              R"({"needs_bootstrap":false,"status_page":false})");
    EXPECT_EQ(page.get("/mon/api/me").status, 401);
    EXPECT_EQ(page.get("/mon/api/docs").status, 401);

    const Session session = session_through("/mon/");
    ApiClient user = browser({session.cookie});
    EXPECT_EQ(user.get("/mon/api/me").at("name"), "root");
    EXPECT_THAT(user.get("/mon/api/docs").body, Not(HasSubstr("href=\"/")));
    EXPECT_EQ(user.post("/mon/api/tokens", R"({"name":"t"})").status, 403) << "without the token";
    EXPECT_EQ(user.post("/mon/api/tokens", R"({"name":"t"})", {session.csrf}).status, 201);

    const auto events = follow("/mon/", session, {{"Origin", own_origin()}});
    ASSERT_TRUE(events) << events.error().message;
    const auto hello = (*events)->receive(kLong);
    ASSERT_TRUE(hello && *hello);
    EXPECT_THAT(**hello, HasSubstr("\"connected\""));
    EXPECT_FALSE(follow("/mon/", session, {{"Origin", "http://evil.example"}}));
    // The trail has the address of the browser, not of the proxy.
    ASSERT_EQ(user.ask("POST", "/mon/api/tokens", R"({"name":"far"})",
                       {session.csrf, "X-Forwarded-For: 192.0.2.77"})
                  .status,
              201);
    const ApiAnswer trail = admin().get("/api/audit?action=token.create&limit=1");
    EXPECT_EQ(trail.at("items.0.address"), "192.0.2.77") << trail.body;
    EXPECT_THAT(trail.at("items.0.object"), HasSubstr("far")) << trail.body;
}

TEST_F(DashboardProxy, AProxyThatForgetsTheHostIsToldSoAndBrowsersAreBelieved) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const Session session = session_through("/bare/");
    const auto refused = follow("/bare/", session, {{"Origin", own_origin()}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("must pass on the field Host"));
    EXPECT_TRUE(
        follow("/bare/", session, {{"Origin", own_origin()}, {"Sec-Fetch-Site", "same-origin"}}));
    EXPECT_FALSE(follow("/bare/", session,
                        {{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}}));
    EXPECT_TRUE(follow("/named/", session, {{"Origin", own_origin()}}))
        << "a trusted proxy says which host it was";
    ApiClient user = browser({session.cookie});
    EXPECT_EQ(user.post("/bare/api/tokens", R"({"name":"t"})", {session.csrf}).status, 201);
}

TEST_F(DashboardProxy, OverTlsTheCookieIsSecureAndLiveEventsAreOpened) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const std::string url = fmt::format("https://127.0.0.1:{}/mon/", secure_);
    const CommandResult login = shell(fmt::format(
        "curl -sk -D - -o /dev/null -H 'Content-Type: application/json' -d '{}' {}api/login",
        fmt::format(R"({{"name":"root","password":"{}"}})", kAdminPassword), url));
    ASSERT_EQ(login.code, 0) << login.output;
    EXPECT_THAT(login.output, HasSubstr("; Secure"));
    const std::size_t begin = login.output.find("__Host-pollux_session=");
    ASSERT_NE(begin, std::string::npos) << login.output;
    const std::string cookie = login.output.substr(begin, login.output.find(';', begin) - begin);
    // It stays open until curl gives up; the head is what counts.
    const CommandResult events = shell(fmt::format(
        "curl -sk -i -N --http1.1 --max-time 3 -H 'Cookie: {}' -H 'Origin: https://127.0.0.1:{}' "
        "-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' "
        "-H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' {}ws | head -c 12; true",
        cookie, secure_, url));
    EXPECT_THAT(events.output, HasSubstr("101")) << events.output;
}

TEST_F(DashboardProxy, HostileRequestsForFilesGetNothing) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient nobody = stranger();
    for (const char* path :
         {"/assets/..%2f..%2fetc%2fpasswd", "/assets/../../etc/passwd", "/assets/%2e%2e/index.html",
          "/assets/..%5c..%5cwindows", "/assets/%c0%ae%c0%ae/x", "/index.html%00", "/assets/",
          "/.git/config", "/assets/index.js.map", "/status/../api/users"}) {
        const ApiAnswer answer = nobody.get(path);
        EXPECT_EQ(answer.status, 404) << path;
        EXPECT_THAT(answer.header("content-type"), HasSubstr("problem+json")) << path;
    }
    for (const std::string& coding :
         {std::string("br;q=1.0.0"), std::string("gzip;q=-1"), std::string("*;q=0"),
          std::string(4000, ','), std::string(";;;;=;,;"), std::string("identity;q=0")}) {
        const ApiAnswer answer = nobody.ask("GET", "/", "", {"Accept-Encoding: " + coding});
        EXPECT_EQ(answer.status, 200) << coding;
        EXPECT_EQ(answer.header("content-encoding"), "") << coding;
        EXPECT_THAT(answer.body, HasSubstr("<!doctype html>")) << coding;
    }
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
        EXPECT_EQ(nobody.ask(method, "/", "{}").status, 405) << method;
    }
    EXPECT_EQ(nobody.ask("HEAD", "/").status, 200);
}

}  // namespace
}  // namespace pollux::live
