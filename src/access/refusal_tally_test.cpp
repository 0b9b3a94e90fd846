#include "access/refusal_tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::access {
namespace {

using ::testing::HasSubstr;

constexpr base::WallTime kNow{1'800'000'000'000'000};

model::AuditEntry refusal(std::string principal, std::string action) {
    model::AuditEntry entry;
    entry.at = kNow;
    entry.principal = std::move(principal);
    entry.action = std::move(action);
    entry.address = "192.0.2.1";
    entry.after = "access.login_failed";
    return entry;
}

TEST(RefusalTally, WithoutALoginThereIsOneEntryAMinute) {
    RefusalTally tally;
    for (int i = 0; i < 100'000; ++i) {
        EXPECT_FALSE(
            tally.note(refusal("anonymous", i % 2 ? "session.login" : "access.bootstrap")));
    }
    const auto entries = tally.take(kNow + std::chrono::minutes(1));
    ASSERT_EQ(entries.size(), 2u);
    for (const auto& entry : entries) {
        EXPECT_EQ(entry.principal, "anonymous");
        EXPECT_EQ(entry.result, model::AuditResult::kRefused);
        EXPECT_EQ(entry.at, kNow + std::chrono::minutes(1));
        EXPECT_THAT(entry.after, HasSubstr("50000 times"));
        EXPECT_THAT(entry.after, HasSubstr("192.0.2.1"));
    }
    EXPECT_TRUE(tally.take(kNow).empty());
}

TEST(RefusalTally, WhoIsLoggedInGetsEntriesOfHisOwnUpToABound) {
    RefusalTally tally;
    int written = 0;
    for (int i = 0; i < 50; ++i) written += tally.note(refusal("user:a", "user.create")) ? 1 : 0;
    EXPECT_EQ(written, 10);
    EXPECT_TRUE(tally.note(refusal("user:b", "user.create")));
    const auto entries = tally.take(kNow);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_THAT(entries[0].after, HasSubstr("40 times"));
    EXPECT_TRUE(tally.note(refusal("user:a", "user.create"))) << "a new minute";
}

TEST(RefusalTally, ManyPrincipalsDoNotGrowIt) {
    RefusalTally tally;
    std::size_t written = 0;
    for (int i = 0; i < 5000; ++i) {
        written += tally.note(refusal("proxy:" + std::to_string(i), "x")) ? 1U : 0U;
    }
    EXPECT_EQ(written, RefusalTally::kMostCounters);
    const auto entries = tally.take(kNow);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].principal, "others");
    EXPECT_THAT(entries[0].after, HasSubstr("4000 times"));
}

}  // namespace
}  // namespace pollux::access
