#include "schedule/lease_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/test_random.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using namespace std::chrono_literals;

BootTime at(double second) { return BootTime{} + base::from_seconds(second); }

std::uint32_t open(LeaseTable& table, std::uint32_t task, BootTime ends) {
    Lease lease;
    lease.task = task;
    lease.ends = ends;
    return table.open(lease);
}

std::vector<std::uint32_t> ended_tasks(LeaseTable& table, BootTime now) {
    std::vector<std::uint32_t> ended;
    table.collect_ended(now, ended);
    std::vector<std::uint32_t> tasks;
    for (const std::uint32_t index : ended) tasks.push_back(table[index].task);
    std::ranges::sort(tasks);
    for (const std::uint32_t index : ended) table.close(index);
    return tasks;
}

using Tasks = std::vector<std::uint32_t>;

TEST(LeaseTable, KeepsWhatWasOpened) {
    LeaseTable table;
    EXPECT_EQ(table.size(), 0u);
    EXPECT_EQ(table.next_check(), BootTime::max()) << "nothing can end";
    Lease lease;
    lease.task = 4;
    lease.run = {2, 17};
    lease.ends = at(40);
    const std::uint32_t index = table.open(lease);
    const LeaseTable& view = table;
    EXPECT_EQ(view[index].task, 4u);
    EXPECT_EQ(view[index].run, (model::RunId{2, 17}));
    EXPECT_EQ(table.size(), 1u);
    table.close(index);
    EXPECT_EQ(table.size(), 0u);
    EXPECT_EQ(ended_tasks(table, at(100)), Tasks{});
}

// A day and two seconds fall into one bucket: when the short one is over, the long one must not be
// looked for in the past.
TEST(LeaseTable, AnEndedLeaseLeavesNoTimeBehindInItsBucket) {
    LeaseTable table;
    ended_tasks(table, at(31));
    open(table, 1, at(33.001));
    open(table, 2, at(33.001 + 0.25 * 512 * 700));
    EXPECT_EQ(ended_tasks(table, at(61)), Tasks{1});
    EXPECT_GT(table.next_check(), at(61));
}

TEST(LeaseTable, EndsExactlyAtItsTime) {
    LeaseTable table;
    ended_tasks(table, at(1000));
    open(table, 1, at(1030));
    open(table, 2, at(1030.1));
    open(table, 3, at(1030.2));
    EXPECT_EQ(ended_tasks(table, BootTime{at(1030).ns - 1}), Tasks{});
    EXPECT_EQ(ended_tasks(table, at(1030)), Tasks{1});
    EXPECT_EQ(ended_tasks(table, at(1030.15)), Tasks{2}) << "the same bucket is looked at again";
    EXPECT_EQ(ended_tasks(table, at(1031)), Tasks{3});
}

TEST(LeaseTable, ClosesInTheMiddleOfABucket) {
    LeaseTable table;
    ended_tasks(table, at(1000));
    std::vector<std::uint32_t> leases;
    for (std::uint32_t task = 0; task < 5; ++task) leases.push_back(open(table, task, at(1010)));
    table.close(leases[2]);
    table.close(leases[4]);
    table.close(leases[0]);
    EXPECT_EQ(ended_tasks(table, at(1010)), (Tasks{1, 3}));
    EXPECT_EQ(table.size(), 0u);
}

// The buckets cover 128 s; a lease of a day shares one with short leases.
TEST(LeaseTable, LongLeasesAreNotEndedEarly) {
    LeaseTable table;
    ended_tasks(table, at(1000));
    open(table, 1, at(1000 + 86'400));
    open(table, 2, at(1000 + 128));
    open(table, 3, at(1000 + 256));
    for (double second = 1001; second < 1128; second += 1) {
        ASSERT_EQ(ended_tasks(table, at(second)), Tasks{}) << second;
    }
    EXPECT_EQ(ended_tasks(table, at(1128)), Tasks{2});
    EXPECT_EQ(ended_tasks(table, at(1256)), Tasks{3});
    EXPECT_EQ(ended_tasks(table, at(1000 + 86'399)), Tasks{});
    EXPECT_EQ(ended_tasks(table, at(1000 + 86'400)), Tasks{1});
}

TEST(LeaseTable, AJumpOfHoursFindsAll) {
    LeaseTable table;
    ended_tasks(table, at(1000));
    for (std::uint32_t task = 0; task < 1000; ++task) open(table, task, at(1001 + task * 0.37));
    EXPECT_EQ(ended_tasks(table, at(20'000)).size(), 1000u);
    EXPECT_EQ(table.next_check(), BootTime::max());
}

TEST(LeaseTable, NextCheckIsNeverLaterThanAnEnd) {
    LeaseTable table;
    base::TestRandom random(7);
    std::map<std::uint32_t, BootTime> expected;
    BootTime now = at(1000);
    ended_tasks(table, now);
    std::uint32_t next_task = 0;
    for (int i = 0; i < 1000; ++i) {
        if (random.one_in(2)) {
            const BootTime ends = now + base::from_seconds(random.between(0.001, 400));
            open(table, next_task, ends);
            expected[next_task++] = ends;
        } else {
            const BootTime wake = table.next_check();
            BootTime first = BootTime::max();
            for (const auto& [task, ends] : expected) first = std::min(first, ends);
            ASSERT_LE(wake, first) << "an end would be missed";
            now = std::min(wake, now + base::from_seconds(random.between(0, 30)));
            for (const std::uint32_t task : ended_tasks(table, now)) {
                ASSERT_LE(expected.at(task), now);
                expected.erase(task);
            }
            for (const auto& [task, ends] : expected) ASSERT_GT(ends, now) << "not reported";
        }
    }
}

}  // namespace
}  // namespace pollux::schedule
