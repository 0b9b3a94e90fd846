#include "base/graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/test_random.hpp"

namespace pollux::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Graph, KnotsAreFoundWithACircleInEach) {
    // 0 -> 1 -> 2 -> 0, 3 -> 3, 4 -> 0, 5 <-> 6
    const Edges edges = {{1}, {2}, {0}, {3}, {0}, {6}, {5}};
    const auto knots = find_knots(edges);
    EXPECT_THAT(knots, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3), ElementsAre(5, 6)));
    EXPECT_THAT(circle_in(edges, knots[0]), ElementsAre(0, 1, 2));
    EXPECT_THAT(circle_in(edges, knots[1]), ElementsAre(3));
    EXPECT_THAT(circle_in(edges, knots[2]), ElementsAre(5, 6));
    EXPECT_FALSE(order_of(edges));
}

TEST(Graph, AChainOfAHundredThousandNeedsNoStack) {
    Edges edges(100'000);
    for (std::uint32_t i = 1; i < edges.size(); ++i) edges[i] = {i - 1};
    EXPECT_THAT(find_knots(edges), IsEmpty());
    const auto order = order_of(edges);
    ASSERT_TRUE(order);
    EXPECT_TRUE(std::ranges::is_sorted(*order));
    EXPECT_EQ(reach_of(edges, 99'999).size(), 99'999U);
    edges[0] = {99'999};
    EXPECT_EQ(find_knots(edges).size(), 1U);
}

// The definition, by walking from everywhere to everywhere.
std::vector<std::vector<std::uint32_t>> knots_by_definition(const Edges& edges) {
    std::vector<std::vector<bool>> reaches(edges.size());
    for (std::uint32_t node = 0; node < edges.size(); ++node) {
        reaches[node].resize(edges.size());
        for (const std::uint32_t to : reach_of(edges, node)) reaches[node][to] = true;
    }
    std::vector<std::vector<std::uint32_t>> knots;
    for (std::uint32_t node = 0; node < edges.size(); ++node) {
        if (!reaches[node][node]) continue;
        std::vector<std::uint32_t> knot;
        for (std::uint32_t other = 0; other < edges.size(); ++other) {
            if (reaches[node][other] && reaches[other][node]) knot.push_back(other);
        }
        if (knot.front() == node) knots.push_back(knot);
    }
    return knots;
}

TEST(Graph, RandomGraphsAgreeWithTheDefinition) {
    TestRandom random(7);
    for (int round = 0; round < 400; ++round) {
        Edges edges(1 + random.below(12));
        for (auto& own : edges) {
            const std::uint64_t count = random.below(3);
            for (std::uint64_t i = 0; i < count; ++i) {
                own.push_back(static_cast<std::uint32_t>(random.below(edges.size())));
            }
        }
        const auto knots = find_knots(edges);
        ASSERT_EQ(knots, knots_by_definition(edges));
        for (const auto& knot : knots) {
            const auto circle = circle_in(edges, knot);
            ASSERT_FALSE(circle.empty());
            for (std::size_t i = 0; i < circle.size(); ++i) {
                const auto& from = edges[circle[i]];
                ASSERT_TRUE(std::ranges::count(from, circle[(i + 1) % circle.size()]) > 0);
            }
        }
        const auto order = order_of(edges);
        ASSERT_EQ(order.has_value(), knots.empty());
        if (!order) continue;
        std::vector<std::size_t> place(edges.size());
        for (std::size_t i = 0; i < order->size(); ++i) place[(*order)[i]] = i;
        for (std::uint32_t node = 0; node < edges.size(); ++node) {
            for (const std::uint32_t to : edges[node]) ASSERT_LT(place[to], place[node]);
        }
    }
}

}  // namespace
}  // namespace pollux::base
