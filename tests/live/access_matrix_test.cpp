// Who may do what: every operation of the served OpenAPI document, asked by every kind of person,
// against the running server. The table of what a role or scope gives is written down here again.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "tests/live/api_operations.hpp"
#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::UnorderedElementsAre;

constexpr const char* kFleet = R"(
devices:
  bonn-1: {address: 127.0.0.1, port: 9, labels: {site: bonn}, addons: [{name: http-json, params: {path: /, value_path: $.x}}]}
groups:
  bonn: {match: {site: bonn}}
)";

struct Person {
    std::string name;
    std::string user;  // its account
    std::vector<std::string> fields;
    std::set<std::string> permissions;  // of its role; empty: it is nobody
    std::string scope = {};             // of its token
    std::string address = {};           // limits by address are its own
};

const std::map<std::string, std::set<std::string>> kRoles = {
    {"viewer", {"read", "self"}},
    {"operator", {"read", "operate", "self"}},
    {"admin", {"read", "operate", "manage", "audit", "self"}},
    {"auditor", {"read", "audit", "self"}}};

// What a scope leaves, as docs/security.md has it.
bool scope_leaves(const std::string& scope, const ApiOperation& operation) {
    if (scope.empty() || scope == "*" || scope == "admin") return true;
    if (operation.permission == "self") return operation.area == "system";
    if (scope == "audit:read") return operation.area == "audit";
    if (operation.permission == "audit") return false;
    const std::string area = scope.substr(0, scope.find(':'));
    const bool reads = operation.permission == "read";
    if (operation.area == area) return reads || scope.ends_with(":write");
    if (area == "jobs") return false;
    if (operation.area == "fleet") return reads || scope == "settings:write";
    return operation.area == "system" && reads;
}

class AccessMatrix : public ApiStage {
  protected:
    void begin() {
        ASSERT_NO_FATAL_FAILURE(start(kFleet, {{"POLLUX_TRUSTED_PROXIES", "127.0.0.1/32"}}));
        ApiClient root = admin();
        const ApiAnswer document = root.get("/api/openapi.json");
        ASSERT_EQ(document.status, 200) << document.body;
        operations_ = api_operations(document.json());
        ASSERT_GT(operations_.size(), 40U);
    }
    Person person(const std::string& name, const std::string& user, const std::string& token,
                  std::set<std::string> permissions, std::string scope = "") {
        std::vector<std::string> fields;
        if (!token.empty()) fields.push_back("X-API-Token: " + token);
        return {name,
                user,
                fields,
                std::move(permissions),
                std::move(scope),
                fmt::format("192.0.2.{}", ++addresses_)};
    }
    // A request that finds nothing to change: a name that is not there, an empty body.
    ApiAnswer harmless(const Person& who, const ApiOperation& operation,
                       const std::vector<std::string>& more = {}) {
        ApiClient client(server_->api_address(), who.fields);
        std::vector<std::string> fields = more;
        // Those limits count the requests of all who come from one address.
        if (operation.rate == "auth" || operation.rate == "control") {
            fields.push_back("X-Forwarded-For: " + who.address);
        }
        if (operation.needs_if_match) fields.emplace_back("If-Match: \"v999999\"");
        const bool own =
            operation.permission == "self" && operation.path.starts_with("/api/users/");
        const std::string target = operation.target("http-json::nobody", own ? who.user : "nobody");
        return client.ask(operation.method, target, operation.takes_json ? "{}" : "", fields);
    }
    static void expect_allowed(const ApiAnswer& answer, const std::string& what) {
        const std::set<int> refused = {0, 401, 403, 405, 415, 428, 429};
        EXPECT_FALSE(refused.contains(answer.status) || answer.status >= 500)
            << what << ": " << answer.status << " " << answer.body << answer.problem;
    }
    void expect_as_told(const Person& who, const ApiOperation& operation) {
        const std::string what = who.name + ": " + operation.name();
        const ApiAnswer answer = harmless(who, operation);
        if (operation.open()) {
            EXPECT_TRUE(answer.status < 500 && answer.status != 403) << what << answer.body;
        } else if (who.permissions.empty()) {
            EXPECT_EQ(answer.status, 401) << what << " " << answer.body;
            EXPECT_FALSE(answer.header("www-authenticate").empty()) << what;
        } else if (who.permissions.contains(operation.permission) &&
                   scope_leaves(who.scope, operation)) {
            expect_allowed(answer, what);
        } else {
            EXPECT_EQ(answer.status, 403) << what << " " << answer.body;
        }
    }

    std::vector<ApiOperation> operations_;
    int addresses_ = 0;
};

TEST_F(AccessMatrix, EveryOperationAnswersEveryPersonAsItsPermissionSays) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    std::vector<Person> people = {person("nobody", "nobody", "", {})};
    for (const auto& [role, permissions] : kRoles) {
        ASSERT_EQ(root.post("/api/users", fmt::format(R"({{"name":"user-{0}","password":"{1}",)"
                                                      R"("grants":[{{"role":"{0}"}}]}})",
                                                      role, kAdminPassword))
                      .status,
                  201);
        const Session session = log_in("user-" + role, kAdminPassword);
        Person one = person(role, "user-" + role, "", permissions);
        one.fields = {session.cookie, session.csrf};
        people.push_back(std::move(one));
    }
    for (const char* scope :
         {"monitoring:read", "monitoring:write", "settings:read", "settings:write", "jobs:read",
          "jobs:write", "audit:read", "admin", "*"}) {
        std::string name = fmt::format("only-{}", people.size());
        const std::string token =
            new_token(name, "root", fmt::format(R"(,"scopes":["{}"])", scope));
        people.push_back(person(scope, "root", token, kRoles.at("admin"), scope));
    }
    // A scope adds nothing to what its owner may.
    people.push_back(person("viewer with settings:write", "user-viewer",
                            new_token("wish", "user-viewer", R"(,"scopes":["settings:write"])"),
                            kRoles.at("viewer"), "settings:write"));
    const std::string revoked = new_token("revoked", "root");
    ASSERT_EQ(root.ask("DELETE", "/api/tokens/revoked").status, 204);
    people.push_back(person("revoked", "root", revoked, {}));
    people.push_back(person("made up", "root", "plx_" + std::string(49, 'a'), {}));
    const auto soon = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
                      std::chrono::seconds(3);
    const std::time_t stamp = std::chrono::system_clock::to_time_t(soon);
    std::tm parts{};
    gmtime_r(&stamp, &parts);
    const std::string expires =
        fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                    parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    const std::string expired =
        new_token("expired", "root", fmt::format(R"(,"expires":"{}")", expires));
    ApiClient late = client_with(expired);
    ASSERT_TRUE(eventually([&] { return late.get("/api/me").status == 401; }));
    people.push_back(person("expired", "root", expired, {}));

    std::set<std::string> open;
    for (const ApiOperation& operation : operations_) {
        if (operation.open()) open.insert(operation.id);
        for (const Person& who : people) {
            // A session would end itself.
            const bool session = who.fields.size() == 2;
            if (session && operation.id == "logout") continue;
            expect_as_told(who, operation);
        }
    }
    // Nothing else is reachable without a login; the status page only while its setting is on.
    EXPECT_THAT(open, UnorderedElementsAre("bootstrap", "login", "getLive", "getReady",
                                           "getWelcome", "getStatusPage", "getStatusBadge"));
    // What was refused to somebody with a login is in the trail, with who and what.
    const auto refusals = trail({"--result", "refused", "--principal", "user:user-viewer"});
    EXPECT_GE(refusals.size(), 10U);
}

// An admin of one site has nothing to say about another, nor about what has no site.
TEST_F(AccessMatrix, AGrantForAnotherSiteReachesNothing) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const std::string token = new_user("berlin", R"([{"role":"admin","selector":"site=berlin"}])");
    ApiClient berlin = client_with(token);
    ApiClient root = admin();
    const std::string before = root.get("/api/devices").body + root.get("/api/targets").body +
                               root.get("/api/groups").body + root.get("/api/settings").body +
                               root.get("/api/users").body;
    for (const ApiOperation& operation : operations_) {
        if (operation.open() || operation.permission == "self") continue;
        const std::string name = operation.path.starts_with("/api/users/")    ? "root"
                                 : operation.path.starts_with("/api/groups/") ? "bonn"
                                                                              : "bonn-1";
        std::vector<std::string> fields;
        if (operation.needs_if_match) fields.emplace_back("If-Match: *");
        const ApiAnswer answer =
            berlin.ask(operation.method, operation.target("http-json::bonn-1", name),
                       operation.takes_json ? "{}" : "", fields);
        const std::string what = operation.name() + ": " + answer.body;
        if (operation.everywhere && operation.permission != "read") {
            EXPECT_EQ(answer.status, 403) << what;
        } else if (operation.has_parameter()) {
            EXPECT_THAT(answer.status, testing::AnyOf(403, 404)) << what;
        } else if (operation.safe()) {
            // 426: a WebSocket, asked for like a page.
            EXPECT_THAT(answer.status, testing::AnyOf(200, 403, 404, 426)) << what;
            EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("bonn-1"))) << what;
        } else if (operation.area != "monitoring") {  // those act on what may be seen: nothing
            EXPECT_THAT(answer.status, testing::AnyOf(403, 422)) << what;
        }
    }
    EXPECT_EQ(root.get("/api/devices").body + root.get("/api/targets").body +
                  root.get("/api/groups").body + root.get("/api/settings").body +
                  root.get("/api/users").body,
              before)
        << "nothing was changed";
}

TEST_F(AccessMatrix, ASessionChangesNothingWithoutItsOwnToken) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const Session session = log_in("root", kAdminPassword);
    const Session other = log_in("root", kAdminPassword);
    Person bare = person("cookie", "root", "", kRoles.at("admin"));
    bare.fields = {session.cookie};
    for (const ApiOperation& operation : operations_) {
        if (operation.open() || operation.id == "logout") continue;
        if (operation.safe()) {
            expect_allowed(harmless(bare, operation), operation.name());
            continue;
        }
        const ApiAnswer without = harmless(bare, operation);
        EXPECT_EQ(without.status, 403) << operation.name() << without.body;
        EXPECT_EQ(without.at("code"), "access.csrf") << operation.name();
        bare.address = fmt::format("198.51.100.{}", ++addresses_);
        EXPECT_EQ(harmless(bare, operation, {other.csrf}).status, 403) << operation.name();
        EXPECT_EQ(harmless(bare, operation, {"X-API-Token: " + root_token_}).status, 403)
            << operation.name() << ": an API token beside the cookie is no way around";
        bare.address = fmt::format("198.51.100.{}", ++addresses_);
        expect_allowed(harmless(bare, operation, {session.csrf}), operation.name());
    }
}

}  // namespace
}  // namespace pollux::live
