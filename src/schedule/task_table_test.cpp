#include "schedule/task_table.hpp"

#include <gtest/gtest.h>

namespace pollux::schedule {
namespace {

TEST(TaskTable, FindsWhatWasAdded) {
    TaskTable table;
    EXPECT_EQ(table.find("pve::a"), base::FlatIndex::kNone);
    const std::uint32_t a = table.add("pve::a");
    const std::uint32_t b = table.add("pve::b");
    EXPECT_NE(a, b);
    EXPECT_EQ(table.find("pve::a"), a);
    EXPECT_EQ(table.find("pve::b"), b);
    EXPECT_EQ(table.find("pve::c"), base::FlatIndex::kNone);
    EXPECT_EQ(table.key(b), "pve::b");
    EXPECT_EQ(table.size(), 2u);
    EXPECT_EQ(table[a].place, Place::kDisabled) << "a new task waits to be put somewhere";
    EXPECT_EQ(table[a].key_hash, hash_of_key("pve::a"));
}

TEST(TaskTable, AHandleOfARemovedTaskIsUseless) {
    TaskTable table;
    const std::uint32_t index = table.add("pve::a");
    const model::TaskHandle old = table.handle(index);
    EXPECT_TRUE(table.is_live(old));
    table[index].attempt = 7;
    table.remove(index);
    EXPECT_FALSE(table.is_live(old));
    EXPECT_EQ(table.find("pve::a"), base::FlatIndex::kNone);
    EXPECT_EQ(table.size(), 0u);

    const std::uint32_t again = table.add("pve::a");
    EXPECT_EQ(again, index) << "slots are reused";
    EXPECT_EQ(table.capacity(), 1u);
    EXPECT_FALSE(table.is_live(old)) << "the same slot, another generation";
    EXPECT_TRUE(table.is_live(table.handle(again)));
    EXPECT_EQ(table[again].attempt, 0u) << "nothing of the old task is left";
}

TEST(TaskTable, HandlesOutOfRangeAreNotLive) {
    TaskTable table;
    EXPECT_FALSE(table.is_live({}));
    EXPECT_FALSE(table.is_live({0, 0}));
    table.add("pve::a");
    EXPECT_FALSE(table.is_live({0, 0}));
    EXPECT_FALSE(table.is_live({1, 1}));
}

TEST(TaskTable, KeepsThousandsApart) {
    TaskTable table;
    for (int i = 0; i < 5000; ++i) table.add("c::" + std::to_string(i));
    for (int i = 0; i < 5000; i += 2) table.remove(table.find("c::" + std::to_string(i)));
    EXPECT_EQ(table.size(), 2500u);
    for (int i = 0; i < 5000; ++i) {
        const std::uint32_t found = table.find("c::" + std::to_string(i));
        ASSERT_EQ(found != base::FlatIndex::kNone, i % 2 == 1) << i;
    }
    EXPECT_GE(table.memory_bytes(), 5000 * sizeof(TaskSlot));
}

// Phases, percentages and partitions are derived from it: it never changes.
TEST(TaskTable, TheHashOfAKeyIsFixed) {
    EXPECT_EQ(hash_of_key(""), 0x752520a403eae50fU);
    EXPECT_EQ(hash_of_key("pve::pve-node1"), 0xe05cd3b81197cb48U);
}

}  // namespace
}  // namespace pollux::schedule
