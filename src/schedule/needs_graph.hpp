// Who waits for whom. Nodes are tasks and devices; a task's needs are the AND of any-of groups of
// parents. Each group keeps a count of its good parents and each node a count of its unmet groups,
// so one change costs what its direct children cost, never a scan. Single-threaded.
//
// Invariants:
//  1. The graph has no cycle: an edit that would close one is refused, and names all of it.
//  2. unmet_hold / unmet_slow of a node equal the number of its groups with no good parent.
//  3. A node that nobody refers to and that stands for nothing is released.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/slab.hpp"
#include "model/run.hpp"
#include "model/task_spec.hpp"

namespace pollux::schedule {

// Names all of it: each key needs the next, the last needs the first.
base::Status cycle_error(const std::vector<std::string>& cycle);

enum class NodeState : std::uint8_t {
    kUnknown,  // a recurring parent that has not answered yet: not good, not failed
    kGood,     // completed (jobs) or healthy
    kBad,      // failed or cancelled (jobs), down (devices and recurring tasks)
};

class NeedsGraph {
  public:
    struct Group {
        std::vector<std::uint32_t> parents;
        std::uint32_t good = 0;
        std::uint32_t bad = 0;
        model::WhenUnmet when_unmet = model::WhenUnmet::kHold;
    };

    std::uint32_t add_node(std::uint32_t owner);  // owner: task index
    std::uint32_t add_device_node(std::uint32_t device);
    void remove_node(std::uint32_t node);  // its edges go too

    // The path parent -> ... -> node that the new parents would close, or empty.
    std::vector<std::uint32_t> find_cycle(std::uint32_t node,
                                          std::span<const std::uint32_t> new_parents) const;

    void set_groups(std::uint32_t node, std::vector<Group> groups);

    // Sets the state and calls affected(child owner) for every child one of whose groups turned.
    template <class F>
    void set_state(std::uint32_t node, NodeState state, F&& affected) {
        changed_.clear();
        apply_state(node, state);
        for (std::size_t i = 0; i < changed_.size(); ++i) affected(changed_[i]);
    }

    NodeState state(std::uint32_t node) const { return nodes_[node].state; }
    // The task, or kNoIndex for a device.
    std::uint32_t owner(std::uint32_t node) const { return nodes_[node].owner; }
    std::uint32_t device(std::uint32_t node) const { return nodes_[node].device; }
    std::uint32_t unmet_hold(std::uint32_t node) const { return nodes_[node].unmet_hold; }
    std::uint32_t unmet_slow(std::uint32_t node) const { return nodes_[node].unmet_slow; }
    bool has_hopeless_group(std::uint32_t node) const;  // every parent of a hold group is bad
    const std::vector<Group>& groups(std::uint32_t node) const { return nodes_[node].groups; }
    bool has_children(std::uint32_t node) const { return !nodes_[node].children.empty(); }
    bool has_groups(std::uint32_t node) const { return !nodes_[node].groups.empty(); }
    std::vector<std::uint32_t> child_owners(std::uint32_t node) const;

    std::size_t size() const { return nodes_.size(); }
    std::size_t work() const { return work_; }  // edges touched so far: what a change really cost

  private:
    struct Edge {
        std::uint32_t child;
        std::uint32_t group;
    };
    struct Node {
        std::uint32_t owner = model::kNoIndex;
        std::uint32_t device = model::kNoIndex;
        NodeState state = NodeState::kUnknown;
        std::uint32_t unmet_hold = 0;
        std::uint32_t unmet_slow = 0;
        std::vector<Group> groups;
        std::vector<Edge> children;
    };

    void apply_state(std::uint32_t node, NodeState state);
    void count_unmet(Node& node, const Group& group, int step);
    void drop_child_edges(std::uint32_t node);

    base::Slab<Node> nodes_;
    std::vector<std::uint32_t> changed_;
    std::size_t work_ = 0;
};

}  // namespace pollux::schedule
