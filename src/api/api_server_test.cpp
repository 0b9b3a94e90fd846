#include "api/api_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "api/api_test_support.hpp"
#include "api/etag.hpp"
#include "net/test_process.hpp"

namespace pollux::api {
namespace {

using test::Client;
using test::Reply;
using test::Stage;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kAdmin = "X-API-Token: admin\r\n";
constexpr const char* kViewer = "X-API-Token: viewer\r\n";
constexpr const char* kJson = "X-API-Token: admin\r\nContent-Type: application/json\r\n";

std::atomic<int> acts = 0;

std::vector<Route> routes() {
    const auto hello = [](Call call) {
        call.json(200, R"({"name":")" + call.principal.name + R"("})");
    };
    return {
        {.method = "GET", .path = "/live", .open = true, .handler = hello},
        {.method = "GET",
         .path = "/api/things/{key}",
         .query = {limit_parameter()},
         .handler =
             [](Call call) {
                 call.etag = etag_of(7);
                 call.json(200, R"({"key":")" + std::string(call.parameter("key")) + R"("})");
             }},
        {.method = "PUT",
         .path = "/api/things/{key}",
         .permission = access::Permission::kManage,
         .request_schema = "{}",
         .needs_if_match = true,
         .handler =
             [](Call call) {
                 if (auto problem = check_if_match(call, etag_of(7))) return call.problem(*problem);
                 call.etag = etag_of(8);
                 call.json(200, "{}");
             }},
        {.method = "POST",
         .path = "/api/acts",
         .permission = access::Permission::kManage,
         .request_schema = "{}",
         .body_limit = 100,
         .handler = [](Call call) { call.json(201, fmt::format("{{\"act\":{}}}", ++acts)); }},
        {.method = "POST",
         .path = "/api/tokens",
         .request_schema = "{}",
         .secret_answer = true,
         .handler = [](Call call) { call.json(201, R"({"token":"shown-once"})"); }},
        {.method = "GET", .path = "/api/free", .rate = access::RateClass::kNone, .handler = hello},
        {.method = "GET", .path = "/api/dropped", .handler = [](Call) {}},
        {.method = "GET",
         .path = "/api/large/{size}",
         .handler =
             [](Call call) {
                 const std::size_t size = std::strtoul(call.parameters[0].c_str(), nullptr, 10);
                 call.etag = etag_of(1);
                 call.json(200, "\"" + std::string(size, 'x') + "\"");
             }},
        {.method = "GET",
         .path = "/api/elsewhere",
         .handler =
             [](Call call) {
                 std::thread([one = std::move(call)]() mutable { one.json(200, "{}"); }).detach();
             }},
    };
}

TEST(ApiServer, AnswersWithIdTraceAndSafeFields) {
    Stage stage(routes());
    const Reply reply =
        stage.ask("GET", "/api/things/pve%3A%3An1",
                  "X-API-Token: admin\r\nX-Request-Id: abc-1\r\n"
                  "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
                  "Origin: http://evil.example\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, R"({"key":"pve::n1"})");
    EXPECT_EQ(reply.field("content-type"), "application/json");
    EXPECT_EQ(reply.field("x-request-id"), "abc-1");
    EXPECT_THAT(reply.field("traceparent"),
                testing::StartsWith("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
    EXPECT_THAT(reply.field("traceparent"), Not(HasSubstr("00f067aa0ba902b7")));
    EXPECT_EQ(reply.field("x-content-type-options"), "nosniff");
    EXPECT_EQ(reply.field("cache-control"), "no-store");
    EXPECT_EQ(reply.field("referrer-policy"), "no-referrer");
    EXPECT_THAT(reply.field("content-security-policy"), HasSubstr("default-src 'none'"));
    EXPECT_EQ(reply.field("x-ratelimit-limit"), "1000");
    EXPECT_EQ(reply.field("x-ratelimit-remaining"), "999");
    EXPECT_EQ(reply.field("x-ratelimit-reset"), "60");
    for (const auto& [name, value] : reply.fields) {
        EXPECT_FALSE(name.starts_with("access-control")) << name;
    }
    const Reply other =
        stage.ask("GET", "/api/free", "X-API-Token: admin\r\nX-Request-Id: a b\r\n");
    EXPECT_EQ(other.field("x-request-id").size(), 16U);
    EXPECT_EQ(other.field("x-ratelimit-limit"), "");
    EXPECT_NE(stage.ask("GET", "/live").field("x-request-id"), other.field("x-request-id"));
}

TEST(ApiServer, KnowsPathsAndMethods) {
    Stage stage(routes());
    const Reply unknown = stage.ask("GET", "/api/nothing", kAdmin);
    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(unknown.field("content-type"), "application/problem+json");
    EXPECT_THAT(unknown.body, HasSubstr(unknown.field("x-request-id")));
    const Reply wrong = stage.ask("DELETE", "/api/things/a", kAdmin);
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(wrong.field("allow"), "GET, HEAD, PUT, OPTIONS");
    const Reply options = stage.ask("OPTIONS", "/api/things/a");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.field("allow"), "GET, HEAD, PUT, OPTIONS");
    const Reply head = stage.ask("HEAD", "/api/things/a", kAdmin);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("content-length"), "11");
    EXPECT_EQ(stage.ask("GET", "/api/things/%2e%2e", kAdmin).status, 404);
    EXPECT_EQ(stage.ask("GET", "/api/things/..", kAdmin).status, 404);
}

TEST(ApiServer, AsksWhoItIsAndWhatTheyMay) {
    Stage stage(routes());
    EXPECT_EQ(stage.ask("GET", "/live").status, 200);
    EXPECT_EQ(stage.ask("GET", "/api/free").status, 401);
    EXPECT_EQ(stage.ask("GET", "/api/free", "X-API-Token: wrong\r\n").status, 401);
    EXPECT_EQ(stage.ask("GET", "/api/free", kViewer).status, 200);
    EXPECT_EQ(stage.ask("GET", "/api/free", "X-API-Token: later-viewer\r\n").body,
              R"({"name":"viewer"})");
    EXPECT_EQ(stage.ask("POST", "/api/acts", kViewer, "{}").status, 403);
    // Who may not is told so before the body is looked at.
    EXPECT_EQ(stage.ask("POST", "/api/acts", "", "{").status, 401);
    stage.server->stop();
    // Without a login too: the authenticator decides what is kept of it.
    const std::vector<std::string> turned_away = {
        "anonymous access.unauthenticated /api/free", "anonymous access.unauthenticated /api/free",
        "viewer access.forbidden /api/acts", "anonymous access.unauthenticated /api/acts"};
    EXPECT_EQ(stage.authenticator.refusals(), turned_away);
}

TEST(ApiServer, WhatIsTurnedAwayIsNamedAsTheTrailNamesIt) {
    std::vector<Route> table;
    const auto add = [&](std::string_view path, std::string_view operation,
                         std::string_view object) {
        Route route{.method = "POST", .path = path};
        route.permission = access::Permission::kManage;
        route.operation = operation;
        route.audit_object = object;
        route.handler = [](Call call) { call.json(200, "{}"); };
        table.push_back(std::move(route));
    };
    add("/api/breakers/{key}/reset", "a", "");
    add("/api/jobs/{id}/cancel", "b", "job {id}");
    add("/api/breakers/reset", "c", "*");
    add("/api/plain", "d", "");
    Stage stage(std::move(table));
    for (const char* path : {"/api/breakers/pve%3A%3An1/reset", "/api/jobs/7/cancel",
                             "/api/breakers/reset", "/api/plain"}) {
        EXPECT_EQ(stage.ask("POST", path, kViewer).status, 403) << path;
    }
    // What comes too often is not looked at, so it cannot fill the trail.
    stage.server->loop().post([&] { stage.authenticator.set_left(0); });
    EXPECT_EQ(stage.ask("POST", "/api/plain").status, 429);
    stage.server->stop();
    EXPECT_EQ(stage.authenticator.refusals(),
              (std::vector<std::string>{
                  "viewer access.forbidden pve::n1", "viewer access.forbidden job 7",
                  "viewer access.forbidden *", "viewer access.forbidden /api/plain"}));
}

TEST(ApiServer, RefusesWhatComesTooOften) {
    Stage stage(routes());
    stage.server->loop().post([&] { stage.authenticator.set_left(2); });
    EXPECT_EQ(stage.ask("GET", "/api/dropped", kAdmin).status, 500);
    const Reply reply = stage.ask("GET", "/api/things/a", kAdmin);
    EXPECT_EQ(reply.status, 429);
    EXPECT_EQ(reply.field("retry-after"), "60");
    EXPECT_EQ(reply.field("x-ratelimit-remaining"), "0");
    EXPECT_EQ(stage.ask("GET", "/api/things/a").status, 429);  // guessing tokens is limited too
    EXPECT_EQ(stage.ask("GET", "/api/free", kAdmin).status, 200);
}

TEST(ApiServer, ChecksQueryAndBody) {
    Stage stage(routes());
    const Reply query = stage.ask("GET", "/api/things/a?limit=5&colour=red", kAdmin);
    EXPECT_EQ(query.status, 400);
    EXPECT_THAT(query.body, HasSubstr(R"("errors":[{"parameter":"colour")"));
    EXPECT_EQ(stage.ask("POST", "/api/acts", kAdmin, "{}").status, 415);
    EXPECT_EQ(
        stage.ask("POST", "/api/acts", "X-API-Token: admin\r\nContent-Type: text/plain\r\n", "{}")
            .status,
        415);
    EXPECT_EQ(
        stage
            .ask("POST", "/api/acts",
                 "X-API-Token: admin\r\nContent-Type: Application/JSON ; charset=utf-8\r\n", "{}")
            .status,
        201);
    EXPECT_EQ(stage.ask("POST", "/api/acts", kJson, std::string(101, ' ')).status, 413);
}

TEST(ApiServer, ErrorsOfTheProtocolAreProblemsToo) {
    Stage stage(routes());
    const auto raw = [&](const std::string& text) {
        Client client(stage.server->addresses()[0]);
        client.send(text);
        const Reply reply = client.reply();
        EXPECT_EQ(reply.field("content-type"), "application/problem+json") << text.substr(0, 60);
        EXPECT_EQ(reply.field("x-content-type-options"), "nosniff");
        EXPECT_FALSE(reply.field("x-request-id").empty());
        EXPECT_THAT(reply.body, HasSubstr(fmt::format("\"status\":{}", reply.status)));
        return reply.status;
    };
    EXPECT_EQ(raw("NONSENSE\r\n\r\n"), 400);
    EXPECT_EQ(raw("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(raw("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
    EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), 431);
    EXPECT_EQ(raw("GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n"), 414);
    EXPECT_EQ(raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"), 413);
    EXPECT_EQ(raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
    EXPECT_EQ(raw("POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n"), 417);
}

TEST(ApiServer, TimesOutAsAProblem) {
    ApiServerOptions options;
    options.http.handler_timeout = std::chrono::milliseconds(50);
    options.http.head_timeout = std::chrono::milliseconds(50);
    std::vector<Call> kept;
    std::vector<Route> table = routes();
    table.push_back({.method = "GET", .path = "/api/never", .handler = [&](Call call) {
                         kept.push_back(std::move(call));
                     }});
    Stage stage(std::move(table), options);
    const Reply late = stage.ask("GET", "/api/never", kAdmin);
    EXPECT_EQ(late.status, 503);
    EXPECT_THAT(late.body, HasSubstr("\"code\":\"http.503\""));
    Client slow(stage.server->addresses()[0]);
    slow.send("GET / HTTP/1.1\r\n");
    EXPECT_EQ(slow.reply().status, 408);
    stage.server->stop();
    kept.clear();
}

TEST(ApiServer, AnswersADroppedCallAndOneFromAnotherThread) {
    Stage stage(routes());
    const Reply dropped = stage.ask("GET", "/api/dropped", kAdmin);
    EXPECT_EQ(dropped.status, 500);
    EXPECT_THAT(dropped.body, HasSubstr("api.dropped"));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(stage.ask("GET", "/api/elsewhere", kAdmin).status, 200);
    }
}

TEST(ApiServer, CompressesWhatIsWorthIt) {
    Stage stage(routes());
    const std::string fields = "X-API-Token: admin\r\nAccept-Encoding: gzip\r\n";
    EXPECT_EQ(stage.ask("GET", "/api/large/100", fields).field("content-encoding"), "");
    EXPECT_EQ(stage.ask("GET", "/api/large/5000", kAdmin).field("content-encoding"), "");
    for (const std::size_t size : {std::size_t{5000}, std::size_t{3'000'000}}) {
        const Reply reply = stage.ask("GET", fmt::format("/api/large/{}", size), fields);
        EXPECT_EQ(reply.field("content-encoding"), "gzip");
        EXPECT_EQ(reply.field("vary"), "Accept-Encoding");
        EXPECT_EQ(reply.field("etag"), "\"v1-gzip\"");
        EXPECT_LT(reply.body.size(), size / 10);
        net::test::TempDir folder;
        const std::string path = folder.write("page.gz", reply.body);
        net::test::Process process({"gzip", "-dc", path}, folder);
        EXPECT_TRUE(process.wait_for_end());
        EXPECT_EQ(process.output(), "\"" + std::string(size, 'x') + "\"");
    }
    EXPECT_EQ(stage.ask("GET", "/api/large/5000", fields + "If-None-Match: \"v1-gzip\"\r\n").status,
              304);
}

TEST(ApiServer, ReadsAndWritesByVersion) {
    Stage stage(routes());
    EXPECT_EQ(stage.ask("GET", "/api/things/a", kAdmin).field("etag"), "\"v7\"");
    const Reply same = stage.ask("GET", "/api/things/a",
                                 "X-API-Token: admin\r\nIf-None-Match: \"v6\", W/\"v7\"\r\n");
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.field("etag"), "\"v7\"");
    EXPECT_EQ(stage.ask("PUT", "/api/things/a", kJson, "{}").status, 428);
    const std::string json = kJson;
    EXPECT_EQ(stage.ask("PUT", "/api/things/a", json + "If-Match: \"v6\"\r\n", "{}").status, 412);
    const Reply changed = stage.ask("PUT", "/api/things/a", json + "If-Match: \"v7\"\r\n", "{}");
    EXPECT_EQ(changed.status, 200);
    EXPECT_EQ(changed.field("etag"), "\"v8\"");
    // What compares no version says so, before it does anything.
    const int before = acts;
    const Reply other = stage.ask("POST", "/api/acts", json + "If-Match: \"v7\"\r\n", "{}");
    EXPECT_EQ(other.status, 400);
    EXPECT_THAT(other.body, testing::HasSubstr("api.if_match"));
    EXPECT_EQ(acts, before);
}

TEST(ApiServer, DoesAnActWithAKeyOnce) {
    Stage stage(routes());
    const std::string fields = std::string(kJson) + "Idempotency-Key: k1\r\n";
    const int before = acts;
    const Reply first = stage.ask("POST", "/api/acts", fields, "{}");
    const Reply second = stage.ask("POST", "/api/acts", fields, "{}");
    EXPECT_EQ(acts, before + 1);
    EXPECT_EQ(first.field("idempotency-replayed"), "");
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(second.field("idempotency-replayed"), "true");
    EXPECT_NE(second.field("x-request-id"), first.field("x-request-id"));
    EXPECT_EQ(stage.ask("POST", "/api/acts", fields, "{ }").status, 422);
    EXPECT_EQ(stage.ask("POST", "/api/acts", std::string(kJson) + "Idempotency-Key: a b\r\n", "{}")
                  .status,
              400);
    EXPECT_EQ(
        stage.ask("POST", "/api/acts", std::string(kJson) + "Idempotency-Key: k2\r\n", "{}").status,
        201);
    EXPECT_EQ(acts, before + 2);
}

TEST(ApiServer, DoesNotKeepSecretsForAReplay) {
    Stage stage(routes());
    const std::string fields = std::string(kJson) + "Idempotency-Key: k1\r\n";
    EXPECT_THAT(stage.ask("POST", "/api/tokens", fields, "{}").body, HasSubstr("shown-once"));
    const Reply second = stage.ask("POST", "/api/tokens", fields, "{}");
    EXPECT_EQ(second.status, 409);
    EXPECT_THAT(second.body, Not(HasSubstr("shown-once")));
}

TEST(ApiServer, CountsAndLogsRequests) {
    Stage stage(routes());
    stage.ask("GET", "/api/things/a?limit=1", kAdmin);
    stage.ask("GET", "/api/things/b?limit=secret", kAdmin);
    stage.ask("BREW", "/api/pot", kAdmin);
    stage.ask("GET", "/api/dropped", kAdmin);
    std::string page;
    observe::MetricWriter writer(page);
    stage.server->metrics().write(writer);
    EXPECT_THAT(page, HasSubstr("pulse_http_requests_total{method=\"GET\",route=\"/api/things/"
                                "{key}\",status=\"200\"} 1\n"));
    EXPECT_THAT(
        page,
        HasSubstr(
            "pulse_http_requests_total{method=\"other\",route=\"unmatched\",status=\"404\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pulse_http_request_errors_total{method=\"GET\",route=\"/api/"
                                "things/{key}\",status_class=\"client_error\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pulse_http_request_errors_total{method=\"GET\",route=\"/api/"
                                "dropped\",status_class=\"server_error\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pulse_http_request_duration_seconds_bucket{method=\"GET\",route="
                                "\"/api/things/{key}\",status=\"200\",le=\"0.05\"}"));
    EXPECT_THAT(stage.lines.text(), HasSubstr("path=/api/things/a"));
    EXPECT_THAT(stage.lines.text(), Not(HasSubstr("limit")));
    EXPECT_THAT(stage.lines.text(), Not(HasSubstr("secret")));
    EXPECT_THAT(stage.lines.text(), HasSubstr("level=warn"));
}

TEST(ApiServer, SpeaksTls) {
    const net::TlsIdentity identity = net::make_self_signed({}).value();
    ApiServerOptions options;
    options.tls = identity;
    Stage stage(routes(), options);
    net::test::TempDir folder;
    const std::string authority = folder.write("ca.pem", identity.certificate);
    net::test::Process curl({"curl", "-sS", "--max-time", "60", "--cacert", authority,
                             "https://" + stage.server->addresses()[0].to_string() + "/live"},
                            folder);
    EXPECT_TRUE(curl.wait_for_end());
    EXPECT_EQ(curl.output(), R"({"name":"anonymous"})");
}

TEST(ApiServer, StaysOnLoopbackUnlessTold) {
    test::LogLines lines(observe::LogLevel::kInfo);
    ApiServerOptions options;
    options.listen = {net::SocketAddress::ipv4(0, 0)};
    const auto server = ApiServer::create(options, lines.log).value();
    test::FakeAuthenticator authenticator(server->loop());
    const base::Status started = server->start(Router::create(routes()).value(), authenticator);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("reachable from outside"));
}

}  // namespace
}  // namespace pollux::api
