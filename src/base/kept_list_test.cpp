#include "base/kept_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pollux::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeptList, HoldsWhatWasAddedSinceItWasCleared) {
    KeptList<std::string> list;
    EXPECT_THAT(list, IsEmpty());
    list.add() = "a";
    list.push_back("b");
    EXPECT_THAT(list, ElementsAre("a", "b"));
    EXPECT_EQ(list.back(), "b");
    list.clear();
    EXPECT_THAT(list, IsEmpty());
    list.add() = "c";
    EXPECT_THAT(list, ElementsAre("c"));
    EXPECT_EQ(list.front(), "c");
    EXPECT_EQ(list[0], "c");
}

TEST(KeptList, KeepsTheRoomOfWhatWasClearedUpToABound) {
    KeptList<std::string> list;
    const std::string text(100, 'x');
    for (std::size_t i = 0; i < 2 * KeptList<std::string>::kKept; ++i) list.add() = text;
    list.clear();
    for (std::size_t i = 0; i < KeptList<std::string>::kKept; ++i) {
        EXPECT_GE(list.add().capacity(), text.size());
    }
    EXPECT_LT(list.add().capacity(), text.size());
}

}  // namespace
}  // namespace pollux::base
