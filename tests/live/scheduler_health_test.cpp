// The health page of the scheduler and the lines that operators type, against a running server
// whose breakers and dead letters came from devices that really fail.
#include <gmock/gmock.h>

#include <regex>

#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHealth = "/api/monitoring/scheduler/health";
const std::string kCurl = "curl -s -H \"X-API-Token: $TOKEN\" http://$HOST" + std::string(kHealth);

bool is_time(const std::string& text) {
    static const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
    return std::regex_match(text, form) && !text.starts_with("0001") && !text.starts_with("1970");
}

std::vector<std::string> keys_of(const Node& map) {
    std::vector<std::string> keys;
    for (const auto& entry : map.entries()) keys.push_back(entry.key);
    return keys;
}

class SchedulerHealth : public FailingStage {
  protected:
    std::string line(const std::string& rest) {
        const CommandResult result = shell(kCurl + rest);
        EXPECT_EQ(result.code, 0) << result.output;
        std::string text = result.output;
        while (text.ends_with('\n')) text.pop_back();
        return text;
    }
    void set_adaptive(bool on) {
        ApiClient root = admin();
        const ApiAnswer changed = root.put("/api/settings/monitoring",
                                           fmt::format(R"({{"adaptive_polling_enabled":{}}})", on));
        ASSERT_EQ(changed.status, 200) << changed.body;
    }
    void check_lines(bool adaptive);
    void check_page(bool adaptive);
};

// The lines of the operators' playbook, as written.
void SchedulerHealth::check_lines(bool adaptive) {
    EXPECT_THAT(line(" | jq"), HasSubstr("\"updatedAt\""));
    EXPECT_EQ(line(" | jq .enabled"), adaptive ? "true" : "false");
    EXPECT_EQ(line(" | jq .queue.depth"), std::to_string(kDevices));
    EXPECT_EQ(line(" | jq -c .queue.perType"), fmt::format(R"({{"http-json":{}}})", kDevices));
    EXPECT_EQ(line(" | jq .deadLetter.count"), std::to_string(kDevices - 1));
    EXPECT_EQ(line(" | jq '.breakers | length'"), std::to_string(kDevices - 1));
    EXPECT_EQ(line(" | jq '.staleness | length'"), std::to_string(kDevices));
    EXPECT_EQ(line(" | jq -r '.instances[] | select(.breaker.state != \"closed\") | {key, state: "
                   ".breaker.state, since: .breaker.since} | select(.since | test(\"^20\")) | "
                   ".key'"),
              web_key(kTired) + "\n" + web_key(kGone));
    EXPECT_EQ(line(" | jq -r '.instances[] | select(.deadLetter.present) | {key, reason: "
                   ".deadLetter.reason, retryCount: .deadLetter.retryCount, nextRetry: "
                   ".deadLetter.nextRetry} | select(.retryCount > 0) | select(.nextRetry | "
                   "test(\"^20\")) | .reason' | sort | uniq -c | tr -s ' '"),
              fmt::format(" 2 max_retry_attempts\n {} permanent_failure", kDevices - 3));
}

void SchedulerHealth::check_page(bool adaptive) {
    ApiClient root = admin();
    const ApiAnswer answer = root.get(kHealth);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Node page = answer.json();
    EXPECT_THAT(keys_of(page), ElementsAre("updatedAt", "enabled", "queue", "deadLetter",
                                           "breakers", "staleness", "instances"));
    EXPECT_TRUE(is_time(text_at(page, "updatedAt"))) << answer.body;
    EXPECT_EQ(text_at(page, "enabled"), adaptive ? "true" : "false");
    EXPECT_EQ(node_at(page, "deadLetter.tasks")->items().size(), kDevices - 1);
    for (const Node& task : node_at(page, "deadLetter.tasks")->items()) {
        EXPECT_THAT(keys_of(task),
                    ElementsAre("instance", "type", "nextRun", "lastError", "failures"))
            << answer.body;
        EXPECT_TRUE(is_time(text_at(task, "nextRun")));
    }
    for (const Node& breaker : node_at(page, "breakers")->items()) {
        // A permanent failure is a dead letter before its breaker opens.
        const std::string name = text_at(breaker, "instance");
        const bool opens = name == web(kTired) || name == web(kGone);
        EXPECT_THAT(text_at(breaker, "state"), opens ? testing::AnyOf("open", "half_open")
                                                     : testing::AnyOf("closed", "closed"));
        EXPECT_GT(std::stoi(text_at(breaker, "failures")), 0);
        EXPECT_EQ(text_at(breaker, "type"), "http-json");
    }
    std::vector<std::string> keys;
    for (const Node& one : node_at(page, "instances")->items()) keys.push_back(text_at(one, "key"));
    EXPECT_TRUE(std::ranges::is_sorted(keys));
    EXPECT_EQ(keys.size(), kDevices);
    // A time that never was is left out, everywhere.
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("0001-01-01")));
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("1970-01-01")));

    const Node* well = entry_with(*node_at(page, "instances"), "key", web_key(kWell));
    ASSERT_NE(well, nullptr);
    EXPECT_THAT(keys_of(*node_at(*well, "pollStatus")),
                ElementsAre("lastSuccess", "consecutiveFailures"));
    EXPECT_THAT(keys_of(*node_at(*well, "breaker")), ElementsAre("state", "failureCount"));
    EXPECT_THAT(keys_of(*node_at(*well, "deadLetter")), ElementsAre("present"));

    const Node* gone = entry_with(*node_at(page, "instances"), "key", web_key(kGone));
    ASSERT_NE(gone, nullptr);
    EXPECT_THAT(keys_of(*gone),
                ElementsAre("key", "type", "displayName", "instance", "connection", "enabled",
                            "pollStatus", "breaker", "deadLetter", "warnings"));
    EXPECT_EQ(text_at(*gone, "pollStatus.lastError.category"), "transient");
    EXPECT_THAT(text_at(*gone, "pollStatus.lastError.message"), HasSubstr("refused"));
    EXPECT_EQ(node_at(*gone, "pollStatus.lastSuccess"), nullptr) << "it never answered";
    EXPECT_TRUE(is_time(text_at(*gone, "pollStatus.firstFailureAt")));
    EXPECT_TRUE(is_time(text_at(*gone, "breaker.since")));
    EXPECT_TRUE(is_time(text_at(*gone, "breaker.retryAt")));
    EXPECT_TRUE(is_time(text_at(*gone, "deadLetter.nextRetry")));
    EXPECT_EQ(text_at(*gone, "deadLetter.reason"), "max_retry_attempts");

    const Node* locked = entry_with(*node_at(page, "instances"), "key", web_key(kLocked));
    ASSERT_NE(locked, nullptr);
    EXPECT_EQ(text_at(*locked, "pollStatus.lastError.category"), "permanent");
    EXPECT_THAT(text_at(*locked, "pollStatus.lastError.message"), HasSubstr("401"));
    EXPECT_EQ(text_at(*locked, "deadLetter.reason"), "permanent_failure");
}

TEST_F(SchedulerHealth, TheOperatorsLinesWorkWithAdaptivePollingOnAndOff) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    for (const bool adaptive : {false, true, false}) {
        SCOPED_TRACE(adaptive ? "adaptive on" : "adaptive off");
        ASSERT_NO_FATAL_FAILURE(set_adaptive(adaptive));
        check_lines(adaptive);
        check_page(adaptive);
    }
    ApiClient root = admin();
    EXPECT_EQ(root.ask("HEAD", kHealth).status, 200);
    EXPECT_EQ(root.ask("DELETE", kHealth).status, 405);
}

TEST_F(SchedulerHealth, WithoutALoginItIsReadFromThisMachineOnlyWhenThatIsSet) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    const std::string plain = "curl -s http://$HOST" + std::string(kHealth);
    EXPECT_EQ(shell(plain + " | jq .status").output, "401\n");
    ApiClient root = admin();
    ASSERT_EQ(root.put("/api/settings", R"({"anonymous_health":"loopback"})").status, 200);
    EXPECT_EQ(shell(plain + " | jq .queue.depth").output, "0\n");
    EXPECT_EQ(shell(plain + "er | jq .status").output, "404\n");
    // Through a proxy, or under a name that another site made point here: nothing.
    ApiClient nobody = stranger();
    EXPECT_EQ(nobody.get("/api/monitoring/dlq").status, 401) << "only the health page";
    EXPECT_EQ(nobody.ask("GET", kHealth, "", {"X-Forwarded-For: 192.0.2.1"}).status, 401);
    EXPECT_EQ(nobody.ask("GET", kHealth, "", {"Host: evil.example"}).status, 401);
    ASSERT_EQ(root.put("/api/settings", R"({"anonymous_health":null})").status, 200);
    EXPECT_EQ(nobody.get(kHealth).status, 401);
}

TEST_F(SchedulerHealth, ARestartKeepsBreakersDeadLettersAndTheWordsOfTheLastError) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    std::map<std::size_t, Node> before;
    for (std::size_t i = kLocked; i <= kDevices; ++i) before[i] = instance(i);
    const std::string tired_since = instance_text(kTired, "pollStatus.firstFailureAt");
    EXPECT_EQ(server_->stop(), 0);
    ASSERT_NO_FATAL_FAILURE(start_again());
    for (std::size_t i = kLocked; i <= kDevices; ++i) {
        const Node after = instance(i);
        for (const char* path : {"breaker.state", "breaker.failureCount", "deadLetter.present",
                                 "deadLetter.reason", "deadLetter.retryCount",
                                 "pollStatus.consecutiveFailures", "pollStatus.lastError.message",
                                 "pollStatus.lastError.code", "pollStatus.lastError.category"}) {
            EXPECT_EQ(text_at(after, path), text_at(before[i], path)) << web(i) << " " << path;
        }
        // To the second: between two starts the clock is read anew.
        for (const char* path : {"breaker.since", "pollStatus.firstFailureAt",
                                 "pollStatus.lastError.at", "deadLetter.nextRetry"}) {
            EXPECT_EQ(text_at(after, path).substr(0, 18), text_at(before[i], path).substr(0, 18))
                << web(i) << " " << path;
        }
        EXPECT_THAT(text_at(after, "pollStatus.lastError.message"), HasSubstr("401"));
    }
    EXPECT_EQ(instance_text(kTired, "pollStatus.firstFailureAt").substr(0, 18),
              tired_since.substr(0, 18));
    EXPECT_EQ(instance_text(kTired, "deadLetter.present"), "true");
}

}  // namespace
}  // namespace pollux::live
