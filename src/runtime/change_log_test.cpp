#include "runtime/change_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/task_record.hpp"

namespace pollux::runtime {
namespace {

using model::BreakerState;
using model::DeadLetterReason;
using schedule::ChangeKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr base::Instant kNow{base::BootTime{1'000'000'000'000},
                             base::WallTime{1'700'000'000'000'000}};

engine::TaskChange change_of(ChangeKind kind, int from, int to) {
    engine::TaskChange change;
    change.number = 41;
    change.key = "lamp::hall";
    change.change.kind = kind;
    change.change.from = static_cast<std::uint8_t>(from);
    change.change.to = static_cast<std::uint8_t>(to);
    change.change.failures = 3;
    change.change.next_due = kNow.boot + 90s;
    return change;
}

std::string line_of(const engine::TaskChange& change, std::string_view reason = "") {
    std::string all;
    observe::Log log({}, [] { return kNow.wall; }, [&](std::string_view line) { all += line; });
    log_change(log, change, reason, kNow);
    return all;
}

TEST(ChangeLog, WritesTheWholeTransition) {
    EXPECT_EQ(line_of(change_of(ChangeKind::kBreaker, 0, 1), "no answer within 5 s"),
              "time=2023-11-14T22:13:20.000Z level=warn msg=\"circuit breaker opened\" "
              "key=lamp::hall from=closed to=open failures=3 retry_at=2023-11-14T22:14:50.000Z "
              "reason=\"no answer within 5 s\" number=41 provisional=false\n");
}

TEST(ChangeLog, HasTheWordsPeopleSearchFor) {
    const auto breaker = [](BreakerState from, BreakerState to) {
        return line_of(
            change_of(ChangeKind::kBreaker, static_cast<int>(from), static_cast<int>(to)));
    };
    EXPECT_THAT(breaker(BreakerState::kOpen, BreakerState::kHalfOpen),
                HasSubstr("level=info msg=\"circuit breaker half-open: one probe\" key=lamp::hall "
                          "from=open to=half_open"));
    EXPECT_THAT(breaker(BreakerState::kHalfOpen, BreakerState::kClosed),
                HasSubstr("level=info msg=\"circuit breaker closed\""));
    const auto dead = [](DeadLetterReason from, DeadLetterReason to) {
        return line_of(
            change_of(ChangeKind::kDeadLetter, static_cast<int>(from), static_cast<int>(to)));
    };
    EXPECT_THAT(dead(DeadLetterReason::kNone, DeadLetterReason::kPermanentFailure),
                HasSubstr("level=warn msg=\"dead-letter: needs attention\" key=lamp::hall "
                          "from=none to=permanent_failure"));
    EXPECT_THAT(dead(DeadLetterReason::kMaxRetryAttempts, DeadLetterReason::kNone),
                HasSubstr("level=info msg=\"dead-letter cleared\" key=lamp::hall "
                          "from=max_retry_attempts to=none"));
}

TEST(ChangeLog, TellsHealthAlsoTheFirstTime) {
    EXPECT_THAT(line_of(change_of(ChangeKind::kHealth, 1, 0)),
                HasSubstr("level=warn msg=\"target is down\" key=lamp::hall from=up to=down"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kHealth, 0, 1)),
                HasSubstr("level=info msg=\"target is up\" key=lamp::hall from=down to=up"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kHealth, 1, 1)), HasSubstr("from=unknown to=up"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kHealth, 0, 0)), HasSubstr("from=unknown to=down"));
}

TEST(ChangeLog, TellsTheOtherKinds) {
    EXPECT_THAT(line_of(change_of(ChangeKind::kEnabled, 1, 0)),
                HasSubstr("msg=\"task disabled\" key=lamp::hall from=enabled to=disabled"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kEnabled, 0, 1)), HasSubstr("msg=\"task enabled\""));
    EXPECT_THAT(line_of(change_of(ChangeKind::kJob, static_cast<int>(model::JobState::kPending),
                                  static_cast<int>(model::JobState::kCompleted))),
                HasSubstr("msg=\"job changed\" key=lamp::hall from=pending to=completed"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kFaulted, 0, 1)), HasSubstr("level=error"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kBudget, 0, 1)),
                HasSubstr("level=warn msg=\"staleness bounds need more polls than the cap allows"));
    EXPECT_THAT(line_of(change_of(ChangeKind::kBudget, 1, 0)), HasSubstr("to=feasible"));
}

TEST(ChangeLog, SaysWhenNothingIsPlannedAndWhenNothingIsCommitted) {
    engine::TaskChange change = change_of(ChangeKind::kEnabled, 1, 0);
    change.provisional = true;
    for (const base::BootTime never : {base::BootTime{}, base::BootTime::max()}) {
        change.change.next_due = never;
        EXPECT_THAT(line_of(change),
                    HasSubstr("retry_at=\"\" reason=\"\" number=41 provisional=true"));
    }
}

}  // namespace
}  // namespace pollux::runtime
