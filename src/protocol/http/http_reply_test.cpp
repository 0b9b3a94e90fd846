#include "protocol/http/http_reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/failure.hpp"

namespace pollux::protocol {
namespace {

using base::ErrorClass;
using model::FailureKind;
using net::HttpProblem;

model::PollFailure failure(net::HttpOutcome outcome) {
    outcome.reply.final_url = "http://device/x";
    return std::get<model::PollFailure>(reply_of({}, std::move(outcome), {}).answer);
}

ErrorClass class_of(const model::PollFailure& what) {
    return model::classify(
        {.kind = what.kind, .http_status = what.http_status, .message = what.message});
}

TEST(HttpReply, EveryProblemHasACodeOfItsOwn) {
    std::set<std::string> codes;
    for (int i = 1; i <= static_cast<int>(HttpProblem::kInternal); ++i) {
        net::HttpOutcome outcome;
        outcome.problem = static_cast<HttpProblem>(i);
        outcome.detail = "detail";
        const model::PollFailure what = failure(std::move(outcome));
        EXPECT_TRUE(what.code.starts_with("http.")) << i;
        EXPECT_TRUE(codes.insert(what.code).second) << what.code;
        EXPECT_EQ(what.message, "http://device/x: detail");
    }
}

TEST(HttpReply, WhatMayPassByItselfIsTransient) {
    for (const auto problem :
         {HttpProblem::kTimeout, HttpProblem::kDnsNotFound, HttpProblem::kDnsTimeout,
          HttpProblem::kDnsFailure, HttpProblem::kConnectRefused, HttpProblem::kConnectionLost,
          HttpProblem::kTlsHandshake, HttpProblem::kProtocol, HttpProblem::kOverloaded}) {
        net::HttpOutcome outcome;
        outcome.problem = problem;
        EXPECT_EQ(class_of(failure(std::move(outcome))), ErrorClass::kTransient);
    }
    for (const auto problem : {HttpProblem::kTlsExpired, HttpProblem::kTlsPinMismatch,
                               HttpProblem::kBodyTooLarge, HttpProblem::kRedirectLimit}) {
        net::HttpOutcome outcome;
        outcome.problem = problem;
        EXPECT_EQ(class_of(failure(std::move(outcome))), ErrorClass::kPermanent);
    }
    for (const auto problem : {HttpProblem::kEgressDenied, HttpProblem::kBadRequest}) {
        net::HttpOutcome outcome;
        outcome.problem = problem;
        EXPECT_EQ(class_of(failure(std::move(outcome))), ErrorClass::kConfig);
    }
}

TEST(HttpReply, AStatusDecidesItsClass) {
    const auto with_status = [](int status) {
        net::HttpOutcome outcome;
        outcome.reply.status = status;
        return failure(std::move(outcome));
    };
    EXPECT_EQ(with_status(401).code, "http.auth");
    EXPECT_EQ(class_of(with_status(403)), ErrorClass::kAuth);
    EXPECT_EQ(class_of(with_status(404)), ErrorClass::kPermanent);
    EXPECT_EQ(class_of(with_status(500)), ErrorClass::kTransient);
    EXPECT_EQ(class_of(with_status(302)), ErrorClass::kConfig);
    EXPECT_EQ(with_status(500).http_status, 500);
    EXPECT_EQ(with_status(503).retry_after, base::Duration::zero());
}

TEST(HttpReply, RetryAfterCountsForBusyServersOnly) {
    for (const int status : {429, 503, 500}) {
        net::HttpOutcome outcome;
        outcome.reply.status = status;
        outcome.reply.headers = {{"retry-after", "30"}};
        EXPECT_EQ(failure(std::move(outcome)).retry_after,
                  status == 500 ? std::chrono::seconds(0) : std::chrono::seconds(30));
    }
}

}  // namespace
}  // namespace pollux::protocol
