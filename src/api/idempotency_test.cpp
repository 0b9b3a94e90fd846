#include "api/idempotency.hpp"

#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using Verdict = IdempotencyTable::Verdict;
constexpr base::SipKey kKey{1, 2};

base::BootTime hours(int count) { return base::BootTime{} + std::chrono::hours(count); }

Verdict begin(IdempotencyTable& table, const std::string& name, std::string_view body = "{}",
              base::BootTime now = {}) {
    return table.begin(name, "POST", "/a", body, now).verdict;
}

TEST(Idempotency, TellsTheStagesOfAnEntry) {
    IdempotencyTable table(kKey);
    const std::string name = IdempotencyTable::name("user:a", "k");
    EXPECT_EQ(begin(table, name), Verdict::kFresh);
    EXPECT_EQ(begin(table, name), Verdict::kInWork);
    EXPECT_EQ(begin(table, name, "other"), Verdict::kMismatch);
    EXPECT_EQ(begin(table, IdempotencyTable::name("user:b", "k")), Verdict::kFresh);
    table.finish(name, net::Response::json(201, "done"));
    const auto found = table.begin(name, "POST", "/a", "{}", {});
    ASSERT_EQ(found.verdict, Verdict::kReplay);
    EXPECT_EQ(found.answer->body, "done");
    EXPECT_EQ(table.begin(name, "POST", "/b", "{}", {}).verdict, Verdict::kMismatch);
}

TEST(Idempotency, ForgetsFailuresOfTheServerAndOldEntries) {
    IdempotencyTable table(kKey);
    EXPECT_EQ(begin(table, "a"), Verdict::kFresh);
    table.finish("a", net::Response::json(503, ""));
    EXPECT_EQ(begin(table, "a"), Verdict::kFresh);
    table.finish("a", net::Response::json(409, "no"));
    EXPECT_EQ(begin(table, "a", "{}", hours(23)), Verdict::kReplay);
    EXPECT_EQ(begin(table, "a", "{}", hours(24)), Verdict::kFresh);
    table.abandon("a");
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.bytes(), 0U);
}

TEST(Idempotency, StaysWithinItsBounds) {
    IdempotencyTable table(kKey, 3, 100);
    EXPECT_EQ(begin(table, "working"), Verdict::kFresh);
    for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string(i);
        EXPECT_EQ(begin(table, name), Verdict::kFresh);
        table.finish(name, net::Response::json(200, std::string(40, 'x')));
        EXPECT_LE(table.size(), 3U);
        EXPECT_LE(table.bytes(), 100U);
    }
    EXPECT_EQ(begin(table, "working"), Verdict::kInWork);
    EXPECT_EQ(begin(table, "49"), Verdict::kReplay);
    EXPECT_EQ(begin(table, "b"), Verdict::kFresh);
    EXPECT_EQ(begin(table, "c"), Verdict::kFresh);
    EXPECT_EQ(begin(table, "d"), Verdict::kFull);
    table.finish("b", net::Response::json(200, std::string(101, 'x')));  // too large to keep
    EXPECT_EQ(begin(table, "d"), Verdict::kFresh);
}

}  // namespace
}  // namespace pollux::api
