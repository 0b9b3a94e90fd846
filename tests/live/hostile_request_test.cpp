// Requests that nobody of good will sends: paths, bodies, methods and floods, over all operations
// of the served OpenAPI document.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "document/write.hpp"
#include "tests/live/api_operations.hpp"
#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::AnyOf;
using testing::HasSubstr;

class HostileRequest : public ApiStage {
  protected:
    void begin() {
        ASSERT_NO_FATAL_FAILURE(
            start("devices: {}\n", {{"POLLUX_TRUSTED_PROXIES", "127.0.0.1/32"}}));
        ApiClient root = admin();
        operations_ = api_operations(root.get("/api/openapi.json").json());
        ASSERT_GT(operations_.size(), 40U);
    }
    // With addresses and tokens of their own: limits are not what is tested here.
    std::vector<std::string> fresh(const ApiOperation& operation) {
        std::vector<std::string> fields = {"X-API-Token: " + root_token_};
        if (operation.rate == "auth" || operation.rate == "control") {
            if (uses_++ % 9 == 0) {
                ApiClient root = admin();
                if (!used_.empty()) root.ask("DELETE", "/api/tokens/" + used_);
                used_ = fmt::format("fresh-{}", uses_);
                token_ = new_token(used_, "root");
            }
            fields = {"X-API-Token: " + token_,
                      fmt::format("X-Forwarded-For: 10.0.{}.{}", uses_ / 250, uses_ % 250)};
        }
        if (operation.needs_if_match) fields.emplace_back("If-Match: \"v1\"");
        return fields;
    }
    ApiAnswer send(const ApiOperation& operation, const std::string& body,
                   const std::string& type = "application/json") {
        std::vector<std::string> fields = fresh(operation);
        fields.push_back("Content-Type: " + type);
        ApiClient client(server_->api_address());
        return client.ask(operation.method, operation.target("http-json::nobody", "nobody"), body,
                          fields);
    }
    bool alive() {
        ApiClient nobody = stranger();
        return nobody.get("/api/ready").status == 200;
    }

    std::vector<ApiOperation> operations_;
    int uses_ = 0;
    std::string used_;  // name of the token of this turn
    std::string token_;
};

TEST_F(HostileRequest, BodiesThatAreTooLargeMalformedOrOfAnotherKindAreRefusedByName) {
    ASSERT_NO_FATAL_FAILURE(begin());
    for (const ApiOperation& operation : operations_) {
        if (!operation.takes_json) continue;
        SCOPED_TRACE(operation.name());
        // Clients of Alertmanager know 400 and lists: its part of the API answers as it does.
        const bool alertmanager = operation.path.starts_with("/api/v2/");
        const std::string large = R"({"reason":")" + std::string(operation.body_limit, 'x') + "\"}";
        EXPECT_EQ(send(operation, large).status, 413);
        for (const char* broken : {"{", "[1,2", "{\"a\":}", "\x01", "{\"a\":1}{\"b\":2}", "nul"}) {
            const ApiAnswer answer = send(operation, broken);
            // What is not there may be told first.
            EXPECT_THAT(answer.status, AnyOf(400, 404)) << broken << " " << answer.body;
        }
        const ApiAnswer deep = send(operation, std::string(5000, '['));
        EXPECT_THAT(deep.status, AnyOf(400, 404)) << deep.body;
        for (const char* wrong : {"[]", "7", "\"text\"", "null"}) {
            if (alertmanager && std::string_view(wrong) == "[]") continue;  // no alerts at all
            const ApiAnswer answer = send(operation, wrong);
            EXPECT_THAT(answer.status, AnyOf(400, 404, 422)) << wrong << " " << answer.body;
        }
        const bool named = operation.request_example.find("name") != nullptr;
        const ApiAnswer unknown =
            send(operation, named ? R"({"name":"x","no_such_field":1})" : R"({"no_such_field":1})");
        if (alertmanager) {
            EXPECT_EQ(unknown.status, 400) << unknown.body;
        } else if (operation.path.ends_with("/preview")) {
            // What is wrong is what it answers.
            EXPECT_EQ(unknown.at("errors.0.pointer"), "/no_such_field") << unknown.body;
        } else {
            EXPECT_THAT(unknown.status, AnyOf(404, 422)) << unknown.body;
        }
        if (unknown.status == 422) {
            const Node body = unknown.json();
            const Node* errors = body.find("errors");
            ASSERT_NE(errors, nullptr) << unknown.body;
            EXPECT_NE(entry_with(*errors, "pointer", "/no_such_field"), nullptr) << unknown.body;
        }
        for (const char* type : {"text/plain", "application/x-www-form-urlencoded",
                                 "multipart/form-data", "application/jsonp"}) {
            EXPECT_EQ(send(operation, "{}", type).status, 415) << type;
        }
    }
    EXPECT_TRUE(alive());
}

TEST_F(HostileRequest, PathsThatClimbOrAreEncodedTwiceLeadNowhere) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    for (const char* path : {"/api/../etc/passwd",
                             "/api/%2e%2e/%2e%2e/etc/passwd",
                             "/../../etc/passwd",
                             "/api/docs/../../../etc/passwd",
                             "/api/targets/..%2f..%2fetc%2fpasswd",
                             "/api/targets/%2e%2e",
                             "/api/targets/.",
                             "/api/users/%252e%252e",
                             "/api//users",
                             "/api/users/",
                             "/api/%75sers%00",
                             "/api/users/%00",
                             "/api/users/%ff",
                             "/api/users/%zz",
                             "/api/users/%",
                             "/%2e%2e%2fstate.db",
                             "/state.db",
                             "/.git/config",
                             "/api/targets/http-json%253A%253Anobody",
                             "/api/users/root%0d%0aX-Evil:%201",
                             "//api/users",
                             "/api\\users",
                             "/API/USERS",
                             "/api/users;x=1",
                             "/api/users%3f"}) {
        const ApiAnswer answer = root.get(path);
        EXPECT_THAT(answer.status, AnyOf(400, 404)) << path << " " << answer.body;
        EXPECT_EQ(answer.header("content-type"), "application/problem+json") << path;
        EXPECT_EQ(answer.header("x-evil"), "") << path;
        EXPECT_THAT(answer.body, testing::Not(HasSubstr("root:x:"))) << path;
    }
    // A key is decoded once, never twice.
    EXPECT_EQ(root.get("/api/%75sers").status, 200) << "an escape of a plain letter is that letter";
    EXPECT_EQ(root.get("/api/users?no_such=1").status, 400);
    EXPECT_EQ(root.get("/api/users?limit=0").status, 400);
    EXPECT_EQ(root.get("/api/users?limit=99999999999999999999").status, 400);
    EXPECT_EQ(root.get("/api/users?cursor=forged").status, 400);
    EXPECT_EQ(root.get("/api/" + std::string(9000, 'a')).status / 100, 4);
    EXPECT_EQ(root.ask("GET", "/api/users", "", {"X-Long: " + std::string(20000, 'b')}).status,
              431);
    EXPECT_TRUE(alive());
}

TEST_F(HostileRequest, AWrongMethodIsToldWhichAreRight) {
    ASSERT_NO_FATAL_FAILURE(begin());
    std::map<std::string, std::set<std::string>> methods;
    for (const ApiOperation& operation : operations_) {
        methods[operation.target("http-json::nobody", "nobody")].insert(operation.method);
    }
    ApiClient root = admin();
    for (auto& [path, taken] : methods) {
        if (taken.contains("GET")) taken.insert("HEAD");
        for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"}) {
            if (taken.contains(method)) continue;
            const ApiAnswer answer = root.ask(method, path);
            EXPECT_THAT(answer.status, AnyOf(405, 501, 400)) << method << " " << path;
            if (answer.status != 405) continue;
            const std::string allow = answer.header("allow");
            for (const std::string& one : taken) {
                EXPECT_THAT(allow, HasSubstr(one)) << method << " " << path;
            }
        }
        const ApiAnswer options = root.ask("OPTIONS", path);
        EXPECT_EQ(options.status, 204) << path;
        EXPECT_EQ(options.header("access-control-allow-origin"), "") << path;
    }
}

TEST_F(HostileRequest, WhereNoVersionIsComparedIfMatchIsAnError) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    std::size_t asked = 0;
    for (const ApiOperation& operation : operations_) {
        if (operation.safe() || operation.takes_if_match) continue;
        const bool shown = operation.takes_json && !operation.request_example.is_null();
        std::string body;
        if (shown) body = document::to_json(operation.request_example);
        const ApiAnswer answer =
            root.ask(operation.method, operation.target("http-json::nobody", "nobody"), body,
                     {"If-Match: \"v1\""});
        EXPECT_GE(answer.status, 400) << operation.name() << answer.body;
        if (!shown && operation.takes_json) continue;  // its missing body is told first
        EXPECT_EQ(answer.at("code"), "api.if_match") << operation.name() << answer.body;
        ++asked;
    }
    EXPECT_GT(asked, 30U);
}

TEST_F(HostileRequest, AChangeNeedsTheVersionItStartsFrom) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    ASSERT_EQ(root.post("/api/groups", R"({"name":"lab","match":{"site":"lab"}})").status, 201);
    const std::string etag = root.get("/api/groups/lab").header("etag");
    ASSERT_FALSE(etag.empty());
    const std::string body = R"({"match":{"site":"other"}})";
    EXPECT_EQ(root.put("/api/groups/lab", body).status, 428);
    EXPECT_EQ(root.put("/api/groups/lab", body, {"If-Match: \"v77\""}).status, 412);
    EXPECT_EQ(root.put("/api/groups/lab", body, {"If-Match: nonsense"}).status, 412);
    const ApiAnswer changed = root.put("/api/groups/lab", body, {"If-Match: " + etag});
    ASSERT_EQ(changed.status, 200) << changed.body;
    EXPECT_NE(changed.header("etag"), etag);
    EXPECT_EQ(root.put("/api/groups/lab", body, {"If-Match: " + etag}).status, 412) << "stale";
    for (const ApiOperation& operation : operations_) {
        if (!operation.needs_if_match) continue;
        const ApiAnswer missing =
            root.ask(operation.method, operation.target("http-json::nobody", "nobody"), "{}");
        EXPECT_EQ(missing.status, 428) << operation.name() << missing.body;
    }
    // Settings and users: not asked for, but held to when given.
    const std::string settings = root.get("/api/settings").header("etag");
    ASSERT_EQ(root.put("/api/settings", R"({"global_rate":77})", {"If-Match: " + settings}).status,
              200);
    EXPECT_EQ(root.put("/api/settings", R"({"global_rate":78})", {"If-Match: " + settings}).status,
              412);
    const std::string user = root.get("/api/users/root").header("etag");
    ASSERT_EQ(root.put("/api/users/root", R"({"display":"R"})", {"If-Match: " + user}).status, 200);
    EXPECT_EQ(root.put("/api/users/root", R"({"display":"S"})", {"If-Match: " + user}).status, 412);
    EXPECT_EQ(root.ask("DELETE", "/api/users/root", "", {"If-Match: " + user}).status, 412);
    ASSERT_EQ(root.post("/api/targets", R"({"addon":"tcp-port","device":"lab-1","spec":{"port":1},)"
                                        R"("device_spec":{"address":"127.0.0.1"}})")
                  .status,
              201);
    const std::string target = root.get("/api/targets/tcp-port::lab-1").header("etag");
    ASSERT_EQ(
        root.put("/api/targets/tcp-port::lab-1", R"({"port":2})", {"If-Match: " + target}).status,
        200);
    EXPECT_EQ(
        root.ask("DELETE", "/api/targets/tcp-port::lab-1", "", {"If-Match: " + target}).status,
        412);
    EXPECT_EQ(root.get("/api/targets/tcp-port::lab-1").status, 200);
    EXPECT_EQ(
        root.ask("GET", "/api/groups/lab", "", {"If-None-Match: " + changed.header("etag")}).status,
        304);
}

TEST_F(HostileRequest, FiveFailedLoginsLockTheUserAndTheAddress) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    ASSERT_EQ(root.post("/api/users", R"({"name":"bob","password":"another good one"})").status,
              201);
    const auto login = [&](const std::string& name, const std::string& password,
                           const std::string& from) {
        ApiClient client(server_->api_address(), {"X-Forwarded-For: " + from});
        return client.post("/api/login",
                           fmt::format(R"({{"name":"{}","password":"{}"}})", name, password));
    };
    ASSERT_EQ(login("bob", "another good one", "203.0.113.1").status, 200);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(login("bob", "a wrong password", fmt::format("203.0.113.{}", 10 + i)).status,
                  401);
    }
    const ApiAnswer locked = login("bob", "another good one", "203.0.113.20");
    EXPECT_EQ(locked.status, 429) << "also with the right password, from anywhere";
    const int wait = std::atoi(locked.header("retry-after").c_str());
    EXPECT_TRUE(wait > 800 && wait <= 900) << wait;
    // An address that guesses at many users is locked for all of them.
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(login(fmt::format("guess-{}", i), "a wrong password", "203.0.113.99").status,
                  401);
    }
    EXPECT_EQ(login("root", kAdminPassword, "203.0.113.99").status, 429);
    EXPECT_EQ(login("root", kAdminPassword, "203.0.113.98").status, 200);
    EXPECT_EQ(root.get("/api/me").status, 200) << "tokens go on";
}

TEST_F(HostileRequest, EachClassOfRoutesHasItsLimit) {
    ASSERT_NO_FATAL_FAILURE(begin());
    struct Row {
        const char* rate;
        int limit;
        const char* method;
        const char* path;
        const char* body;
    };
    const Row rows[] = {{"auth", 10, "POST", "/api/me/password", "{}"},
                        {"control", 10, "POST", "/api/monitoring/dlq/retry", "{}"},
                        {"config-write", 30, "DELETE", "/api/tokens/nobody", ""},
                        {"general", 500, "GET", "/api/me", ""},
                        {"public", 1000, "GET", "/api/live", ""}};
    int address = 0;
    for (const Row& row : rows) {
        SCOPED_TRACE(row.rate);
        const auto found = std::ranges::find_if(operations_, [&](const ApiOperation& one) {
            return one.method == row.method && one.target("", "nobody") == std::string(row.path) &&
                   one.rate == row.rate;
        });
        ASSERT_NE(found, operations_.end()) << "the document says another class";
        ApiClient client(server_->api_address(),
                         {"X-API-Token: " + new_token(fmt::format("limit-{}", ++address), "root"),
                          fmt::format("X-Forwarded-For: 198.51.100.{}", address)});
        int admitted = 0;
        ApiAnswer answer;
        for (int i = 0; i <= row.limit; ++i) {
            answer = client.ask(row.method, row.path, row.body);
            if (answer.status == 429) break;
            ++admitted;
            ASSERT_EQ(answer.header("x-ratelimit-limit"), std::to_string(row.limit));
        }
        EXPECT_EQ(admitted, row.limit);
        EXPECT_EQ(answer.status, 429);
        EXPECT_GE(std::atoi(answer.header("retry-after").c_str()), 1);
        EXPECT_EQ(answer.header("x-ratelimit-remaining"), "0");
    }
    ApiClient root = admin();
    EXPECT_EQ(root.get("/api/me").status, 200) << "others go on";
}

}  // namespace
}  // namespace pollux::live
