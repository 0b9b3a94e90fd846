// Every example of the served OpenAPI document: valid by its own schema, and executed against the
// running server. Answers must have the shape that their examples promise.
#include <gmock/gmock.h>

#include <map>

#include "document/write.hpp"
#include "tests/live/api_operations.hpp"
#include "tests/live/api_stage.hpp"

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
    auto operations = api_operations(root.get("/api/openapi.json").json());
    ASSERT_GT(operations.size(), 40U);
    std::ranges::stable_sort(operations, {}, turn_of);
    for (const ApiOperation& operation : operations) {
        SCOPED_TRACE(operation.name());
        if (!operation.request_example.is_null()) {
            EXPECT_THAT(schema_mistakes(operation.request_schema, operation.request_example),
                        testing::IsEmpty());
        }
        if (!operation.response_example.is_null()) {
            EXPECT_THAT(schema_mistakes(operation.response_schema, operation.response_example),
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
        if (answer.status != operation.status || answer.status == 204) continue;
        if (!operation.response_schema.is_null()) {
            EXPECT_THAT(schema_mistakes(operation.response_schema, answer.json()),
                        testing::IsEmpty())
                << answer.body;
        }
        if (!operation.response_example.is_null()) {
            EXPECT_THAT(shape_mistakes(operation.response_example, answer.json()),
                        testing::IsEmpty())
                << answer.body;
        }
    }
}

}  // namespace
}  // namespace pollux::live
