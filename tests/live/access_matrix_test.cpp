// Who may do what: every operation of the served OpenAPI document, asked by every kind of person,
// against the running server. What an operation asks for is written down in api_access_table.cpp,
// and what a role or scope gives is written down here again.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "document/write.hpp"
#include "tests/live/api_access_table.hpp"
#include "tests/live/api_operations.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"

namespace pollux::live {
namespace {

using document::Node;

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
    // `settings` are of the fleet file, before its devices.
    void begin(const std::string& settings = "") {
        ASSERT_NO_FATAL_FAILURE(
            start(settings + kFleet, {{"POLLUX_TRUSTED_PROXIES", "127.0.0.1/32"}}));
        ApiClient root = admin();
        const ApiAnswer document = root.get("/api/openapi.json");
        ASSERT_EQ(document.status, 200) << document.body;
        operations_ = api_operations(document.json());
        ASSERT_GT(operations_.size(), 160U);
        take_table();
    }
    // From here on the table of the tests says what an operation asks for, not the server.
    void take_table() {
        std::set<std::string> gone;
        for (const auto& [id, access] : api_access()) gone.insert(id);
        for (ApiOperation& one : operations_) {
            gone.erase(one.id);
            const auto known = api_access().find(one.id);
            ASSERT_NE(known, api_access().end())
                << one.name() << ": write \"" << one.id << "\" into api_access_table.cpp";
            const ApiAccess& access = known->second;
            EXPECT_EQ((ApiAccess{one.permission, one.area, one.rate, one.everywhere}), access)
                << one.name() << " asks for " << one.permission << " in " << one.area << " ("
                << one.rate << (one.everywhere ? ", everywhere" : "") << "), not for "
                << access.permission << " in " << access.area << " (" << access.rate
                << (access.everywhere ? ", everywhere)" : ")");
            one.permission = access.permission;
            one.area = access.area;
            one.rate = access.rate;
            one.everywhere = access.everywhere;
            EXPECT_TRUE(one.safe() || one.permission != "read" || unsafe_reads().contains(one.id))
                << one.name() << " changes something for everybody who may read";
        }
        EXPECT_TRUE(gone.empty()) << *gone.begin() << " is no operation any more";
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

    for (const ApiOperation& operation : operations_) {
        // Nothing else is reachable without a login; the status page only while its setting is on.
        EXPECT_EQ(operation.open(), open_operations().contains(operation.id)) << operation.name();
        for (const Person& who : people) {
            // A session would end itself.
            const bool session = who.fields.size() == 2;
            if (session && operation.id == "logout") continue;
            expect_as_told(who, operation);
        }
    }
    // What was refused to somebody with a login is in the trail, with who and what.
    const auto refusals = trail({"--result", "refused", "--principal", "user:user-viewer"});
    EXPECT_GE(refusals.size(), 10U);
}

// What is asked about the other site by a method that changes something, and what comes of it.
// `ALERT` is the id of its alert.
struct Reach {
    std::string body;
    int status = 0;
};

const std::map<std::string, Reach> kReaches = {
    {"resetBreakers", {R"({"reason":"mine","keys":["http-json::bonn-1"]})", 403}},
    {"retryDeadLetters", {R"({"reason":"mine"})", 403}},
    // What may not be seen is unknown, as if it was not there.
    {"changeAlerts", {R"({"verb":"resolve","ids":["ALERT"]})", 200}},
    {"createSilence",
     {R"({"name":"mine","match":["site=\"bonn\""],"until":"2096-01-02T03:04:05Z","owner":"b",)"
      R"("reason":"mine"})",
      403}},
    {"v2PostAlerts", {R"([{"labels":{"alertname":"Fire","site":"bonn"}}])", 403}},
    {"v2PostSilence",
     {R"({"matchers":[{"name":"site","value":"bonn","isRegex":false,"isEqual":true}],)"
      R"("startsAt":"2026-01-02T03:04:05Z","endsAt":"2096-01-02T03:04:05Z","createdBy":"b",)"
      R"("comment":"mine"})",
      403}},
};

class AnotherSite : public AccessMatrix {
  protected:
    // A device of bonn that is a dead letter with an alert, a silence and a job that waits.
    void begin_in_bonn() {
        ASSERT_NO_FATAL_FAILURE(begin(addon_settings("interval: {min: 4s, base: 4s, max: 4s}")));
        ApiClient root = admin();
        ASSERT_TRUE(eventually([&] {
            return root.get("/api/monitoring/dlq").at("count") == "1" &&
                   root.get("/api/alerts").at("items.0.device_name") == "bonn-1" &&
                   !root.get("/api/incidents").at("items.0.id").empty();
        })) << root.get("/api/alerts").body;
        const ApiAnswer silence = root.post(
            "/api/silences", R"({"name":"bonn-1","match":["site=\"bonn\"","device=\"bonn-9\""],)"
                             R"("until":"2096-01-02T03:04:05Z","owner":"root","reason":"disks"})");
        ASSERT_EQ(silence.status, 201) << silence.body;
        const ApiAnswer job = root.post("/api/jobs", R"({"name":"upkeep","jobs":[{"name":"bonn-1",)"
                                                     R"("type":"maintenance","hold":true,)"
                                                     R"("labels":{"site":"bonn"}}]})");
        ASSERT_EQ(job.status, 201) << job.body;
        names_ = {{"/api/users/", "root"},
                  {"/api/groups/", "bonn"},
                  {"/api/alerts/", root.get("/api/alerts").at("items.0.id")},
                  {"/api/incidents/", root.get("/api/incidents").at("items.0.id")},
                  {"/api/v2/silence/", silence.at("id")},
                  {"/api/jobs/", job.at("ids.0")},
                  {"/api/job-batches/", job.at("batch")}};
    }
    std::string name_for(const ApiOperation& operation) const {
        for (const auto& [path, name] : names_) {
            if (operation.path.starts_with(path)) return name;
        }
        return "bonn-1";
    }
    // What nobody but people may change.
    std::string all_there_is() {
        ApiClient root = admin();
        std::string text = root.get("/api/devices").body + root.get("/api/groups").body +
                           root.get("/api/settings").body + root.get("/api/users").body +
                           root.get("/api/silences").body + root.get("/api/v2/silences").body;
        const auto fields = [&](const std::string& page, const std::vector<std::string>& names) {
            const Node list = root.get(page).json();
            for (const Node& item : list.find("items")->items()) {
                for (const std::string& name : names) {
                    const Node* field = node_at(item, name);
                    text += page + "/" + name + "=" +
                            (field == nullptr ? "" : document::to_json(*field)) + "\n";
                }
            }
        };
        fields("/api/targets", {"key", "id", "version", "changed_at", "spec", "labels", "groups"});
        fields("/api/alerts", {"id", "status", "acknowledged_by", "resolved_who"});
        fields("/api/incidents", {"id", "status"});
        fields("/api/jobs", {"id", "state", "held"});
        fields("/api/monitoring/dlq", {"key", "reason", "entries", "enabled"});
        fields("/api/monitoring/breakers", {"key", "state", "since"});
        const Node health = root.get("/api/monitoring/scheduler/health").json();
        for (const Node& one : health.find("instances")->items()) {
            text += text_at(one, "key") + text_at(one, "breaker.state") +
                    text_at(one, "deadLetter.reason") + text_at(one, "deadLetter.firstAttempt");
        }
        return text;
    }

    std::map<std::string, std::string> names_;  // by the beginning of a path
};

// An admin of one site has nothing to say about another, nor about what has no site.
TEST_F(AnotherSite, IsNotReachedByAGrant) {
    ASSERT_NO_FATAL_FAILURE(begin_in_bonn());
    const std::string token = new_user("berlin", R"([{"role":"admin","selector":"site=berlin"}])");
    ApiClient berlin = client_with(token);
    const std::string before = all_there_is();
    std::set<std::string> reached;
    for (const ApiOperation& operation : operations_) {
        if (operation.open() || operation.permission == "self") continue;
        std::string body = operation.takes_json ? "{}" : "";
        const auto reach = kReaches.find(operation.id);
        if (reach != kReaches.end()) {
            reached.insert(operation.id);
            body = reach->second.body;
            const std::size_t id = body.find("ALERT");
            if (id != std::string::npos) body.replace(id, 5, names_.at("/api/alerts/"));
        }
        std::vector<std::string> fields;
        if (operation.needs_if_match) fields.emplace_back("If-Match: *");
        const ApiAnswer answer =
            berlin.ask(operation.method, operation.target("http-json::bonn-1", name_for(operation)),
                       body, fields);
        const std::string what = operation.name() + ": " + answer.body;
        if (operation.everywhere) {
            EXPECT_EQ(answer.status, 403) << what;
        } else if (operation.has_parameter()) {
            EXPECT_THAT(answer.status, testing::AnyOf(403, 404)) << what;
        } else if (operation.safe()) {
            // 426: a WebSocket, asked for like a page.
            EXPECT_THAT(answer.status, testing::AnyOf(200, 403, 404, 426)) << what;
            EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("bonn-1"))) << what;
        } else if (operation.area == "monitoring") {
            ASSERT_NE(reach, kReaches.end())
                << operation.name() << ": write into kReaches what it answers about another site";
            EXPECT_EQ(answer.status, reach->second.status) << what;
        } else {
            EXPECT_THAT(answer.status, testing::AnyOf(403, 422)) << what;
        }
        if (operation.id == "changeAlerts") {
            EXPECT_EQ(answer.at("changed"), "0") << what;
            EXPECT_EQ(answer.at("results.0.result"), "unknown") << what;
        }
    }
    EXPECT_EQ(reached.size(), kReaches.size()) << "an operation of kReaches is gone";
    EXPECT_EQ(all_there_is(), before) << "nothing was changed";
    EXPECT_THAT(trail({"--result", "allowed", "--principal", "token:berlin"}), testing::IsEmpty());
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
