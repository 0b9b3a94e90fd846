#include "runtime/shard.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_process.hpp"
#include "runtime/runtime_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::FailureKind;
using model::Outcome;
using test::failed_reply;
using test::http_reply;
using test::lamp_plan;
using test::ShardStage;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kBright = R"({"level": 80, "turns": 10, "mood": "fine"})";

model::Reply silence() {
    return failed_reply(FailureKind::kTimeout, "http.timeout", "no answer within 5 s");
}

TEST(Shard, AsksEverythingInOrderAndReportsOnce) {
    ShardStage stage;
    const auto plan = lamp_plan("hall");
    const RunReport report = stage.poll(plan, kBright);
    EXPECT_EQ(report.outcome, Outcome::kOk);
    EXPECT_EQ(report.task, (model::TaskHandle{0, 1}));
    EXPECT_EQ(report.run, (model::RunId{1, 1}));
    EXPECT_TRUE(report.has_digest);
    EXPECT_TRUE(report.code.empty());
    const auto asked = stage.asked().wait_for(2);
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].path, "/main");
    EXPECT_EQ(asked[1].path, "/extra");
    EXPECT_TRUE(test::answers(stage.shard()));
    EXPECT_EQ(stage.reports().size(), 1U);

    const ShardCounts counts = stage.counts();
    const ProtocolCounts& http = counts.protocols.at("http");
    EXPECT_EQ(http.ended.at("ok"), 2U);
    EXPECT_EQ(http.in_flight, 0U);
    EXPECT_EQ(http.bytes_in, 200U);
    EXPECT_EQ(http.bytes_out, 20U);
}

TEST(Shard, KeepsWhatItsDriversLearned) {
    ShardStage stage;
    EXPECT_THAT(stage.memories(), IsEmpty());
    stage.shard().recall({{std::string(kDriverMemory), "engines"}});
    const auto kept = stage.memories();
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].first, kDriverMemory);
    EXPECT_EQ(kept[0].second, "engines");
    EXPECT_THAT(stage.memories(), IsEmpty()) << "nothing new";
}

TEST(Shard, ManyOrdersAreReportedOnceEach) {
    ShardStage stage;
    constexpr std::uint32_t kOrders = 50;
    std::vector<RunOrder> orders;
    for (std::uint32_t i = 0; i < kOrders; ++i) {
        orders.push_back(stage.order(lamp_plan("lamp-" + std::to_string(i)), i));
    }
    stage.shard().dispatch(std::move(orders));
    const auto first = stage.asked().wait_for(kOrders);
    // Every third one is silent, the others answer both requests.
    for (std::size_t i = kOrders; i-- > 0;) {
        stage.answer(first[i].id, i % 3 == 0 ? silence() : http_reply(kBright));
    }
    const std::size_t answering = kOrders - (kOrders + 2) / 3;
    const auto all = stage.asked().wait_for(kOrders + answering);
    for (std::size_t i = kOrders; i < all.size(); ++i) {
        stage.answer(all[i].id, http_reply(R"({"dust": 2})"));
    }
    std::map<std::uint64_t, int> seen;
    for (const RunReport& report : stage.reports().wait_for(kOrders)) {
        ++seen[report.run.counter];
        EXPECT_EQ(report.outcome, report.task.index % 3 == 0 ? Outcome::kTransient : Outcome::kOk);
    }
    EXPECT_TRUE(test::answers(stage.shard()));
    EXPECT_EQ(stage.reports().size(), kOrders);
    EXPECT_EQ(seen.size(), kOrders);
    EXPECT_EQ(stage.counts().protocols.at("http").ended.at("http.timeout"), (kOrders + 2) / 3);
}

TEST(Shard, GivesDriversLessTimeThanTheEngineGives) {
    ShardStage stage;
    RunOrder order = stage.order(lamp_plan("hall"));
    order.fresh_login = true;
    const base::BootTime deadline = order.deadline;
    stage.shard().dispatch({std::move(order)});
    const auto asked = stage.asked().wait_for(1).at(0);
    EXPECT_LT(asked.deadline, deadline);
    EXPECT_TRUE(asked.fresh_login);
}

TEST(Shard, AFailureEndsThePollWithItsReason) {
    ShardStage stage;
    stage.shard().dispatch({stage.order(lamp_plan("hall"))});
    model::Reply refused =
        failed_reply(FailureKind::kAuth, "http.unauthorized", "401 from http://10.0.0.1/main");
    std::get<model::PollFailure>(refused.answer).http_status = 401;
    std::get<model::PollFailure>(refused.answer).retry_after = std::chrono::seconds(7);
    stage.answer(stage.asked().wait_for(1).at(0).id, std::move(refused));
    const RunReport report = stage.reports().wait_for(1).at(0);
    EXPECT_EQ(report.outcome, Outcome::kPermanent);
    EXPECT_EQ(report.kind, FailureKind::kAuth);
    EXPECT_EQ(report.code, "http.unauthorized");
    EXPECT_EQ(report.message, "401 from http://10.0.0.1/main");
    EXPECT_EQ(report.retry_after, std::chrono::seconds(7));
    EXPECT_EQ(stage.asked().size(), 1U) << "the second request has no use any more";
    EXPECT_THAT(stage.page(), IsEmpty());
    EXPECT_THAT(stage.memories(), IsEmpty());
}

TEST(Shard, APollGoesOnWithoutAnOptionalRequest) {
    ShardStage stage;
    stage.shard().dispatch({stage.order(lamp_plan("hall"))});
    stage.answer(stage.asked().wait_for(1).at(0).id, http_reply(kBright));
    stage.answer(stage.asked().wait_for(2).at(1).id, silence());
    EXPECT_EQ(stage.reports().wait_for(1).at(0).outcome, Outcome::kDegraded);
    EXPECT_THAT(stage.page(), HasSubstr("pollux_device_level_percent"));
}

TEST(Shard, AnAnswerThatLacksAPartIsDegraded) {
    ShardStage stage;
    const RunReport report = stage.poll(lamp_plan("hall"), R"({"turns": 3})");
    EXPECT_EQ(report.outcome, Outcome::kDegraded);
    EXPECT_EQ(report.problems, 1U);
    EXPECT_EQ(report.kind, FailureKind::kNone);
}

TEST(Shard, ACancelledRunIsReportedAsInterrupted) {
    ShardStage stage;
    const RunOrder order = stage.order(lamp_plan("hall"));
    const model::RunId run = order.run;
    stage.shard().dispatch({order});
    stage.asked().wait_for(1);
    stage.shard().cancel({{order.task, {1, 999}}, {order.task, run}, {order.task, run}});
    const RunReport report = stage.reports().wait_for(1).at(0);
    EXPECT_EQ(report.run, run);
    EXPECT_EQ(report.outcome, Outcome::kInterrupted);
    EXPECT_EQ(report.kind, FailureKind::kCancelled);
    // What comes later finds nobody, and the next run is not cancelled with it.
    stage.shard().cancel({{order.task, run}});
    EXPECT_EQ(stage.poll(order.plan, kBright).outcome, Outcome::kOk);
    EXPECT_EQ(stage.reports().size(), 2U);
}

TEST(Shard, AnAnswerThatRacesACancelIsReportedOnce) {
    ShardStage stage;
    const RunOrder order = stage.order(lamp_plan("hall"));
    stage.shard().dispatch({order});
    const std::uint64_t id = stage.asked().wait_for(1).at(0).id;
    // The answer is queued behind the cancel, before the driver ends the ask by itself.
    stage.shard().cancel({{order.task, order.run}});
    stage.answer(id, http_reply(kBright));
    EXPECT_EQ(stage.reports().wait_for(1).at(0).outcome, Outcome::kInterrupted);
    EXPECT_TRUE(test::answers(stage.shard()));
    EXPECT_TRUE(test::answers(stage.shard()));
    EXPECT_EQ(stage.reports().size(), 1U);
    EXPECT_EQ(stage.asked().size(), 1U);
}

TEST(Shard, OrdersUnderWayAtTheEndAreReportedByNobody) {
    ShardStage stage;
    stage.shard().dispatch({stage.order(lamp_plan("hall"))});
    stage.asked().wait_for(1);
    stage.shard().stop();
    EXPECT_EQ(stage.reports().size(), 0U);
    stage.shard().stop();
}

TEST(Shard, TriesAnotherAddressAfterOneDidNotAnswer) {
    ShardStage stage;
    const auto plan = lamp_plan("hall", {"10.0.0.1", "10.0.0.2"});
    const auto host_of_next = [&](const model::Reply& main) {
        const std::size_t before = stage.asked().size();
        const std::size_t reported = stage.reports().size();
        stage.shard().dispatch({stage.order(plan)});
        const auto asked = stage.asked().wait_for(before + 1).at(before);
        stage.answer(asked.id, main);
        if (main.ok()) {
            stage.answer(stage.asked().wait_for(before + 2).at(before + 1).id, silence());
        }
        stage.reports().wait_for(reported + 1);
        return asked.host;
    };
    EXPECT_EQ(host_of_next(silence()), "10.0.0.1");
    EXPECT_EQ(host_of_next(http_reply(kBright)), "10.0.0.2");
    EXPECT_EQ(host_of_next(http_reply(kBright)), "10.0.0.2") << "what answers stays";
    const auto refused = failed_reply(FailureKind::kAuth, "http.unauthorized", "refused");
    EXPECT_EQ(host_of_next(refused), "10.0.0.2");
    EXPECT_EQ(host_of_next(silence()), "10.0.0.2") << "it answered, with a refusal";
    const auto closed = failed_reply(FailureKind::kConnection, "http.refused", "refused");
    EXPECT_EQ(host_of_next(closed), "10.0.0.1") << "round again";
    EXPECT_EQ(host_of_next(silence()), "10.0.0.2");
}

TEST(Shard, RemembersCountersOfATaskBetweenPolls) {
    ShardStage stage;
    const auto plan = lamp_plan("hall");
    stage.poll(plan, R"({"level": 80, "turns": 10})");
    EXPECT_THAT(stage.page(), Not(HasSubstr("turns"))) << "a rate needs two polls";
    stage.poll(plan, R"({"level": 70, "turns": 1010})");
    EXPECT_THAT(stage.page(), HasSubstr("pollux_device_turns_per_second"));
    EXPECT_THAT(stage.page(),
                HasSubstr("pollux_device_level_percent{target=\"lamp::hall\",device=\"hall\","
                          "addon=\"lamp\"} 70\n"));
    const auto memories = stage.memories();
    ASSERT_EQ(memories.size(), 1U);
    EXPECT_EQ(memories[0].first, "lamp::hall");
    EXPECT_THAT(stage.memories(), IsEmpty()) << "nothing changed since";

    // Another process goes on where this one was.
    ShardStage later;
    later.shard().recall(memories);
    later.poll(plan, R"({"level": 60, "turns": 5000})");
    EXPECT_THAT(later.page(), HasSubstr("pollux_device_turns_per_second"));
}

std::shared_ptr<PollPlan> watched_lamp() {
    const auto plan = lamp_plan("hall");
    plan->addon = test::compiled(std::string(test::kLampManifest) + R"yaml(
conditions:
  - {name: dim, metric: level, trigger: "< 20", clear: ">= 25"}
)yaml");
    return plan;
}

std::string bright(int level) { return fmt::format(R"({{"level": {}, "turns": 1}})", level); }

TEST(Shard, SendsOnlyNewsOfConditions) {
    ShardStage stage;
    const auto plan = watched_lamp();
    stage.poll(plan, bright(80));
    ASSERT_EQ(stage.signals().size(), 1U) << "the first poll tells what it decided";
    EXPECT_THAT(stage.signals().wait_for(1)[0].signals.settled_types, testing::ElementsAre("dim"));
    stage.poll(plan, bright(70));
    stage.poll(plan, bright(60));
    EXPECT_EQ(stage.signals().size(), 1U) << "all is well: nothing is sent";
    stage.poll(plan, bright(10));
    stage.poll(plan, bright(12));
    const auto raised = stage.signals().wait_for(2);
    ASSERT_EQ(raised.size(), 2U) << "once";
    ASSERT_EQ(raised[1].signals.signals.size(), 1U);
    EXPECT_EQ(raised[1].signals.signals[0].type, "dim");
    EXPECT_EQ(raised[1].signals.signals[0].message, "level is 10 %, below 20 %");
    stage.poll(plan, bright(80));
    stage.poll(plan, bright(80));
    stage.poll(plan, bright(80));
    const auto over = stage.signals().wait_for(4);
    ASSERT_EQ(over.size(), 4U) << "that it is over, and that all is well";
    EXPECT_TRUE(over[2].signals.signals.at(0).clear);
    EXPECT_THAT(over[3].signals.signals, IsEmpty());
}

TEST(Shard, AnEditOfTheFleetKeepsWhatIsRaised) {
    ShardStage stage;
    const auto plan = watched_lamp();
    stage.poll(plan, bright(10));
    const auto edited = watched_lamp();
    edited->addon = plan->addon;
    edited->alerts.types["dim"].all = {.trigger = 5.0, .severity = model::Severity::kCritical};
    stage.poll(edited, bright(9));  // between the new limits
    const auto sent = stage.signals().wait_for(2);
    ASSERT_EQ(sent.size(), 2U);
    ASSERT_EQ(sent[1].signals.signals.size(), 1U) << "still raised";
    EXPECT_EQ(sent[1].signals.signals[0].severity, "critical");
    EXPECT_EQ(sent[1].signals.signals[0].rule, "level < 5 (clear at >= 10)");
}

TEST(Shard, ForgetsWhatATaskTaught) {
    ShardStage stage;
    const auto plan = lamp_plan("hall");
    stage.poll(plan, kBright);
    stage.shard().forget(0);
    stage.shard().forget(77);
    EXPECT_THAT(stage.page(), IsEmpty());
    EXPECT_THAT(stage.memories(), IsEmpty());
    stage.poll(plan, R"({"level": 70, "turns": 1010})");
    EXPECT_THAT(stage.page(), Not(HasSubstr("turns")));
}

TEST(Shard, ANewTaskInTheSamePlaceStartsWithoutMemory) {
    ShardStage stage;
    stage.poll(lamp_plan("hall"), kBright, 0, 1);
    stage.poll(lamp_plan("cellar"), R"({"level": 1, "turns": 1010})", 0, 2);
    EXPECT_THAT(stage.page(), Not(HasSubstr("turns")));
    EXPECT_THAT(stage.page(), Not(HasSubstr("hall")));
    EXPECT_THAT(stage.page(), HasSubstr("cellar"));
}

TEST(Shard, AnotherAddonStartsWithoutMemory) {
    ShardStage stage;
    stage.poll(lamp_plan("hall"), kBright);
    std::string text(test::kLampManifest);
    text.replace(text.find("help: How bright."), 17, "help: Brightness.");
    auto changed = lamp_plan("hall");
    changed->addon = test::compiled(text);
    stage.poll(changed, R"({"level": 1, "turns": 1010})");
    EXPECT_THAT(stage.page(), Not(HasSubstr("turns")));
}

TEST(Shard, ARunThatEndsAfterItsTaskWentLeavesNothingBehind) {
    ShardStage stage;
    const auto plan = lamp_plan("hall");
    stage.shard().dispatch({stage.order(plan)});
    const std::uint64_t id = stage.asked().wait_for(1).at(0).id;
    stage.shard().forget(0);
    stage.answer(id, http_reply(kBright));
    stage.answer(stage.asked().wait_for(2).at(1).id, http_reply(R"({"dust": 1})"));
    EXPECT_EQ(stage.reports().wait_for(1).at(0).outcome, Outcome::kInterrupted);
    EXPECT_THAT(stage.page(), IsEmpty()) << "values of a target that is gone";
    EXPECT_THAT(stage.memories(), IsEmpty()) << "the store would keep them for ever";
}

TEST(Shard, DamagedMemoryIsLeftOut) {
    ShardStage stage;
    stage.shard().recall({{"lamp::hall", "\xff\xff no memory"}});
    EXPECT_EQ(stage.poll(lamp_plan("hall"), kBright).outcome, Outcome::kOk);
    EXPECT_THAT(stage.page(), HasSubstr("pollux_device_level_percent"));
}

TEST(Shard, OldValuesAreNotShown) {
    ShardStage stage;
    auto plan = lamp_plan("hall");
    plan->stale_after = base::Duration{-1};
    stage.poll(plan, kBright);
    EXPECT_THAT(stage.page(), IsEmpty());
}

TEST(Shard, WritesSamplesIntoHistory) {
    const net::test::TempDir folder;
    auto directory = store::DataDirectory::open(folder.file("data"));
    ASSERT_TRUE(directory) << directory.error().message;
    auto history = store::History::open(*directory, {});
    ASSERT_TRUE(history) << history.error().message;
    SeriesDirectory known;
    ASSERT_TRUE(known.load(**history));
    {
        ShardStage stage(history->get(), &known);
        stage.poll(lamp_plan("hall"), kBright);
        auto silent = lamp_plan("cellar");
        silent->history = false;
        stage.poll(silent, kBright, 1);
        (*history)->flush();
    }
    const auto series = (*history)->series_of("id-hall");
    ASSERT_TRUE(series) << series.error().message;
    std::vector<std::string> names;
    for (const auto& one : *series) names.push_back(one.metric);
    EXPECT_THAT(names, testing::UnorderedElementsAre("level", "turns", "dust"));
    EXPECT_EQ((*history)->stats().samples_accepted, 2U) << "the counter has no rate yet";
    EXPECT_THAT((*history)->series_of("id-cellar").value(), IsEmpty());
}

}  // namespace
}  // namespace pollux::runtime
