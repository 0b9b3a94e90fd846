// Directed graphs as lists of neighbours: knots and layers. Without recursion, because a chain may
// be a hundred thousand long. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pollux::base {

// edges[n]: the nodes that n points to.
using Edges = std::vector<std::vector<std::uint32_t>>;

// The knots: sets of nodes each of which can be reached from each other, and single nodes that
// point to themselves. Sorted by their smallest node, each sorted. (Tarjan 1972.)
std::vector<std::vector<std::uint32_t>> find_knots(const Edges& edges);

// A shortest circle through the first node of a knot, each node pointing to the next and the last
// to the first.
std::vector<std::uint32_t> circle_in(const Edges& edges, const std::vector<std::uint32_t>& knot);

// Nodes so that each comes after all that it points to; nothing if there is a knot.
std::optional<std::vector<std::uint32_t>> order_of(const Edges& edges);

// What can be reached from a node, without itself unless it is in a knot; sorted.
std::vector<std::uint32_t> reach_of(const Edges& edges, std::uint32_t node);

Edges turned_round(const Edges& edges);

}  // namespace pollux::base
