#include "runtime/target_state.hpp"

#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using enum TargetState;

TEST(TargetStates, FollowFromWhatIsKnown) {
    EXPECT_EQ(state_of({.enabled = false, .answered = true}), kDisabled);
    EXPECT_EQ(state_of({}), kUnknown);
    EXPECT_EQ(state_of({.answered = true}), kUp);
    EXPECT_EQ(state_of({.answered = true, .partly = true}), kDegraded);
    EXPECT_EQ(state_of({.answered = true, .partly = true, .overdue = true}), kStale);
    EXPECT_EQ(state_of({.answered = true, .up = false, .overdue = true}), kDown);
}

TEST(TargetStates, AParentThatIsDownExplainsOnlyWhatIsNotWell) {
    EXPECT_EQ(state_of({.answered = true, .behind = true}), kUp);
    EXPECT_EQ(state_of({.answered = true, .up = false, .behind = true}), kUnreachable);
    EXPECT_EQ(state_of({.behind = true}), kUnreachable);
    EXPECT_EQ(state_of({.answered = true, .behind = true, .held_back = true}), kUnreachable);
    EXPECT_EQ(state_of({.enabled = false, .behind = true, .held_back = true}), kDisabled);
}

TEST(TargetStates, OfSeveralTasksAreJoined) {
    EXPECT_EQ(joined(kUp, kDown), kDegraded);
    EXPECT_EQ(joined(kDown, kDown), kDown);
    EXPECT_EQ(joined(kUnreachable, kDegraded), kDegraded);
    EXPECT_EQ(joined(kDown, kUnknown), kDown);
    EXPECT_EQ(joined(kUnreachable, kStale), kUnreachable);
    EXPECT_EQ(joined(kUp, kUnknown), kUp);
    EXPECT_EQ(joined(kUp, kStale), kStale);
    EXPECT_EQ(joined(kDisabled, kDown), kDown);
    EXPECT_EQ(joined(kUp, kDisabled), kUp);
    EXPECT_EQ(joined(kDisabled, kDisabled), kDisabled);
    for (const TargetState one : {kUp, kDegraded, kDown, kStale, kUnknown, kUnreachable}) {
        for (const TargetState other : {kUp, kDegraded, kDown, kStale, kUnknown, kUnreachable}) {
            EXPECT_EQ(joined(one, other), joined(other, one));
        }
    }
}

}  // namespace
}  // namespace pollux::runtime
