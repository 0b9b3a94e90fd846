#include "base/slab.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/test_random.hpp"

namespace pollux::base {
namespace {

TEST(Slab, AllocatesFromZeroUp) {
    Slab<int> slab;
    EXPECT_EQ(slab.size(), 0u);
    EXPECT_EQ(slab.allocate(), 0u);
    EXPECT_EQ(slab.allocate(), 1u);
    EXPECT_EQ(slab.allocate(), 2u);
    EXPECT_EQ(slab.size(), 3u);
    EXPECT_EQ(slab.capacity(), 3u);
}

TEST(Slab, ReusesLastInFirstOut) {
    Slab<int> slab;
    for (int i = 0; i < 4; ++i) slab.allocate();
    slab.release(1);
    slab.release(3);
    EXPECT_EQ(slab.size(), 2u);
    EXPECT_EQ(slab.allocate(), 3u);
    EXPECT_EQ(slab.allocate(), 1u);
    EXPECT_EQ(slab.allocate(), 4u);
}

TEST(Slab, ReusedItemsAreFresh) {
    Slab<std::string> slab;
    const std::uint32_t index = slab.allocate();
    slab[index] = "old";
    slab.release(index);
    EXPECT_EQ(slab.allocate(), index);
    EXPECT_EQ(slab[index], "");
}

TEST(Slab, ReleaseFreesWhatTheItemOwns) {
    Slab<std::shared_ptr<int>> slab;
    const auto owned = std::make_shared<int>(1);
    slab[slab.allocate()] = owned;
    EXPECT_EQ(owned.use_count(), 2);
    slab.release(0);
    EXPECT_EQ(owned.use_count(), 1);
}

TEST(Slab, HoldsMoveOnlyItems) {
    Slab<std::unique_ptr<int>> slab;
    slab.reserve(10);
    const std::uint32_t index = slab.allocate();
    slab[index] = std::make_unique<int>(9);
    const Slab<std::unique_ptr<int>>& view = slab;
    EXPECT_EQ(*view[index], 9);
}

TEST(Slab, KnowsWhatIsLive) {
    Slab<int> slab;
    EXPECT_FALSE(slab.is_live(0));
    slab.allocate();
    EXPECT_TRUE(slab.is_live(0));
    slab.release(0);
    EXPECT_FALSE(slab.is_live(0));
}

TEST(Slab, AgreesWithAMapOverRandomUse) {
    TestRandom random(1);
    Slab<std::uint64_t> slab;
    std::map<std::uint32_t, std::uint64_t> expected;
    for (int i = 0; i < 20'000; ++i) {
        if (expected.empty() || !random.one_in(3)) {
            const std::uint32_t index = slab.allocate();
            const std::uint64_t value = random.next();
            slab[index] = value;
            ASSERT_TRUE(expected.emplace(index, value).second);
        } else {
            auto victim =
                expected.lower_bound(static_cast<std::uint32_t>(random.below(slab.capacity())));
            if (victim == expected.end()) victim = expected.begin();
            ASSERT_EQ(slab[victim->first], victim->second);
            slab.release(victim->first);
            expected.erase(victim);
        }
        ASSERT_EQ(slab.size(), expected.size());
    }
    for (const auto& [index, value] : expected) ASSERT_EQ(slab[index], value);
}

TEST(SlabDeathTest, RefusesWhatWasNotAllocated) {
    Slab<int> slab;
    slab.allocate();
    EXPECT_DEATH(slab.release(5), "never allocated");
    EXPECT_DEATH(slab[1] = 2, "check failed");
    EXPECT_DEATH(static_cast<void>(std::as_const(slab)[1]), "check failed");
    slab.release(0);
    EXPECT_DEATH(slab.release(0), "released twice");
}

}  // namespace
}  // namespace pollux::base
