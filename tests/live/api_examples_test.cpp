// Every example of the served OpenAPI document: valid by its own schema, and executed against the
// running server. Answers must have the shape that their examples promise.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "api/openapi_test_support.hpp"
#include "document/write.hpp"
#include "tests/live/api_operations.hpp"
#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;

// When an example is executed: what it names is made before and removed after.
int turn_of(const ApiOperation& operation) {
    if (operation.id == "logout" || operation.id == "bootstrap") return 9;
    // A route names its receiver.
    if (operation.id == "removeReceiver") return 8;
    if (operation.id == "rollbackSettings" || operation.id == "diffSettings") return 4;
    if (operation.method == "DELETE") {
        const bool part = operation.path.ends_with("/sessions") || operation.area == "monitoring";
        return part ? 6 : 7;
    }
    if (operation.id == "createUser" || operation.id == "createDevice") return 0;
    if (operation.method == "POST" && !operation.has_parameter()) return 1;
    if (operation.method == "PUT") return 3;
    return operation.safe() ? 2 : 5;
}

// Of those that need a state which the examples alone do not make: what they answer without it.
// With it they are asked in ApiExamplesWithState.
const std::map<std::string, int> kWithoutState = {
    {"bootstrap", 401},
    {"changePassword", 403},
    {"resetBreaker", 409},
    {"retryDeadLetter", 409},
    {"removeDeadLetter", 409},
    {"followEvents", 426},
    {"cancelJob", 404},
    {"retryJob", 404},
    {"holdJob", 404},
    {"releaseJob", 404},
    {"getJobProposal", 409},
    {"acceptJobProposal", 404},
    {"getAlert", 404},
    {"acknowledgeAlert", 404},
    {"unacknowledgeAlert", 404},
    {"resolveAlert", 404},
    {"removeAlert", 404},
    {"getIncident", 404},
    {"acknowledgeIncident", 404},
    {"resolveIncident", 404},
    {"addIncidentNote", 404},
    {"getNotification", 404},
    {"retryNotification", 404},
    {"dismissNotification", 404},
    {"v2GetSilence", 404},
    {"v2ExpireSilence", 404},
};

// Lists that have something in them here, so that their items are held to the schema.
const std::vector<std::string> kFilled = {
    "explainTask.gates",
    "getAddon.metrics",
    "getAlert.timeline",
    "getFleet.columns.key",
    "getIncident.timeline",
    "getJobGraph.jobs",
    "getPlan.items",
    "getSchedulerHealth.breakers",
    "getSchedulerHealth.deadLetter.tasks",
    "getSchedulerHealth.instances",
    "getSchedulerHealth.staleness",
    "getStats.classes",
    "listAddons.items",
    "listAlerts.items",
    "listAudit.items",
    "listBreakers.items",
    "listBreakers.items[].history",
    "listCredentials.items",
    "listDeadLetters.items",
    "listDevices.items",
    "listGroups.items",
    "listIncidents.items",
    "listJobRuns.items",
    "listJobTypes.items",
    "listJobTypes.items[].arguments",
    "listJobs.items",
    "listNotifications.items",
    "listQueues.items",
    "listReceivers.items",
    "listRegions.items",
    "listResources.items",
    "listRoutes.items",
    "listSessions.items",
    "listSettingsVersions.items",
    "listSettingsVersions.items[].changes",
    "listSilences.items",
    "listSources.items",
    "listTargets.items",
    "listTargets.items[].tasks",
    "listTokens.items",
    "listTokens.items[].grants",
    "listUsers.items",
    "listUsers.items[].grants",
    "listWorkers.items",
    "v2ListSilences",
    "whoAmI.grants",
};

// The answer of a success has the status and the schema that are promised.
void expect_as_promised(const ApiOperation& operation, const ApiAnswer& answer) {
    EXPECT_EQ(answer.status, operation.status) << answer.body;
    if (answer.status != operation.status || answer.status == 204) return;
    if (!operation.response_schema.is_null()) {
        EXPECT_THAT(schema_mistakes(operation.response_schema, answer.json(), Unknown::kRefused),
                    testing::IsEmpty())
            << answer.body;
    }
}

class ApiExamples : public ApiStage {
  protected:
    std::string name_for(const ApiOperation& operation) const {
        const std::pair<const char*, const char*> names[] = {
            {"/api/devices/", "switch-1"},     {"/api/groups/", "berlin"},
            {"/api/credentials/", "switches"}, {"/api/sources/", "inventory"},
            {"/api/users/", "alice"},          {"/api/tokens/", "ci"},
            {"/api/receivers/", "ops"},        {"/api/routes/", "critical"},
            {"/api/silences/", "core-work"},   {"/api/addons/", "snmp-system"},
            {"/api/status-page/", "all"}};
        for (const auto& [path, name] : names) {
            if (operation.path.starts_with(path)) return name;
        }
        if (operation.safe() && operation.path.starts_with("/api/jobs/")) return job_;
        if (operation.path.starts_with("/api/job-batches/")) return batch_;
        return "nobody";
    }

    std::string job_;  // what the example of submitJobs made
    std::string batch_;
};

TEST_F(ApiExamples, AreValidExecutedAndPromiseWhatComes) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n", {{"POLLUX_STATUS_PAGE", "true"}}));
    ApiClient root = admin();
    const ApiAnswer document = root.get("/api/openapi.json");
    EXPECT_THAT(api::test::OpenApiCheck::run(document.body), testing::IsEmpty());
    auto operations = api_operations(document.json());
    ASSERT_GT(operations.size(), 40U);
    std::ranges::stable_sort(operations, {}, turn_of);
    for (const ApiOperation& operation : operations) {
        SCOPED_TRACE(operation.name());
        if (!operation.request_example.is_null()) {
            EXPECT_THAT(schema_mistakes(operation.request_schema, operation.request_example),
                        testing::IsEmpty());
        }
        if (!operation.response_example.is_null()) {
            EXPECT_THAT(schema_mistakes(operation.response_schema, operation.response_example,
                                        Unknown::kRefused),
                        testing::IsEmpty());
        }
        if (operation.takes_json && !operation.has_parameter()) {
            EXPECT_FALSE(operation.request_example.is_null() && operation.id != "bootstrap" &&
                         operation.id != "changePassword")
                << "it has no example of a body";
        }
        std::string body;
        if (!operation.request_example.is_null()) {
            Node example = operation.request_example;
            // Of the paths of this machine only its own are there.
            if (operation.path.starts_with("/api/sources")) {
                example.set("file_sd", Node::text(folder_.write("targets.json", "[]")));
            }
            body = document::to_json(example);
        } else if (operation.id == "bootstrap") {
            body = R"({"token":"plxboot_x","name":"eve","password":"correct horse battery"})";
        } else if (operation.id == "changePassword") {
            body = R"({"old_password":"not this one","password":"correct horse battery"})";
        }
        std::vector<std::string> fields;
        if (operation.needs_if_match) fields.emplace_back("If-Match: *");
        const ApiAnswer answer =
            root.ask(operation.method,
                     operation.target("snmp-system::switch-2", name_for(operation)), body, fields);
        const auto without = kWithoutState.find(operation.id);
        const int wanted = without == kWithoutState.end() ? operation.status : without->second;
        EXPECT_EQ(answer.status, wanted) << body << " -> " << answer.body;
        if (operation.id == "submitJobs" && answer.status == 201) {
            const Node made = answer.json();
            job_ = made.find("ids")->items().at(0).scalar();
            batch_ = made.find("batch")->scalar();
        }
        if (wanted == operation.status) expect_as_promised(operation, answer);
    }
}

// A fleet with open breakers and dead letters, alerts, jobs and messages that were given up.
class ApiExamplesWithState : public FailingStage {
  protected:
    void begin() {
        ASSERT_NO_FATAL_FAILURE(
            start_failing({{"POLLUX_ALERTS_REVIEW", "false"}, {"POLLUX_STATUS_PAGE", "true"}},
                          "resources: {cpu: 8}\n"));
        ApiClient root = admin();
        for (ApiOperation& one : api_operations(root.get("/api/openapi.json").json())) {
            operations_.emplace(one.id, std::move(one));
        }
    }
    // Asks with the example of the body; `name` is what its path names.
    ApiAnswer ask(const std::string& id, const std::string& name) {
        SCOPED_TRACE(id + " " + name);
        asked_.insert(id);
        const ApiOperation& operation = operations_.at(id);
        const Node& example = operation.request_example;
        ApiAnswer answer =
            admin().ask(operation.method, operation.target(name, name),
                        example.is_null() ? std::string() : document::to_json(example));
        promised(operation, answer);
        return answer;
    }
    void promised(const ApiOperation& operation, const ApiAnswer& answer) {
        expect_as_promised(operation, answer);
        if (answer.status != operation.status || operation.response_schema.is_null()) return;
        seen_.note(operation.id, operation.response_schema, answer.json());
    }
    // Everything that can be read, where there is something to be read.
    void look_everywhere() {
        const std::string wants[][2] = {
            {"/api/targets/", web_key(kWell)}, {"/api/tasks/", web_key(kGone)},
            {"/api/devices/", web(kWell)},     {"/api/groups/", "bonn"},
            {"/api/credentials/", "lab"},      {"/api/sources/", "list"},
            {"/api/users/", "root"},           {"/api/receivers/", "ops"},
            {"/api/routes/", "all"},           {"/api/silences/", "works"},
            {"/api/addons/", "snmp-system"},   {"/api/jobs/", job_},
            {"/api/job-batches/", batch_},     {"/api/status-page/", "all"}};
        for (const auto& [id, operation] : operations_) {
            if (!operation.safe() || kWithoutState.contains(id)) continue;
            std::string name;
            for (const auto& [path, wanted] : wants) {
                if (operation.path.starts_with(path)) name = wanted;
            }
            SCOPED_TRACE(operation.name() + " " + name);
            promised(operation, admin().get(operation.target(name, name)));
        }
    }
    std::string made(const std::string& path, const std::string& body, const std::string& field) {
        const ApiAnswer answer = admin().post(path, body);
        EXPECT_TRUE(answer.status >= 200 && answer.status < 300) << path << " " << answer.body;
        return answer.at(field);
    }
    std::string new_job(const std::string& fields) {
        return made("/api/jobs",
                    R"({"name":"b","jobs":[{"name":"j","type":"maintenance",)" + fields + "}]}",
                    "ids.0");
    }
    void about_jobs() {
        const std::string held = new_job(R"("hold":true)");
        const std::string blocked = new_job(R"("depends_on":[")" + held + R"("])");
        ask("holdJob", blocked);
        ask("releaseJob", blocked);
        ask("cancelJob", blocked);
        ask("retryJob", blocked);
        const std::string port =
            server_->api_address().substr(server_->api_address().find(':') + 1);
        const ApiAnswer sweep = admin().post(
            "/api/targets/discover",
            fmt::format(R"({{"network":"127.0.0.1/32","methods":["http"],"http_port":{}}})", port));
        ASSERT_EQ(sweep.status, 202) << sweep.body;
        ASSERT_TRUE(eventually([&] { return admin().get(sweep.at("proposal")).status == 200; }));
        ask("getJobProposal", sweep.at("job.id"));
        about_topology();
    }
    // Of a device that answers nothing there is nothing to accept.
    void about_topology() {
        made("/api/devices",
             fmt::format(R"({{"name":"silent","address":"127.0.0.1","port":{},)"
                         R"("addons":["snmp-system"]}})",
                         net::test::free_port()),
             "name");
        const std::string job = made("/api/jobs",
                                     R"({"type":"topology","arguments":{"root":["silent"],)"
                                     R"("table_timeout":"1s"}})",
                                     "ids.0");
        ASSERT_TRUE(eventually([&] {
            return admin().get("/api/jobs/" + job + "/proposal").status == 200;
        })) << admin().get("/api/jobs/" + job).body;
        ask("acceptJobProposal", job);
    }
    void about_alerts() {
        ApiClient root = admin();
        ASSERT_TRUE(eventually([&] {
            return !root.get("/api/alerts?status=active").at("items.1.id").empty() &&
                   !root.get("/api/incidents?status=open").at("items.0.id").empty();
        })) << root.get("/api/alerts").body;
        const std::string alert = root.get("/api/alerts?status=active").at("items.0.id");
        ask("getAlert", alert);
        ask("acknowledgeAlert", alert);
        ask("unacknowledgeAlert", alert);
        ask("resolveAlert", alert);
        ask("removeAlert", alert);
        const std::string incident = root.get("/api/alerts?status=active").at("items.0.incident");
        ask("getIncident", incident);
        ask("acknowledgeIncident", incident);
        ask("addIncidentNote", incident);
        ask("resolveIncident", incident);
    }
    // Something in every list.
    void fill() {
        made("/api/groups", R"({"name":"bonn","match":{"site":"bonn"}})", "name");
        made("/api/credentials", R"({"name":"lab","username":"eve"})", "name");
        made(
            "/api/sources",
            fmt::format(R"({{"name":"list","file_sd":"{}"}})", folder_.write("targets.json", "[]")),
            "name");
        made("/api/silences",
             R"({"name":"works","match":["device=\"nas\""],"until":"2096-01-02T03:04:05Z",)"
             R"("owner":"eve","reason":"new disks"})",
             "name");
        EXPECT_EQ(admin().put("/api/settings", R"({"global_rate":77})").status, 200);
        new_user("vera", R"([{"role":"viewer","selector":"site=bonn"}])");
        new_token(
            "scoped", "vera",
            R"(,"scopes":["monitoring:read"],"grants":[{"role":"viewer","selector":"site=bonn"}])");
        const ApiAnswer jobs = admin().post(
            "/api/jobs",
            R"({"name":"night","jobs":[{"name":"a","type":"maintenance","resources":{"cpu":1}},)"
            R"({"name":"b","type":"maintenance","depends_on":["a"]}]})");
        ASSERT_EQ(jobs.status, 201) << jobs.body;
        job_ = jobs.at("ids.0");
        batch_ = jobs.at("batch");
        ASSERT_TRUE(eventually(
            [&] { return admin().get("/api/jobs/" + job_).at("state") == "completed"; }));
    }
    // A device that takes no messages is told of an alert.
    void about_messages() {
        const std::string url =
            fmt::format("http://{}:{}/alerts",
                        lab::address_text(fleet_->fleet().http().at(kWell - 1).address()),
                        fleet_->ports().http);
        made("/api/receivers", fmt::format(R"({{"name":"ops","channels":[{{"url":"{}"}}]}})", url),
             "name");
        made("/api/routes", R"({"name":"all","receivers":["ops"],"group_wait":"0s"})", "name");
        made("/api/v2/alerts",
             R"([{"labels":{"alertname":"Backup","device":"nas","severity":"critical"}}])", "");
        ApiClient root = admin();
        std::string failed;
        const auto fails = [&] {
            failed = root.get("/api/notifications?state=failed").at("items.0.id");
            return !failed.empty();
        };
        ASSERT_TRUE(eventually(fails)) << root.get("/api/notifications").body;
        ask("getNotification", failed);
        ask("retryNotification", failed);
        ASSERT_TRUE(eventually(fails)) << root.get("/api/notifications").body;
        ask("dismissNotification", failed);
        const std::string silence =
            made("/api/v2/silences",
                 document::to_json(operations_.at("v2PostSilence").request_example), "silenceID");
        ask("v2GetSilence", silence);
        ask("v2ExpireSilence", silence);
    }

    std::map<std::string, ApiOperation> operations_;
    std::set<std::string> asked_;
    ItemsSeen seen_;
    std::string job_;  // one with attempts, of a batch with a graph
    std::string batch_;
};

TEST_F(ApiExamplesWithState, PromiseWhatComesWhereTheStateIsThere) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ask("resetBreaker", web_key(kGone));
    ask("retryDeadLetter", web_key(kLocked));
    ask("removeDeadLetter", web_key(kLocked + 1));
    ASSERT_NO_FATAL_FAILURE(about_jobs());
    ASSERT_NO_FATAL_FAILURE(about_alerts());
    ASSERT_NO_FATAL_FAILURE(about_messages());

    // A password is changed by who knows the old one, in a session.
    const Session session = log_in("root", kAdminPassword);
    ApiClient self(server_->api_address(), {session.cookie, session.csrf});
    expect_as_promised(
        operations_.at("changePassword"),
        self.post("/api/me/password", fmt::format(R"({{"old_password":"{}","password":"{}"}})",
                                                  kAdminPassword, "another horse battery")));
    asked_.insert("changePassword");
    ASSERT_NO_FATAL_FAILURE(fill());
    look_everywhere();
    EXPECT_THAT(seen_.filled(), testing::IsSupersetOf(kFilled));
    // bootstrap: the next test; followEvents: a WebSocket, in events_test.cpp.
    asked_.insert({"bootstrap", "followEvents"});
    for (const auto& [id, status] : kWithoutState) {
        EXPECT_TRUE(asked_.contains(id)) << id << " is never asked where it can succeed";
    }
}

TEST_F(ApiExamples, OfTheFirstAdminPromiseWhatComes) {
    server_ = std::make_unique<PolluxServer>(folder_, "");
    ASSERT_NO_FATAL_FAILURE(server_->start());
    ApiClient nobody = stranger();
    const ApiAnswer answer = nobody.post(
        "/api/bootstrap", fmt::format(R"({{"token":"{}","name":"root","password":"{}"}})",
                                      server_->bootstrap_token(), kAdminPassword));
    const Session session = log_in("root", kAdminPassword);
    ApiClient root(server_->api_address(), {session.cookie});
    for (const ApiOperation& one : api_operations(root.get("/api/openapi.json").json())) {
        if (one.id == "bootstrap") return expect_as_promised(one, answer);
    }
    FAIL() << "there is no operation bootstrap";
}

}  // namespace
}  // namespace pollux::live
