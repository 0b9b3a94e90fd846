#include "access/login_guard.hpp"

#include <gtest/gtest.h>

namespace pollux::access {
namespace {

using namespace std::chrono_literals;

class LoginGuardTest : public ::testing::Test {
  protected:
    bool open(const std::string& user, const std::string& address, bool known = true) {
        return guard_.admit(user, known, address, now_) == 0s;
    }
    void pass(base::Duration time) { now_ += time; }

    LoginLimits limits_{.entries = 50};
    LoginGuard guard_{limits_, {1, 2}};
    base::BootTime now_ = base::BootTime{} + 1h;
};

TEST_F(LoginGuardTest, FiveFailuresLockAUserFromEveryAddressForFifteenMinutes) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(open("alice", "10.0.0." + std::to_string(i)));
    EXPECT_EQ(guard_.admit("alice", true, "10.0.1.1", now_), 15min);
    pass(14min);
    EXPECT_EQ(guard_.admit("alice", true, "10.0.1.1", now_), 1min);
    EXPECT_TRUE(open("bob", "10.0.1.1"));
    pass(1min);
    EXPECT_TRUE(open("alice", "10.0.1.1"));
}

TEST_F(LoginGuardTest, FiveFailuresLockAnAddressForEveryUser) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(open("user" + std::to_string(i), "10.0.0.1", i % 2));
    EXPECT_FALSE(open("alice", "10.0.0.1"));
    EXPECT_TRUE(open("alice", "10.0.0.2"));
    pass(15min);
    EXPECT_TRUE(open("alice", "10.0.0.1"));
}

TEST_F(LoginGuardTest, RefusedAttemptsDoNotProlongTheLock) {
    for (int i = 0; i < 5; ++i) open("alice", "a");
    for (int i = 0; i < 14; ++i) {
        pass(1min);
        EXPECT_FALSE(open("alice", "b" + std::to_string(i)));
    }
    pass(1min);
    EXPECT_TRUE(open("alice", "c"));
}

TEST_F(LoginGuardTest, FailuresAreForgottenAfterAsLongAsALockWouldLast) {
    for (int i = 0; i < 4; ++i) open("alice", "a" + std::to_string(i));
    pass(15min);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(open("alice", "b" + std::to_string(i)));
}

TEST_F(LoginGuardTest, ASuccessClearsTheUserAndOnlyItsOwnAttemptOfTheAddress) {
    for (int round = 0; round < 4; ++round) {
        EXPECT_TRUE(open("victim" + std::to_string(round), "evil"));
        EXPECT_TRUE(open("own", "evil"));
        guard_.succeeded("own", true, "evil", now_);
    }
    EXPECT_TRUE(open("victim", "evil"));
    EXPECT_FALSE(open("own", "evil"));  // five failures, whatever succeeded in between
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(open("alice", "home"));
        guard_.succeeded("alice", true, "home", now_);
    }
}

TEST_F(LoginGuardTest, AttemptsThatWereNeverLookedAtCountForNothing) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(open("alice", "home"));
        guard_.abandoned("alice", true, "home", now_);
    }
}

TEST_F(LoginGuardTest, FloodingTheTablesUnlocksNobody) {
    for (int i = 0; i < 5; ++i) open("alice", "evil");
    for (int i = 0; i < 5000; ++i) {
        guard_.admit("stranger" + std::to_string(i), false, "net" + std::to_string(i), now_);
    }
    EXPECT_FALSE(open("alice", "fresh"));
    EXPECT_FALSE(open("bob", "evil"));
    // Newcomers share counters, and those lock too.
    int refused = 0;
    for (int i = 0; i < 20; ++i) refused += open("unknown", "x" + std::to_string(i), false) ? 0 : 1;
    EXPECT_GE(refused, 15);
    pass(15min);
    EXPECT_TRUE(open("alice", "evil"));
}

TEST_F(LoginGuardTest, AFullTableTakesNewNamesWhenOldOnesAreForgotten) {
    FailureTable table({.entries = 3}, {1, 2});
    for (const char* name : {"a", "b", "c", "d"}) table.count(name, now_);
    EXPECT_EQ(table.size(), 3u);
    pass(15min);
    table.count("e", now_);
    EXPECT_EQ(table.size(), 1u);
    table.clear("e");
    EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace pollux::access
