#include "engine/command_hash.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace pollux::engine {
namespace {

using base::BootTime;
using schedule::Commands;

Commands sample() {
    Commands commands;
    commands.starts.push_back(
        {{1, 2}, {3, 4}, BootTime{5}, BootTime{6}, 7, model::Trigger::kProbe, false});
    commands.cancels.push_back({{8, 9}, {10, 11}});
    commands.persists.push_back({{12, 13}, schedule::Durability::kBeforeSeen});
    commands.forgets.push_back({{19, 20}, "a::b"});
    commands.changes.push_back({{14, 15}, schedule::ChangeKind::kBreaker, 0, 1, 3, BootTime{16}});
    commands.rejections.push_back({17, {"task.key", base::ErrorClass::kConfig, "no"}});
    commands.wake_at = BootTime{18};
    return commands;
}

TEST(CommandHash, EveryFieldCounts) {
    const std::vector<std::function<void(Commands&)>> edits = {
        [](Commands& c) { ++c.starts[0].task.index; },
        [](Commands& c) { ++c.starts[0].task.generation; },
        [](Commands& c) { ++c.starts[0].run.epoch; },
        [](Commands& c) { ++c.starts[0].run.counter; },
        [](Commands& c) { ++c.starts[0].due.ns; },
        [](Commands& c) { ++c.starts[0].deadline.ns; },
        [](Commands& c) { ++c.starts[0].attempt; },
        [](Commands& c) { c.starts[0].trigger = model::Trigger::kPoke; },
        [](Commands& c) { c.starts[0].fresh_login = true; },
        [](Commands& c) { ++c.cancels[0].task.index; },
        [](Commands& c) { ++c.cancels[0].run.counter; },
        [](Commands& c) { ++c.persists[0].task.generation; },
        [](Commands& c) { c.persists[0].durability = schedule::Durability::kWriteBehind; },
        [](Commands& c) { c.forgets[0].key = "a::c"; },
        [](Commands& c) { ++c.changes[0].task.index; },
        [](Commands& c) { c.changes[0].kind = schedule::ChangeKind::kJob; },
        [](Commands& c) { ++c.changes[0].from; },
        [](Commands& c) { ++c.changes[0].to; },
        [](Commands& c) { ++c.changes[0].failures; },
        [](Commands& c) { ++c.changes[0].next_due.ns; },
        [](Commands& c) { ++c.rejections[0].correlation; },
        [](Commands& c) { c.rejections[0].error.code = "task.kez"; },
        [](Commands& c) { c.rejections[0].error.error_class = base::ErrorClass::kAuth; },
        [](Commands& c) { c.rejections[0].error.message = "yes"; },
        [](Commands& c) { ++c.wake_at.ns; },
        [](Commands& c) { c.starts.clear(); },
        [](Commands& c) { c.cancels.push_back(c.cancels[0]); },
        [](Commands& c) { c.persists.clear(); },
        [](Commands& c) { c.forgets.clear(); },
        [](Commands& c) { c.changes.clear(); },
        [](Commands& c) { c.rejections.clear(); },
    };
    std::set<std::uint64_t> hashes = {hash_commands(1, sample())};
    for (std::size_t i = 0; i < edits.size(); ++i) {
        Commands edited = sample();
        edits[i](edited);
        EXPECT_TRUE(hashes.insert(hash_commands(1, edited)).second) << "edit " << i;
    }
    EXPECT_TRUE(hashes.insert(hash_commands(2, sample())).second) << "the seed";
    EXPECT_TRUE(hashes.contains(hash_commands(1, sample()))) << "nothing else";
}

TEST(CommandHash, OrderCounts) {
    Commands one = sample();
    Commands two = sample();
    one.forgets = {{{}, "a::a"}, {{}, "b::b"}};
    two.forgets = {{{}, "b::b"}, {{}, "a::a"}};
    EXPECT_NE(hash_commands(0, one), hash_commands(0, two));
}

// The same on every machine and in every build: recordings are compared by it.
TEST(CommandHash, KnownValues) {
    EXPECT_EQ(hash_commands(0, Commands{}), 0x651e6f912a84565fU);
    EXPECT_EQ(hash_commands(42, sample()), 0xc1966f636c7b5b8eU);
}

}  // namespace
}  // namespace pollux::engine
