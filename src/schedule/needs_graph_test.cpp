#include "schedule/needs_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pollux::schedule {
namespace {

using model::WhenUnmet;
using Nodes = std::vector<std::uint32_t>;

class NeedsGraphTest : public testing::Test {
  protected:
    std::uint32_t node(std::uint32_t owner) { return graph_.add_node(owner); }
    static NeedsGraph::Group group(Nodes parents, WhenUnmet when = WhenUnmet::kHold) {
        NeedsGraph::Group one;
        one.parents = std::move(parents);
        one.when_unmet = when;
        return one;
    }
    // The owners whose groups were touched.
    Nodes set(std::uint32_t node, NodeState state) {
        Nodes affected;
        graph_.set_state(node, state, [&](std::uint32_t owner) { affected.push_back(owner); });
        std::ranges::sort(affected);
        return affected;
    }
    NeedsGraph graph_;
};

TEST_F(NeedsGraphTest, ANewNodeNeedsNothing) {
    const std::uint32_t a = node(7);
    EXPECT_EQ(graph_.owner(a), 7u);
    EXPECT_EQ(graph_.state(a), NodeState::kUnknown);
    EXPECT_EQ(graph_.unmet_hold(a), 0u);
    EXPECT_EQ(graph_.unmet_slow(a), 0u);
    EXPECT_FALSE(graph_.has_children(a));
    EXPECT_FALSE(graph_.has_groups(a));
    EXPECT_FALSE(graph_.has_hopeless_group(a));
    EXPECT_EQ(graph_.size(), 1u);
}

TEST_F(NeedsGraphTest, AllGroupsMustBeMet) {
    const std::uint32_t a = node(1);
    const std::uint32_t b = node(2);
    const std::uint32_t child = node(3);
    graph_.set_groups(child, {group({a}), group({b})});
    EXPECT_EQ(graph_.unmet_hold(child), 2u);
    EXPECT_EQ(set(a, NodeState::kGood), Nodes{3});
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    EXPECT_EQ(set(b, NodeState::kGood), Nodes{3});
    EXPECT_EQ(graph_.unmet_hold(child), 0u);
    EXPECT_EQ(set(a, NodeState::kBad), Nodes{3});
    EXPECT_EQ(graph_.unmet_hold(child), 1u) << "what went bad counts again";
    EXPECT_EQ(graph_.child_owners(a), Nodes{3});
    EXPECT_TRUE(graph_.has_children(a));
}

TEST_F(NeedsGraphTest, OneGoodParentMeetsAGroup) {
    const std::uint32_t a = node(1);
    const std::uint32_t b = node(2);
    const std::uint32_t child = node(3);
    graph_.set_groups(child, {group({a, b})});
    set(a, NodeState::kBad);
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    EXPECT_FALSE(graph_.has_hopeless_group(child)) << "the other one may still do it";
    set(b, NodeState::kGood);
    EXPECT_EQ(graph_.unmet_hold(child), 0u);
    set(a, NodeState::kGood);
    EXPECT_EQ(graph_.unmet_hold(child), 0u);
    set(a, NodeState::kBad);
    EXPECT_EQ(graph_.unmet_hold(child), 0u) << "one is enough";
    set(b, NodeState::kBad);
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    EXPECT_TRUE(graph_.has_hopeless_group(child));
}

TEST_F(NeedsGraphTest, NothingHappensWhenTheStateStays) {
    const std::uint32_t a = node(1);
    const std::uint32_t child = node(2);
    graph_.set_groups(child, {group({a})});
    set(a, NodeState::kGood);
    const std::size_t work = graph_.work();
    EXPECT_EQ(set(a, NodeState::kGood), Nodes{});
    EXPECT_EQ(graph_.work(), work);
}

TEST_F(NeedsGraphTest, ASlowGroupOnlyCountsWhenAllItsParentsAreBad) {
    const std::uint32_t a = node(1);
    const std::uint32_t b = node(2);
    const std::uint32_t child = node(3);
    graph_.set_groups(child, {group({a, b}, WhenUnmet::kSlow)});
    EXPECT_EQ(graph_.unmet_slow(child), 0u) << "unknown is not down";
    set(a, NodeState::kBad);
    EXPECT_EQ(graph_.unmet_slow(child), 0u);
    set(b, NodeState::kBad);
    EXPECT_EQ(graph_.unmet_slow(child), 1u);
    EXPECT_EQ(graph_.unmet_hold(child), 0u) << "a slow group holds nothing back";
    EXPECT_FALSE(graph_.has_hopeless_group(child)) << "a job may still run";
    set(b, NodeState::kGood);
    EXPECT_EQ(graph_.unmet_slow(child), 0u);
}

TEST_F(NeedsGraphTest, GroupsCountParentsAsTheyAre) {
    const std::uint32_t good = node(1);
    const std::uint32_t bad = node(2);
    const std::uint32_t unknown = node(3);
    set(good, NodeState::kGood);
    set(bad, NodeState::kBad);
    const std::uint32_t child = node(4);
    graph_.set_groups(
        child, {group({good}), group({bad}), group({unknown}), group({bad}, WhenUnmet::kSlow)});
    EXPECT_EQ(graph_.unmet_hold(child), 2u);
    EXPECT_EQ(graph_.unmet_slow(child), 1u);
    EXPECT_TRUE(graph_.has_hopeless_group(child));
}

TEST_F(NeedsGraphTest, AParentNamedTwiceCountsOnce) {
    const std::uint32_t a = node(1);
    const std::uint32_t child = node(2);
    graph_.set_groups(child, {group({a, a, a})});
    EXPECT_EQ(graph_.groups(child)[0].parents, Nodes{a});
    EXPECT_EQ(set(a, NodeState::kBad), Nodes{2});
    EXPECT_TRUE(graph_.has_hopeless_group(child));
}

TEST_F(NeedsGraphTest, NewGroupsReplaceTheOld) {
    const std::uint32_t a = node(1);
    const std::uint32_t b = node(2);
    const std::uint32_t child = node(3);
    graph_.set_groups(child, {group({a}), group({b})});
    graph_.set_groups(child, {group({b})});
    EXPECT_FALSE(graph_.has_children(a));
    EXPECT_EQ(set(a, NodeState::kGood), Nodes{}) << "nobody waits for it any more";
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    graph_.set_groups(child, {});
    EXPECT_EQ(graph_.unmet_hold(child), 0u);
    EXPECT_FALSE(graph_.has_groups(child));
    EXPECT_FALSE(graph_.has_children(b));
}

// A change costs what its direct children cost: not the fleet, not the grandchildren.
TEST_F(NeedsGraphTest, WorkIsProportionalToTheChildren) {
    const std::uint32_t parent = node(0);
    const std::uint32_t lonely = node(1);
    Nodes children;
    for (std::uint32_t i = 0; i < 100; ++i) {
        children.push_back(node(10 + i));
        graph_.set_groups(children.back(), {group({parent})});
    }
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        graph_.set_groups(node(1000 + i), {group({children[i % 100]})});
    }
    const std::size_t before = graph_.work();
    set(lonely, NodeState::kGood);
    EXPECT_EQ(graph_.work() - before, 0u);
    set(parent, NodeState::kGood);
    EXPECT_EQ(graph_.work() - before, 100u);
    set(children[0], NodeState::kGood);
    EXPECT_EQ(graph_.work() - before, 200u);
}

TEST_F(NeedsGraphTest, AGoodParentThatIsRemovedHasDoneItsPart) {
    const std::uint32_t done = node(1);
    const std::uint32_t other = node(2);
    const std::uint32_t child = node(3);
    graph_.set_groups(child, {group({done, other}), group({other})});
    set(done, NodeState::kGood);
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    graph_.remove_node(done);
    EXPECT_EQ(graph_.size(), 2u);
    EXPECT_EQ(graph_.unmet_hold(child), 1u) << "its group stays met, the other one is still unmet";
    EXPECT_EQ(set(other, NodeState::kBad), Nodes{3});
    EXPECT_EQ(graph_.unmet_hold(child), 1u);
    set(other, NodeState::kGood);
    EXPECT_EQ(graph_.unmet_hold(child), 0u);
}

TEST_F(NeedsGraphTest, RemovingAChildLeavesNoEdge) {
    const std::uint32_t a = node(1);
    const std::uint32_t child = node(2);
    graph_.set_groups(child, {group({a})});
    graph_.remove_node(child);
    EXPECT_FALSE(graph_.has_children(a));
    EXPECT_EQ(set(a, NodeState::kGood), Nodes{});
    const std::uint32_t reused = node(9);
    EXPECT_EQ(reused, child) << "nodes are reused";
    EXPECT_EQ(graph_.state(reused), NodeState::kUnknown);
    EXPECT_EQ(graph_.unmet_hold(reused), 0u);
}

TEST_F(NeedsGraphTest, FindsTheWholeCycle) {
    const std::uint32_t a = node(1);
    const std::uint32_t b = node(2);
    const std::uint32_t c = node(3);
    const std::uint32_t side = node(4);
    graph_.set_groups(b, {group({side, a})});
    graph_.set_groups(c, {group({side}), group({b})});
    const Nodes wanted{c};
    EXPECT_EQ(graph_.find_cycle(a, wanted), (Nodes{a, c, b, a}));
    const Nodes self{side, a};
    EXPECT_EQ(graph_.find_cycle(a, self), (Nodes{a, a}));
    const Nodes fine{side};
    EXPECT_EQ(graph_.find_cycle(a, fine), Nodes{});
    EXPECT_EQ(graph_.find_cycle(c, wanted), (Nodes{c, c}));
    const Nodes both{a, b};
    EXPECT_EQ(graph_.find_cycle(c, both), Nodes{}) << "nobody waits for c";
    EXPECT_EQ(graph_.find_cycle(side, both), (Nodes{side, b, side}));
}

}  // namespace
}  // namespace pollux::schedule
