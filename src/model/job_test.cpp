#include "model/job.hpp"

#include <gmock/gmock.h>

#include <set>

namespace pollux::model {
namespace {

using testing::HasSubstr;
using enum JobPhase;

// Written down once more by hand: what a change of the table must be weighed against.
const std::set<std::pair<JobPhase, JobPhase>> kExpected = {
    {kPending, kBlocked},   {kPending, kReady},     {kPending, kFailed},  {kPending, kCancelled},
    {kBlocked, kPending},   {kBlocked, kReady},     {kBlocked, kFailed},  {kBlocked, kCancelled},
    {kReady, kPending},     {kReady, kBlocked},     {kReady, kRunning},   {kReady, kCancelled},
    {kRunning, kCompleted}, {kRunning, kFailed},    {kRunning, kPending}, {kRunning, kCancelled},
    {kFailed, kPending},    {kCancelled, kPending},
};

TEST(JobTransition, EveryPairIsAllowedOrRefusedAsTheTableSays) {
    for (std::size_t i = 0; i < kJobPhaseCount; ++i) {
        for (std::size_t j = 0; j < kJobPhaseCount; ++j) {
            const auto from = static_cast<JobPhase>(i);
            const auto to = static_cast<JobPhase>(j);
            const auto result = transition(from, to);
            const bool expected = kExpected.contains({from, to});
            ASSERT_EQ(result.has_value(), expected) << to_string(from) << " to " << to_string(to);
            EXPECT_EQ(may_follow(from, to), expected);
            if (expected) {
                EXPECT_EQ(*result, to);
                continue;
            }
            EXPECT_EQ(result.error().code, "job.transition");
            EXPECT_THAT(result.error().message, HasSubstr(to_string(from)));
            EXPECT_THAT(result.error().message, HasSubstr(to_string(to)));
            EXPECT_THAT(result.error().message, HasSubstr("nothing was changed"));
        }
    }
}

TEST(JobTransition, WhatHasEndedComesBackOnlyByATryOfAPerson) {
    EXPECT_FALSE(may_follow(kCompleted, kPending)) << "completed is for good";
    for (const JobPhase ended : {kFailed, kCancelled}) {
        EXPECT_TRUE(has_ended(ended));
        EXPECT_TRUE(may_follow(ended, kPending));
        EXPECT_FALSE(may_follow(ended, kRunning)) << "it goes through all gates again";
    }
}

TEST(JobRun, OutputAndLogAreCutOnWholeCharacters) {
    JobRun run;
    run.output = std::string(kMostJobOutput - 1, 'a') + "\u00e4\u00e4";
    for (int i = 0; i < 300; ++i) run.log.push_back(std::to_string(i));
    run.log.push_back(std::string(kMostJobLogLine - 1, 'b') + "\u20ac");
    keep_bounds(run);
    EXPECT_EQ(run.output.size(), kMostJobOutput - 1) << "half a letter does not stay";
    EXPECT_TRUE(run.truncated);
    ASSERT_EQ(run.log.size(), kMostJobLogLines);
    EXPECT_EQ(run.log.front(), "101") << "the newest lines stay";
    EXPECT_EQ(run.log.back(), std::string(kMostJobLogLine - 1, 'b'));

    JobRun small;
    small.output = "ok";
    keep_bounds(small);
    EXPECT_EQ(small.output, "ok");
    EXPECT_FALSE(small.truncated);
}

TEST(JobKey, ClassesOfJobsAreNoNamesOfAddons) {
    EXPECT_EQ(job_class("http"), "job-http");
    EXPECT_EQ(job_key("http", "0190"), "job-http::0190");
}

}  // namespace
}  // namespace pollux::model
