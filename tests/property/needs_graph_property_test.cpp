// The counters of the needs graph against counting everything anew.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "schedule/needs_graph.hpp"

namespace pollux::tests {
namespace {

using model::WhenUnmet;
using schedule::NeedsGraph;
using schedule::NodeState;

struct PlainGroup {
    std::vector<std::uint32_t> parents;
    WhenUnmet when_unmet = WhenUnmet::kHold;
};
struct PlainNode {
    std::uint32_t owner = 0;
    NodeState state = NodeState::kUnknown;
    std::vector<PlainGroup> groups;
};
using PlainGraph = std::map<std::uint32_t, PlainNode>;

std::uint32_t count_unmet(const PlainGraph& graph, std::uint32_t node, WhenUnmet kind) {
    std::uint32_t unmet = 0;
    for (const PlainGroup& group : graph.at(node).groups) {
        if (group.when_unmet != kind || group.parents.empty()) continue;
        const auto is = [&](NodeState state) {
            return [&graph, state](std::uint32_t p) { return graph.at(p).state == state; };
        };
        const bool met = kind == WhenUnmet::kHold
                             ? std::ranges::any_of(group.parents, is(NodeState::kGood))
                             : !std::ranges::all_of(group.parents, is(NodeState::kBad));
        unmet += met ? 0U : 1U;
    }
    return unmet;
}

bool is_hopeless(const PlainGraph& graph, std::uint32_t node) {
    return std::ranges::any_of(graph.at(node).groups, [&](const PlainGroup& group) {
        return group.when_unmet == WhenUnmet::kHold && !group.parents.empty() &&
               std::ranges::all_of(group.parents, [&](std::uint32_t parent) {
                   return graph.at(parent).state == NodeState::kBad;
               });
    });
}

bool reaches(const PlainGraph& graph, std::uint32_t from, std::uint32_t to,
             std::set<std::uint32_t>& seen) {
    if (from == to) return true;
    if (!seen.insert(from).second) return false;
    for (const PlainGroup& group : graph.at(from).groups) {
        for (const std::uint32_t parent : group.parents) {
            if (reaches(graph, parent, to, seen)) return true;
        }
    }
    return false;
}

class TwoGraphs {
  public:
    void add() {
        const std::uint32_t owner = owners_++;
        const std::uint32_t node = graph_.add_node(owner);
        plain_[node] = PlainNode{};
        plain_[node].owner = owner;
    }

    void link(std::uint32_t seed) {
        const std::uint32_t node = some(seed);
        std::vector<PlainGroup> groups;
        std::vector<std::uint32_t> parents;
        for (std::uint32_t g = 0; g < seed % 3; ++g) {
            PlainGroup group;
            group.when_unmet = (seed >> 3U) % 2 == 0 ? WhenUnmet::kHold : WhenUnmet::kSlow;
            for (std::uint32_t p = 0; p <= (seed >> (4 + g)) % 3; ++p) {
                group.parents.push_back(some(seed * 31 + g * 7 + p * 3));
                parents.push_back(group.parents.back());
            }
            groups.push_back(group);
        }
        const auto cycle = graph_.find_cycle(node, parents);
        std::set<std::uint32_t> seen;
        const bool closes = std::ranges::any_of(
            parents, [&](std::uint32_t parent) { return reaches(plain_, parent, node, seen); });
        RC_ASSERT(cycle.empty() == !closes);
        if (closes) {
            RC_ASSERT(cycle.front() == node && cycle.back() == node && cycle.size() >= 2);
            check_path(cycle, parents);
            return;
        }
        std::vector<NeedsGraph::Group> given;
        for (const PlainGroup& group : groups) {
            given.emplace_back();
            given.back().parents = group.parents;
            given.back().when_unmet = group.when_unmet;
        }
        graph_.set_groups(node, given);
        plain_[node].groups = groups;
    }

    void set_state(std::uint32_t seed) {
        const std::uint32_t node = some(seed);
        const auto state = static_cast<NodeState>((seed >> 5U) % 3);
        std::map<std::uint32_t, std::uint32_t> before;
        for (const auto& [other, plain] : plain_) before[plain.owner] = all_unmet(other);
        std::set<std::uint32_t> told;
        graph_.set_state(node, state, [&](std::uint32_t owner) { told.insert(owner); });
        plain_[node].state = state;
        for (const auto& [other, plain] : plain_) {
            if (before[plain.owner] != all_unmet(other)) RC_ASSERT(told.contains(plain.owner));
        }
    }

    // As the core does it: only parents that are good, or that nobody needs.
    void remove(std::uint32_t seed) {
        if (plain_.size() < 2) return;
        const std::uint32_t node = some(seed);
        const bool allowed = plain_[node].state == NodeState::kGood || !graph_.has_children(node);
        if (!allowed) return;
        graph_.remove_node(node);
        plain_.erase(node);
        for (auto& [other, plain] : plain_) {
            for (PlainGroup& group : plain.groups) {
                const auto found = std::ranges::find(group.parents, node);
                if (found != group.parents.end()) group.parents.clear();  // met for ever
            }
        }
    }

    void check() const {
        RC_ASSERT(graph_.size() == plain_.size());
        for (const auto& [node, plain] : plain_) {
            RC_ASSERT(graph_.owner(node) == plain.owner);
            RC_ASSERT(graph_.state(node) == plain.state);
            RC_ASSERT(graph_.unmet_hold(node) == count_unmet(plain_, node, WhenUnmet::kHold));
            RC_ASSERT(graph_.unmet_slow(node) == count_unmet(plain_, node, WhenUnmet::kSlow));
            RC_ASSERT(graph_.has_hopeless_group(node) == is_hopeless(plain_, node));
            std::set<std::uint32_t> children;
            for (const auto& [other, candidate] : plain_) {
                for (const PlainGroup& group : candidate.groups) {
                    const bool named =
                        std::ranges::find(group.parents, node) != group.parents.end();
                    if (named) children.insert(candidate.owner);
                }
            }
            const auto owners = graph_.child_owners(node);
            RC_ASSERT(std::set<std::uint32_t>(owners.begin(), owners.end()) == children);
            RC_ASSERT(graph_.has_children(node) == !children.empty());
        }
    }

  private:
    std::uint32_t some(std::uint32_t seed) const {
        return std::next(plain_.begin(), static_cast<std::ptrdiff_t>(seed % plain_.size()))->first;
    }
    std::uint32_t all_unmet(std::uint32_t node) const {
        return count_unmet(plain_, node, WhenUnmet::kHold) * 1000 +
               count_unmet(plain_, node, WhenUnmet::kSlow);
    }
    // Each step of the path goes from a node to one of its parents; the first to one of the new
    // ones.
    void check_path(const std::vector<std::uint32_t>& path,
                    const std::vector<std::uint32_t>& new_parents) const {
        RC_ASSERT(std::ranges::find(new_parents, path[1]) != new_parents.end());
        for (std::size_t i = 1; i + 1 < path.size(); ++i) {
            bool is_parent = false;
            for (const PlainGroup& group : plain_.at(path[i]).groups) {
                is_parent = is_parent ||
                            std::ranges::find(group.parents, path[i + 1]) != group.parents.end();
            }
            RC_ASSERT(is_parent);
        }
    }

    NeedsGraph graph_;
    PlainGraph plain_;
    std::uint32_t owners_ = 100;
};

RC_GTEST_PROP(NeedsGraph, CountersEqualCountingAnew, (const std::vector<std::uint32_t>& seeds)) {
    TwoGraphs graphs;
    graphs.add();
    for (const std::uint32_t seed : seeds) {
        const std::uint32_t argument = seed / 16;
        switch (seed % 16) {
            case 0:
            case 1:
            case 2: graphs.add(); break;
            case 3: graphs.remove(argument); break;
            case 4:
            case 5:
            case 6:
            case 7:
            case 8:
            case 9: graphs.link(argument); break;
            default: graphs.set_state(argument); break;
        }
        graphs.check();
    }
}

}  // namespace
}  // namespace pollux::tests
