// Defects of Pulse, a predecessor, in dead letters, restarts and the classes of errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/failure.hpp"
#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using base::ErrorClass;
using model::BreakerState;
using model::DeadLetterReason;
using model::FailureKind;
using model::Outcome;
using schedule::ChangeKind;
using schedule::OperatorVerb;
using namespace std::chrono_literals;

bool left_dead_letter(const schedule::Change& change) {
    return change.kind == ChangeKind::kDeadLetter &&
           change.to == static_cast<std::uint8_t>(DeadLetterReason::kNone);
}

Outcome outcome_of(const model::FailureFacts& facts) {
    return model::is_retryable(model::classify(facts)) ? Outcome::kTransient : Outcome::kPermanent;
}

// Nothing ever took an entry out: after one bad spell a target was a dead letter until the process
// was restarted. Here any success ends it, and says so.
TEST(PulseDefect, DeadLetterHasNoExit) {
    for (const auto outcome : {Outcome::kTransient, Outcome::kPermanent}) {
        CoreDriver driver(roomy_settings());
        driver.add(fixed_task("c::x", 60s));
        driver.fail("c::x", 7, outcome);
        ASSERT_NE(driver.failure("c::x").dead_letter, DeadLetterReason::kNone);
        ASSERT_TRUE(driver.run_to_start("c::x"));
        driver.finish("c::x");
        EXPECT_EQ(driver.failure("c::x").dead_letter, DeadLetterReason::kNone);
        EXPECT_EQ(driver.failure("c::x").dead_letter_entries, 0U);
        EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
        EXPECT_TRUE(std::ranges::any_of(driver.commands().changes, left_dead_letter));
        EXPECT_NEAR(driver.wait_s("c::x"), 60, 0.001);
    }
}

// The next attempt of a dead letter was shown and never made. Here what is shown happens.
TEST(PulseDefect, TheRetryOfADeadLetterIsOnlyShown) {
    CoreDriver driver(roomy_settings());
    auto spec = fixed_task("c::x", 60s);
    spec.failure_profile = model::FailureProfile::kPulse;
    driver.add(spec);
    driver.fail("c::x", 5);
    ASSERT_EQ(driver.failure("c::x").dead_letter, DeadLetterReason::kMaxRetryAttempts);
    EXPECT_NEAR(driver.wait_s("c::x"), 1800, 0.001);
    const double shown = driver.second_of(driver.explain("c::x").next_due);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    EXPECT_NEAR(driver.starts().back().at_s, shown, 0.001);
    EXPECT_EQ(driver.starts().back().trigger, model::Trigger::kProbe);
}

// A dead letter was planned again by every pass, like any other task. Here it is the same task with
// the same timer, so nothing can run it sooner.
TEST(PulseDefect, TheNextPassPollsADeadLetter) {
    CoreDriver driver(roomy_settings());
    const auto spec = fixed_task("c::x", 10s);
    driver.add(spec);
    driver.fail("c::x", 2, Outcome::kPermanent);
    ASSERT_EQ(driver.failure("c::x").dead_letter, DeadLetterReason::kPermanentFailure);
    for (int pass = 0; pass < 27; ++pass) {
        driver.run_for(10);
        driver.add(spec);
    }
    EXPECT_EQ(driver.starts().size(), 2U);
    driver.run_for(50);
    EXPECT_EQ(driver.starts().size(), 3U);
}

// A dead letter that the breaker held back was entered anew by every pass, and its count of retries
// grew with the clock. Here it grows with attempts.
TEST(PulseDefect, EveryPassEntersADeadLetterAgain) {
    CoreDriver driver(roomy_settings());
    const auto spec = fixed_task("c::x", 10s);
    driver.add(spec);
    driver.fail("c::x", 2, Outcome::kPermanent);
    const std::size_t changes = driver.changes().size();
    for (int second = 0; second < 240; ++second) {
        driver.run_for(1);
        driver.add(spec);
        ASSERT_EQ(driver.failure("c::x").dead_letter_entries, 1U);
    }
    EXPECT_EQ(driver.changes().size(), changes);
    driver.fail("c::x", 1, Outcome::kPermanent);
    EXPECT_EQ(driver.failure("c::x").dead_letter_entries, 2U);
}

// People could look at dead letters but neither retry nor remove them.
TEST(PulseDefect, NobodyCanWorkOnDeadLetters) {
    CoreDriver driver(roomy_settings());
    for (const char* key : {"c::one", "c::two", "c::three"}) {
        driver.add(fixed_task(key, 60s));
        driver.fail(key, 2, Outcome::kPermanent);
    }
    driver.operate(OperatorVerb::kRetryDeadLetter, "c::one");
    driver.run_for(0.01);
    ASSERT_TRUE(driver.runs("c::one"));
    driver.finish("c::one");
    EXPECT_EQ(driver.failure("c::one").dead_letter, DeadLetterReason::kNone);
    driver.operate(OperatorVerb::kRemoveDeadLetter, "c::two");
    EXPECT_EQ(driver.failure("c::two").dead_letter, DeadLetterReason::kNone);
    EXPECT_FALSE(driver.slot("c::two").has(schedule::kFlagEnabled));
    driver.operate(OperatorVerb::kRetryAllDeadLetters);
    driver.run_for(1.01);
    EXPECT_TRUE(driver.runs("c::three"));
    EXPECT_FALSE(driver.runs("c::two"));
    EXPECT_TRUE(driver.rejections().empty());
}

// Breakers and dead letters lived in memory only; a restart was even recommended to clear them.
TEST(PulseDefect, ARestartForgetsBreakersAndDeadLetters) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::open", 60s));
    driver.add(fixed_task("c::dead", 60s));
    driver.fail("c::dead", 3, Outcome::kPermanent);
    driver.fail("c::open", 3);
    const double due = driver.next_due_s("c::dead");
    driver.restart(5);
    EXPECT_EQ(driver.failure("c::open").breaker, BreakerState::kOpen);
    EXPECT_EQ(driver.failure("c::open").consecutive, 3U);
    EXPECT_EQ(driver.failure("c::dead").dead_letter, DeadLetterReason::kPermanentFailure);
    EXPECT_EQ(driver.failure("c::dead").dead_letter_entries, 2U);
    EXPECT_NEAR(driver.next_due_s("c::dead"), due, 0.001);
    driver.fail("c::open", 1);
    EXPECT_EQ(driver.failure("c::open").consecutive, 4U);
}

// The smoothed intervals were gone too. Here what is believed of a target survives.
TEST(PulseDefect, ARestartForgetsWhatWasLearned) {
    auto settings = roomy_settings();
    settings.mode = model::AdaptiveMode::kOn;
    CoreDriver driver(settings);
    std::uint64_t answers = 0;
    driver.set_worker([&](const std::string&, double) { return Reply{.digest = ++answers}; });
    driver.add(adaptive_task("c::x", 5s, 20s, 300s));
    const double before = driver.explain("c::x").interval.believed_rate;
    driver.run_until(3600);
    const double learned = driver.explain("c::x").interval.believed_rate;
    ASSERT_GT(learned, 2 * before);
    driver.restart(2);
    EXPECT_NEAR(driver.explain("c::x").interval.believed_rate, learned, 0.05 * learned);
}

// A restart of the monitor itself made targets look offline. Here an interrupted run is our own
// doing: no failure, no news about the device.
TEST(PulseDefect, ARestartMakesTargetsLookOffline) {
    CoreDriver driver(roomy_settings());
    for (const char* key : {"c::1", "c::2", "c::3"}) driver.add(fixed_task(key, 60s));
    driver.finish_all();
    driver.run_until(61);
    ASSERT_EQ(driver.running(), 3U);
    const std::size_t changes = driver.changes().size();
    driver.restart(1);
    driver.set_worker(CoreDriver::always({}));
    driver.run_for(60);
    EXPECT_EQ(driver.changes().size(), changes);
    for (const char* key : {"c::1", "c::2", "c::3"}) {
        EXPECT_GE(driver.starts_of(key).size(), 3U);
        EXPECT_EQ(driver.failure(key).consecutive, 0U);
    }
}

// A node that had died was shown as it was last seen: online. Here the first failure says that it
// is down, the next success that it is up, and nothing in between says anything.
TEST(PulseDefect, ADeadNodeLooksOnline) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.finish("c::x");
    std::vector<int> seen;
    const auto note = [&] {
        for (const auto& change : driver.commands().changes) {
            if (change.kind == ChangeKind::kHealth) seen.push_back(change.to);
        }
    };
    for (int i = 0; i < 8; ++i) {
        driver.fail("c::x", 1);
        note();
        ASSERT_EQ(seen, std::vector<int>{0});
    }
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.finish("c::x");
    note();
    EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

// One cluster member that did not answer made the whole cluster look down. Here one good parent of
// a group is enough.
TEST(PulseDefect, OneDeadMemberTakesTheClusterDown) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    model::NeedGroup members;
    members.any_of = {{model::ParentKind::kDevice, "member-1"},
                      {model::ParentKind::kDevice, "member-2"}};
    driver.parent("member-1", true);
    driver.parent("member-2", true);
    driver.add(with_needs(fixed_task("c::guests", 10s), members));
    driver.parent("member-1", false);
    driver.run_until(99);
    EXPECT_EQ(driver.starts_of("c::guests").size(), 10U);
    driver.parent("member-2", false);
    driver.forget_starts();
    driver.run_for(100);
    EXPECT_TRUE(driver.starts().empty());
}

// Refused credentials came wrapped as connection or API errors, and were retried like a cable that
// had been pulled. Here the status decides, and without one the words of the API.
TEST(PulseDefect, RefusedCredentialsAreRetriedLikeNetworkErrors) {
    for (const int status : {401, 403}) {
        for (const auto kind : {FailureKind::kConnection, FailureKind::kApi, FailureKind::kUnknown,
                                FailureKind::kInternal}) {
            EXPECT_EQ(model::classify({kind, status, ""}), ErrorClass::kAuth);
        }
    }
    EXPECT_EQ(model::classify({FailureKind::kApi, 0, "api error 403: Forbidden"}),
              ErrorClass::kAuth);
    EXPECT_FALSE(model::is_retryable(ErrorClass::kAuth));
}

// And what follows from that: asked once more with a fresh login, then left alone for minutes.
TEST(PulseDefect, AWrongPasswordIsTriedAgainAndAgain) {
    CoreDriver driver(roomy_settings());
    const Outcome refused = outcome_of({FailureKind::kConnection, 401, ""});
    driver.set_worker(CoreDriver::always({.outcome = refused}));
    driver.add(fixed_task("c::x", 10s));
    driver.run_until(300);
    ASSERT_EQ(driver.starts().size(), 2U);
    EXPECT_TRUE(driver.starts()[1].fresh_login);
    EXPECT_EQ(driver.failure("c::x").dead_letter, DeadLetterReason::kPermanentFailure);
    driver.run_until(3600);
    EXPECT_LE(driver.starts().size(), 6U);
}

// An error that nobody had classified counted as permanent: one unknown hiccup, and the target was
// a dead letter. Here doubt means "ask again".
TEST(PulseDefect, AnUnknownErrorIsPermanent) {
    EXPECT_EQ(outcome_of({}), Outcome::kTransient);
    EXPECT_EQ(outcome_of({FailureKind::kUnknown, 0, "unexpected end of file"}),
              Outcome::kTransient);
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.fail("c::x", 1, outcome_of({}));
    EXPECT_EQ(driver.failure("c::x").dead_letter, DeadLetterReason::kNone);
    EXPECT_LE(driver.wait_s("c::x"), 6);
}

// Certificates and names had no class of their own. A certificate does not mend itself; a name that
// is not found now may be in a minute.
TEST(PulseDefect, CertificateErrorsAreRetriedLikeNetworkErrors) {
    EXPECT_EQ(outcome_of({FailureKind::kCertificate, 0, "expired"}), Outcome::kPermanent);
}

TEST(PulseDefect, DnsErrorsHaveNoClass) {
    EXPECT_EQ(outcome_of({FailureKind::kDns, 0, "no such host"}), Outcome::kTransient);
}

// The text was searched whatever the error was: a host name with the right word in it made a
// time-out look like refused credentials. Here the text is read only where nothing else is known.
TEST(PulseDefect, AHostNameMakesAnAuthenticationError) {
    const std::string_view text = "no answer from unauthorized.example.org within 10 s";
    ASSERT_TRUE(model::is_auth_error_text(text));
    for (const auto kind : {FailureKind::kTimeout, FailureKind::kConnection, FailureKind::kDns}) {
        EXPECT_EQ(model::classify({kind, 0, text}), ErrorClass::kTransient);
    }
    EXPECT_EQ(model::classify({FailureKind::kApi, 503, text}), ErrorClass::kTransient);
}

}  // namespace
}  // namespace pollux::tests
