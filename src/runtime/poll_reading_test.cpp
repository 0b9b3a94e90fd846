#include "runtime/poll_reading.hpp"

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
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr base::Instant kStart{base::BootTime{9'000'000'000'000},
                               base::WallTime{1'700'000'000'000'000}};

base::Instant after(base::Duration span) { return {kStart.boot + span, kStart.wall + span}; }

std::vector<model::Reply> answers(const std::string& main) {
    std::vector<model::Reply> replies;
    replies.push_back(http_reply(main));
    replies.push_back(http_reply(R"({"dust": 0.5})"));
    return replies;
}

PollReading reading_of_failure(FailureKind kind, int status = 0, const char* message = "x") {
    std::vector<model::Reply> replies;
    replies.push_back(failed_reply(kind, "some.code", message));
    std::get<model::PollFailure>(replies[0].answer).http_status = status;
    derive::TargetMemory memory;
    return read_poll(*lamp_plan("hall"), replies, memory, kStart);
}

TEST(PollReading, AGoodPollHasADigestAndNoProblems) {
    derive::TargetMemory memory;
    auto reading =
        read_poll(*lamp_plan("hall"), answers(R"({"level": 80, "turns": 1})"), memory, kStart);
    EXPECT_EQ(reading.outcome, Outcome::kOk);
    RunReport report;
    describe(reading, report);
    EXPECT_EQ(report.outcome, Outcome::kOk);
    EXPECT_TRUE(report.has_digest);
    EXPECT_EQ(report.digest, reading.observation.digest);
    EXPECT_EQ(report.problems, 0U);
    EXPECT_EQ(report.kind, FailureKind::kNone);
}

TEST(PollReading, WhatLacksAPartIsDegraded) {
    derive::TargetMemory memory;
    auto reading = read_poll(*lamp_plan("hall"), answers(R"({"level": "x"})"), memory, kStart);
    EXPECT_EQ(reading.outcome, Outcome::kDegraded);
    RunReport report;
    describe(reading, report);
    EXPECT_GE(report.problems, 2U);
    EXPECT_TRUE(model::is_success(report.outcome));
}

TEST(PollReading, FailuresAreRetriedUnlessAPersonIsNeeded) {
    EXPECT_EQ(reading_of_failure(FailureKind::kTimeout).outcome, Outcome::kTransient);
    EXPECT_EQ(reading_of_failure(FailureKind::kConnection).outcome, Outcome::kTransient);
    EXPECT_EQ(reading_of_failure(FailureKind::kDns).outcome, Outcome::kTransient);
    EXPECT_EQ(reading_of_failure(FailureKind::kApi, 503).outcome, Outcome::kTransient);
    EXPECT_EQ(reading_of_failure(FailureKind::kAuth).outcome, Outcome::kPermanent);
    EXPECT_EQ(reading_of_failure(FailureKind::kAuth, 401).outcome, Outcome::kPermanent);
    EXPECT_EQ(reading_of_failure(FailureKind::kCertificate).outcome, Outcome::kPermanent);
    EXPECT_EQ(reading_of_failure(FailureKind::kConfiguration).outcome, Outcome::kPermanent);
    EXPECT_EQ(reading_of_failure(FailureKind::kCancelled).outcome, Outcome::kInterrupted);
}

TEST(PollReading, AnyAnswerSaysThatTheDeviceLives) {
    const auto heard = [](std::vector<model::Reply> replies, model::Ask ask = {}) {
        std::vector<const model::Reply*> given = {nullptr};  // one that was not asked
        for (const model::Reply& reply : replies) given.push_back(&reply);
        return heard_of(ask, given);
    };
    const auto one = [](FailureKind kind) {
        std::vector<model::Reply> replies;
        replies.push_back(failed_reply(kind, "some.code", "x"));
        return replies;
    };
    for (const FailureKind kind : {FailureKind::kAuth, FailureKind::kCertificate, FailureKind::kApi,
                                   FailureKind::kValidation, FailureKind::kNotFound}) {
        EXPECT_EQ(heard(one(kind)), Heard::kAnswer) << model::to_string(kind);
    }
    for (const FailureKind kind :
         {FailureKind::kConnection, FailureKind::kTimeout, FailureKind::kDns}) {
        EXPECT_EQ(heard(one(kind)), Heard::kSilence) << model::to_string(kind);
    }
    EXPECT_EQ(heard(one(FailureKind::kConfiguration)), Heard::kNothing);
    // The first request was answered, the second one was not.
    auto half = one(FailureKind::kTimeout);
    half.push_back(http_reply("{}"));
    EXPECT_EQ(heard(std::move(half)), Heard::kAnswer);
    model::Ask program;
    program.request = model::ExecAsk{};
    EXPECT_EQ(heard(one(FailureKind::kApi), program), Heard::kSilence)
        << "a program speaks for itself";
}

TEST(PollReading, DescribesAFailure) {
    auto reading = reading_of_failure(FailureKind::kTimeout, 0, "no answer within 5 s");
    reading.failure.retry_after = 9s;
    RunReport report;
    describe(reading, report);
    EXPECT_EQ(report.outcome, Outcome::kTransient);
    EXPECT_EQ(report.kind, FailureKind::kTimeout);
    EXPECT_EQ(report.code, "some.code");
    EXPECT_EQ(report.message, "no answer within 5 s");
    EXPECT_EQ(report.retry_after, 9s);
    EXPECT_FALSE(report.has_digest);
}

TEST(PollReading, AFailedPollTeachesNothing) {
    derive::TargetMemory memory;
    std::vector<model::Reply> replies;
    replies.push_back(failed_reply(FailureKind::kTimeout, "http.timeout", "silent"));
    read_poll(*lamp_plan("hall"), replies, memory, kStart);
    EXPECT_EQ(memory.size(), 0U);
}

TEST(PollReading, WritesValuesWithTheirAge) {
    const auto plan = lamp_plan("hall \"1\"");
    derive::TargetMemory memory;
    read_poll(*plan, answers(R"({"level": 80, "turns": 100, "mood": "fine"})"), memory, kStart);
    read_poll(*plan, answers(R"({"level": 81.5, "turns": 700, "mood": "bad"})"), memory,
              after(60s));
    DevicePage page;
    add_values(page, *plan, memory, after(60s).boot, after(90s).boot);
    const std::string labels =
        "{target=\"lamp::hall \\\"1\\\"\",device=\"hall \\\"1\\\"\",addon=\"lamp\"} ";
    EXPECT_EQ(page.text(),
              "# HELP pollux_device_age_seconds Age of the values of a target.\n"
              "# TYPE pollux_device_age_seconds gauge\n"
              "pollux_device_age_seconds" +
                  labels +
                  "30\n"
                  "# HELP pollux_device_dust dust\n"
                  "# TYPE pollux_device_dust gauge\n"
                  "pollux_device_dust" +
                  labels +
                  "0.5\n"
                  "# HELP pollux_device_level_percent How bright.\n"
                  "# TYPE pollux_device_level_percent gauge\n"
                  "pollux_device_level_percent" +
                  labels +
                  "81.5\n"
                  "# HELP pollux_device_turns_per_second turns\n"
                  "# TYPE pollux_device_turns_per_second gauge\n"
                  "pollux_device_turns_per_second" +
                  labels + "10\n");
}

TEST(PollReading, AValueThatDidNotComeAgainIsLeftOut) {
    auto plan = lamp_plan("hall");
    plan->stale_after = 5min;
    derive::TargetMemory memory;
    read_poll(*plan, answers(R"({"level": 80, "turns": 1})"), memory, kStart);
    read_poll(*plan, answers(R"({"turns": 2})"), memory, after(6min));
    DevicePage page;
    add_values(page, *plan, memory, after(6min).boot, after(6min).boot);
    EXPECT_THAT(page.text(), Not(HasSubstr("level")));
    EXPECT_THAT(page.text(), HasSubstr("pollux_device_dust"));
}

TEST(PollReading, SeriesKeepTheirIdsAcrossProcesses) {
    const net::test::TempDir folder;
    const auto plan = lamp_plan("hall");
    derive::TargetMemory memory;
    read_poll(*plan, answers(R"({"level": 80, "turns": 1, "mood": "fine"})"), memory, kStart);
    std::vector<std::int64_t> first;
    {
        auto directory = store::DataDirectory::open(folder.file("data"));
        ASSERT_TRUE(directory) << directory.error().message;
        auto history = store::History::open(*directory, {}).value();
        SeriesDirectory known;
        ASSERT_TRUE(known.load(*history));
        store::SampleBatch batch;
        define_series(*plan, memory, *history, known, first, batch);
        ASSERT_EQ(first.size(), memory.size());
        EXPECT_EQ(batch.definitions.size(), 3U) << "a text has no history";
        for (const auto& definition : batch.definitions) {
            EXPECT_GT(definition.id, 0);
            EXPECT_EQ(definition.target_id, "id-hall");
            EXPECT_EQ(definition.target_key, "lamp::hall");
            EXPECT_EQ(definition.type, definition.metric == "turns" ? store::SeriesType::kRate
                                                                    : store::SeriesType::kGauge);
        }
        store::SampleBatch again;
        define_series(*plan, memory, *history, known, first, again);
        EXPECT_TRUE(again.definitions.empty());
        ASSERT_TRUE(history->append(std::move(batch)));
        ASSERT_TRUE(history->close());
    }
    auto directory = store::DataDirectory::open(folder.file("data"));
    ASSERT_TRUE(directory) << directory.error().message;
    auto history = store::History::open(*directory, {}).value();
    SeriesDirectory known;
    ASSERT_TRUE(known.load(*history));
    std::vector<std::int64_t> second;
    store::SampleBatch batch;
    define_series(*plan, memory, *history, known, second, batch);
    EXPECT_EQ(second, first);
    EXPECT_TRUE(batch.definitions.empty());
}

}  // namespace
}  // namespace pollux::runtime
