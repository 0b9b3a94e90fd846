// What people do about breakers and dead letters through the API: what is answered, what happens,
// and what the audit trail says of it.
#include <gmock/gmock.h>

#include <thread>

#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kBreakers = "/api/monitoring/breakers/";
const std::string kDlq = "/api/monitoring/dlq/";

std::string encoded(std::size_t number) { return "http-json%3A%3A" + web(number); }

class FailureControl : public FailingStage {
  protected:
    // Ten acts a minute are allowed to each: every stage of a test has a token of its own.
    ApiClient person(const std::string& name) { return client_with(new_token(name, "root")); }
    // The newest record about a key.
    Node record(const std::string& action, const std::string& object) {
        const auto found = trail({"--action", action, "--object", object});
        EXPECT_FALSE(found.empty()) << action << " " << object;
        return found.empty() ? Node() : found.front();
    }
    void expect_record(const std::string& action, const std::string& object, const std::string& who,
                       const std::string& reason, const std::string& result = "allowed") {
        const Node one = record(action, object);
        EXPECT_EQ(text_at(one, "principal"), "token:" + who);
        EXPECT_EQ(text_at(one, "address"), "127.0.0.1");
        EXPECT_EQ(text_at(one, "reason"), reason);
        EXPECT_EQ(text_at(one, "result"), result);
        EXPECT_THAT(text_at(one, "at"), StartsWith("20"));
    }
};

TEST_F(FailureControl, ResetAndRetryProbeNowAndAreRecordedWithBothStates) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient ada = person("ada");
    const auto recover = [&](std::size_t number) {
        ASSERT_TRUE(fleet_->clear_faults(web(number)));
    };
    // A breaker that is open probes now.
    const ApiAnswer reset =
        ada.post(kBreakers + web_key(kGone) + "/reset", R"({"reason":"cable is back"})");
    ASSERT_EQ(reset.status, 200) << reset.body;
    EXPECT_EQ(reset.at("success"), "true");
    EXPECT_EQ(reset.at("key"), web_key(kGone));
    EXPECT_THAT(reset.at("previousState"), AnyOf("open", "half_open"));
    EXPECT_EQ(reset.at("newState"), "half_open");
    EXPECT_EQ(reset.at("resetBy"), "token:ada");
    EXPECT_THAT(reset.at("resetAt"), StartsWith("20"));
    expect_record("breaker.reset", web_key(kGone), "ada", "cable is back");
    const Node told = record("breaker.reset", web_key(kGone));
    EXPECT_THAT(text_at(told, "before"),
                AllOf(HasSubstr(R"("breaker":")" + reset.at("previousState") + "\""),
                      HasSubstr("max_retry_attempts")));
    EXPECT_THAT(text_at(told, "after"), HasSubstr(R"("breaker":"half_open")"));

    // A reset of a dead letter retries it: its own probe would be minutes away.
    recover(kLocked);
    ASSERT_EQ(ada.post(kBreakers + web_key(kLocked) + "/reset", R"({"reason":"new"})").status, 200);
    EXPECT_TRUE(is_well(kLocked)) << ada.get("/api/tasks/" + web_key(kLocked) + "/explain").body;
    expect_record("breaker.reset", web_key(kLocked), "ada", "new");

    // One dead letter, its key percent-encoded.
    recover(kLocked + 1);
    const std::string count = instance_text(kLocked + 1, "deadLetter.retryCount");
    const ApiAnswer retry =
        ada.post(kDlq + encoded(kLocked + 1) + "/retry", R"({"reason":"fixed"})");
    ASSERT_EQ(retry.status, 200) << retry.body;
    EXPECT_EQ(retry.at("success"), "true");
    EXPECT_EQ(retry.at("key"), web_key(kLocked + 1));
    EXPECT_EQ(retry.at("previousRetryCount"), count);
    EXPECT_THAT(retry.at("scheduledFor"), StartsWith("20"));
    EXPECT_TRUE(is_well(kLocked + 1));
    expect_record("dlq.retry", web_key(kLocked + 1), "ada", "fixed");

    // A probe that fails goes back, with its history.
    const Node before = instance(kLocked + 2);
    ASSERT_EQ(ada.post(kDlq + web_key(kLocked + 2) + "/retry").status, 200) << "without a reason";
    EXPECT_TRUE(eventually([&] {
        const Node now = instance(kLocked + 2);
        return text_at(now, "pollStatus.lastError.at") !=
               text_at(before, "pollStatus.lastError.at");
    }));
    const Node after = instance(kLocked + 2);
    EXPECT_EQ(text_at(after, "deadLetter.present"), "true");
    EXPECT_EQ(text_at(after, "deadLetter.firstAttempt").substr(0, 19),
              text_at(before, "deadLetter.firstAttempt").substr(0, 19));
    EXPECT_EQ(std::stoi(text_at(after, "deadLetter.retryCount")),
              std::stoi(text_at(before, "deadLetter.retryCount")) + 1);
    const ApiAnswer entry = ada.get("/api/monitoring/dlq?q=" + web(kLocked + 2));
    EXPECT_EQ(entry.at("items.0.key"), web_key(kLocked + 2));
    EXPECT_GE(node_at(entry.json(), "items.0.history")->items().size(), 2U) << entry.body;
}

TEST_F(FailureControl, WhatIsUnknownIs404AndWhatHasNothingToDoIs409) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient ada = person("ada");
    for (const std::string& key : {std::string("http-json::nobody"), std::string("nonsense"),
                                   std::string("pve%3A%3Apve-node1")}) {
        EXPECT_EQ(ada.post(kBreakers + key + "/reset").status, 404) << key;
        EXPECT_EQ(ada.post(kDlq + key + "/retry").status, 404) << key;
    }
    ApiClient bob = person("bob");
    for (const char* target : {"", "?target=keep", "?target=remove", "?target=disable"}) {
        EXPECT_EQ(bob.ask("DELETE", kDlq + "http-json::nobody" + target).status, 404) << target;
        const ApiAnswer well = bob.ask("DELETE", kDlq + web_key(kWell) + target);
        EXPECT_EQ(well.status, 409) << target << well.body;
        EXPECT_EQ(well.at("code"), "operator.nothing_to_do");
    }
    ApiClient eve = person("eve");
    EXPECT_EQ(eve.post(kBreakers + encoded(kWell) + "/reset", R"({"reason":"try"})").status, 409);
    EXPECT_EQ(eve.post(kDlq + web_key(kWell) + "/retry").status, 409);
    expect_record("breaker.reset", web_key(kWell), "eve", "try", "failed");
    // What cannot be read changes nothing.
    EXPECT_EQ(eve.post(kBreakers + web_key(kTired) + "/reset", "{").status, 400);
    const ApiAnswer unknown =
        eve.post(kBreakers + web_key(kTired) + "/reset", R"({"because":"x"})");
    EXPECT_EQ(unknown.status, 422);
    EXPECT_EQ(unknown.at("errors.0.pointer"), "/because");
    EXPECT_EQ(eve.post(kDlq + web_key(kTired) + "/retry", R"({"reason":["x"]})").status, 422);
    EXPECT_EQ(eve.ask("DELETE", kDlq + web_key(kTired) + "?target=burn").status, 400);
    EXPECT_EQ(instance_text(kTired, "deadLetter.present"), "true");
    EXPECT_EQ(instance_text(kWell, "enabled"), "true");
    // Nothing would probe what is disabled: success would be a promise that nobody keeps.
    ApiClient dan = person("dan");
    ASSERT_EQ(dan.post("/api/targets/" + web_key(kLocked) + "/disable").status, 200);
    for (const ApiAnswer& act : {dan.post(kDlq + web_key(kLocked) + "/retry"),
                                 dan.post(kBreakers + web_key(kLocked) + "/reset")}) {
        EXPECT_EQ(act.status, 409) << act.body;
        EXPECT_EQ(act.at("code"), "operator.nothing_to_do");
        EXPECT_THAT(act.at("detail"), AllOf(HasSubstr("disabled"), HasSubstr("enable it first")));
    }
    expect_record("dlq.retry", web_key(kLocked), "dan", "", "failed");
    EXPECT_EQ(instance_text(kLocked, "deadLetter.present"), "true");
    ASSERT_EQ(dan.post("/api/targets/" + web_key(kLocked) + "/enable").status, 200);
    ASSERT_TRUE(fleet_->clear_faults(web(kLocked)));
    EXPECT_EQ(dan.post(kDlq + web_key(kLocked) + "/retry").status, 200);
    EXPECT_TRUE(is_well(kLocked));
}

TEST_F(FailureControl, ADeletedDeadLetterLeavesItsTargetDisabledKeptOrRemoved) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient ada = person("ada");
    const std::size_t disabled = kLocked;
    const std::size_t kept = kLocked + 1;
    const std::size_t removed = kDevices + 1;  // made by the API
    const ApiAnswer first = ada.ask("DELETE", kDlq + web_key(disabled), R"({"reason":"scrapped"})");
    ASSERT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(first.at("success"), "true");
    EXPECT_EQ(first.at("key"), web_key(disabled));
    EXPECT_EQ(first.at("reason"), "scrapped");
    EXPECT_EQ(instance_text(disabled, "enabled"), "false");
    EXPECT_EQ(instance_text(disabled, "deadLetter.present"), "false");
    expect_record("dlq.remove", web_key(disabled), "ada", "scrapped");

    ASSERT_TRUE(fleet_->clear_faults(web(kept)));
    ASSERT_EQ(ada.ask("DELETE", kDlq + encoded(kept) + "?target=keep").status, 200);
    EXPECT_EQ(instance_text(kept, "enabled"), "true");
    EXPECT_TRUE(is_well(kept)) << "it is polled again";

    // What a file owns would come back with the file.
    const ApiAnswer owned = ada.ask("DELETE", kDlq + web_key(kTired) + "?target=remove");
    EXPECT_EQ(owned.status, 409) << owned.body;
    EXPECT_EQ(owned.at("code"), "object.owned");
    EXPECT_THAT(owned.at("detail"), HasSubstr("adopt"));
    EXPECT_EQ(instance_text(kTired, "deadLetter.present"), "true");
    ApiClient root = admin();
    const ApiAnswer made = root.post(
        "/api/devices",
        fmt::format(
            R"({{"name":"{}","address":"127.0.0.1","port":{},"addons":[{{"name":"http-json",)"
            R"("params":{{"path":"/","value_path":"$.x"}}}}]}})",
            web(removed), net::test::free_port()));
    ASSERT_EQ(made.status, 201) << made.body;
    ASSERT_TRUE(eventually([&] { return instance_text(removed, "deadLetter.present") == "true"; }));
    const ApiAnswer gone =
        ada.ask("DELETE", kDlq + web_key(removed) + "?target=remove", R"({"reason":"sold"})");
    ASSERT_EQ(gone.status, 200) << gone.body;
    EXPECT_EQ(gone.at("reason"), "sold");
    EXPECT_TRUE(instance(removed).is_null());
    EXPECT_EQ(root.get("/api/targets/" + web_key(removed)).status, 404);
    expect_record("dlq.remove", web_key(removed), "ada", "sold");
    // Neither the edit that made it nor the one that took it away is told without what it was.
    const Node taken = record("dlq.remove", web_key(removed));
    EXPECT_THAT(text_at(taken, "before"),
                AllOf(HasSubstr("\"device " + web(removed) + "\":{\"version\":1"),
                      HasSubstr("\"target " + web_key(removed) + "\"")));
    EXPECT_EQ(text_at(taken, "after"), "");
    const Node born = record("device.create", web(removed));
    EXPECT_EQ(text_at(born, "before"), "");
    EXPECT_THAT(text_at(born, "after"), HasSubstr(R"("address":"127.0.0.1")"));

    // All three survive a restart.
    EXPECT_EQ(server_->stop(), 0);
    ASSERT_NO_FATAL_FAILURE(start_again());
    EXPECT_EQ(instance_text(disabled, "enabled"), "false");
    EXPECT_TRUE(is_well(kept));
    EXPECT_TRUE(instance(removed).is_null());
}

TEST_F(FailureControl, BulkActsTakeAllOrThoseOfATypeOrAListOfKeys) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient ada = person("ada");
    const ApiAnswer none = ada.post("/api/monitoring/dlq/retry", R"({"type":"pve"})");
    ASSERT_EQ(none.status, 200) << none.body;
    EXPECT_EQ(none.at("tasksRetried"), "0");
    for (std::size_t i = kLocked; i <= kDevices; ++i) ASSERT_TRUE(fleet_->clear_faults(web(i)));
    const ApiAnswer two =
        ada.post("/api/monitoring/dlq/retry",
                 fmt::format(R"({{"reason":"two","keys":["{}","{}","{}","http-json::nobody"]}})",
                             web_key(kLocked), web_key(kLocked + 1), web_key(kWell)));
    ASSERT_EQ(two.status, 200) << two.body;
    EXPECT_EQ(two.at("success"), "true");
    EXPECT_EQ(two.at("tasksRetried"), "2");
    // Those that were named for nothing are told.
    EXPECT_EQ(two.at("passedOver.0.key"), web_key(kWell));
    EXPECT_EQ(two.at("passedOver.0.why"), "nothing_to_do");
    EXPECT_EQ(two.at("passedOver.1.key"), "http-json::nobody");
    EXPECT_EQ(two.at("passedOver.1.why"), "unknown");
    EXPECT_EQ(two.at("passedOver.2.key"), "");
    std::vector<std::string> keys = {two.at("keys.0"), two.at("keys.1")};
    EXPECT_THAT(keys, testing::UnorderedElementsAre(web_key(kLocked), web_key(kLocked + 1)));
    EXPECT_TRUE(is_well(kLocked));
    EXPECT_TRUE(is_well(kLocked + 1));
    EXPECT_EQ(instance_text(kLocked + 2, "deadLetter.present"), "true") << "not asked for";
    expect_record("dlq.retry", "*", "ada", "two");
    // Each of them has its own record, with its own states.
    for (const std::size_t one : {kLocked, kLocked + 1}) {
        expect_record("dlq.retry", web_key(one), "ada", "two");
        const Node own = record("dlq.retry", web_key(one));
        EXPECT_THAT(text_at(own, "before"), HasSubstr(R"("dead_letter":"permanent_failure")"));
        EXPECT_THAT(text_at(own, "after"), HasSubstr(R"("next_due":")"));
        EXPECT_NE(text_at(own, "before"), text_at(own, "after"));
    }

    const ApiAnswer all = ada.post("/api/monitoring/breakers/reset",
                                   R"({"reason":"fresh start","type":"http-json"})");
    ASSERT_EQ(all.status, 200) << all.body;
    // One that is being probed at this moment needs no reset.
    EXPECT_GE(std::stoul(all.at("breakersReset")), kDevices - 5);
    for (std::size_t i = kLocked; i <= kDevices; ++i) EXPECT_TRUE(is_well(i)) << web(i);
    expect_record("breaker.reset", "*", "ada", "fresh start");
    EXPECT_THAT(text_at(record("breaker.reset", "*"), "after"), HasSubstr(web_key(kLocked + 2)));

    // As many keys as are promised fit into a request.
    const auto many = [](std::size_t count) {
        std::string list;
        for (std::size_t i = 0; i < count; ++i) {
            list +=
                fmt::format(R"({}"http-json::device-of-some-name-{:06}")", i == 0 ? "" : ",", i);
        }
        return fmt::format(R"({{"keys":[{}]}})", list);
    };
    const ApiAnswer most = ada.post("/api/monitoring/dlq/retry", many(10'000));
    EXPECT_EQ(most.status, 200) << most.body;
    EXPECT_EQ(most.at("tasksRetried"), "0");
    const ApiAnswer over = ada.post("/api/monitoring/dlq/retry", many(10'001));
    EXPECT_EQ(over.status, 422) << over.body;
    EXPECT_EQ(over.at("errors.0.pointer"), "/keys");

    // The rest: two devices that fail still, all at once and without a word.
    const ApiAnswer rest = ada.post("/api/monitoring/dlq/retry");
    ASSERT_EQ(rest.status, 200) << rest.body;
    EXPECT_THAT(rest.at("tasksRetried"), AnyOf("1", "2"));
}

TEST_F(FailureControl, TenActsAMinuteAndPrincipal) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient ada = person("ada");
    ApiClient bob = person("bob");
    for (int i = 0; i < 10; ++i) {
        const ApiAnswer act = ada.post(kBreakers + web_key(kWell) + "/reset");
        ASSERT_EQ(act.status, 409) << "a refused act counts too";
        EXPECT_EQ(act.header("x-ratelimit-limit"), "10");
        EXPECT_EQ(act.header("x-ratelimit-remaining"), std::to_string(9 - i));
    }
    // Whatever the act: they share the limit.
    for (const ApiAnswer& over :
         {ada.post(kBreakers + web_key(kTired) + "/reset"), ada.post("/api/monitoring/dlq/retry"),
          ada.ask("DELETE", kDlq + web_key(kTired))}) {
        EXPECT_EQ(over.status, 429) << over.body;
        const int wait = std::atoi(over.header("retry-after").c_str());
        EXPECT_TRUE(wait >= 1 && wait <= 61) << wait;
        EXPECT_EQ(over.at("code"), "api.too-many-requests");
    }
    EXPECT_EQ(ada.get("/api/monitoring/dlq").status, 200) << "reading goes on";
    EXPECT_EQ(bob.post(kBreakers + web_key(kWell) + "/reset").status, 409) << "others go on";
    EXPECT_EQ(instance_text(kTired, "enabled"), "true");
}

TEST_F(FailureControl, ListsAreFilteredPagedAndLimitedToWhatOneMaySee) {
    ASSERT_NO_FATAL_FAILURE(start_failing());
    ApiClient root = admin();
    std::vector<std::string> keys;
    std::string cursor;
    for (int page = 0; page < 20; ++page) {
        const ApiAnswer answer = root.get("/api/monitoring/dlq?limit=3&reason=permanent_failure" +
                                          (cursor.empty() ? "" : "&cursor=" + cursor));
        ASSERT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(answer.at("count"), std::to_string(kDevices - 3));
        const Node list = answer.json();
        for (const Node& one : list.find("items")->items()) keys.push_back(text_at(one, "key"));
        cursor = answer.at("next");
        if (cursor.empty()) break;
    }
    std::vector<std::string> wanted;
    for (std::size_t i = kLocked; i <= kDevices; ++i) wanted.push_back(web_key(i));
    EXPECT_EQ(keys, wanted);
    EXPECT_EQ(root.get("/api/monitoring/dlq?type=pve").at("count"), "0");
    EXPECT_EQ(root.get("/api/monitoring/breakers?q=" + web(kGone)).at("count"), "1");
    EXPECT_EQ(root.get("/api/monitoring/breakers?state=closed").status, 400);
    const ApiAnswer plan = root.get("/api/scheduler/plan?limit=3");
    EXPECT_EQ(node_at(plan.json(), "items")->items().size(), 3U) << plan.body;
    const ApiAnswer why = root.get("/api/tasks/" + encoded(kLocked) + "/explain");
    EXPECT_EQ(why.at("task.dead_letter"), "permanent_failure") << why.body;
    EXPECT_FALSE(why.at("verdict").empty());

    // Somebody of another site sees and touches his own only.
    ApiClient berlin =
        client_with(new_user("berlin", R"([{"role":"admin","selector":"site=berlin"}])"));
    EXPECT_EQ(berlin.get("/api/monitoring/dlq").at("count"), "0");
    const ApiAnswer health = berlin.get("/api/monitoring/scheduler/health");
    EXPECT_EQ(node_at(health.json(), "instances")->items().size(), 1U) << health.body;
    EXPECT_EQ(health.at("deadLetter.count"), "0");
    const ApiAnswer own_plan = berlin.get("/api/scheduler/plan?limit=1");
    EXPECT_EQ(own_plan.at("items.0.key"), web_key(kWell)) << own_plan.body;
    EXPECT_EQ(berlin.get("/api/tasks/" + web_key(kTired) + "/explain").status, 404);
    EXPECT_EQ(berlin.post(kBreakers + web_key(kTired) + "/reset").status, 404);
    EXPECT_EQ(berlin.post(kDlq + web_key(kTired) + "/retry").status, 404);
    for (const char* target : {"", "?target=keep", "?target=remove"}) {
        EXPECT_EQ(berlin.ask("DELETE", kDlq + web_key(kTired) + target).status, 404) << target;
    }
    const ApiAnswer bulk = berlin.post("/api/monitoring/breakers/reset");
    EXPECT_EQ(bulk.at("breakersReset"), "0") << bulk.body;
    EXPECT_EQ(
        berlin
            .post("/api/monitoring/dlq/retry", fmt::format(R"({{"keys":["{}"]}})", web_key(kTired)))
            .status,
        403);
    EXPECT_EQ(instance_text(kTired, "deadLetter.present"), "true");
    // What is elsewhere is not there for them.
    const ApiAnswer part =
        berlin.post("/api/monitoring/dlq/retry",
                    fmt::format(R"({{"keys":["{}","{}"]}})", web_key(kTired), web_key(kWell)));
    EXPECT_EQ(part.at("tasksRetried"), "0") << part.body;
    EXPECT_EQ(part.at("passedOver.0.why"), "unknown");
    EXPECT_EQ(part.at("passedOver.1.why"), "nothing_to_do");
}

}  // namespace
}  // namespace pollux::live
