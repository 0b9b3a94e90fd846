#include "schedule/needs_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace pollux::schedule {

base::Status cycle_error(const std::vector<std::string>& cycle) {
    std::string text;
    for (const std::string& key : cycle) text += base::quoted(key) + " needs ";
    return base::config_error("task.needs",
                              fmt::format("the needs form a cycle: {}{}: nothing in it "
                                          "could ever start",
                                          text, base::quoted(cycle.front())));
}

std::uint32_t NeedsGraph::add_node(std::uint32_t owner) {
    const std::uint32_t node = nodes_.allocate();
    nodes_[node] = Node{};
    nodes_[node].owner = owner;
    return node;
}

std::uint32_t NeedsGraph::add_device_node(std::uint32_t device) {
    const std::uint32_t node = add_node(model::kNoIndex);
    nodes_[node].device = device;
    return node;
}

void NeedsGraph::remove_node(std::uint32_t node) {
    drop_child_edges(node);
    // A parent that was good has done its part: the groups it stood in stay met for ever. Any other
    // parent must not be removed while somebody waits for it; the core refuses that.
    const auto children = std::exchange(nodes_[node].children, {});
    for (const Edge& edge : children) {
        Node& child = nodes_[edge.child];
        Group& group = child.groups[edge.group];
        count_unmet(child, group, -1);
        for (const std::uint32_t other : group.parents) {
            std::erase_if(nodes_[other].children, [&](const Edge& e) {
                return e.child == edge.child && e.group == edge.group;
            });
        }
        group.parents.clear();
        group.good = 0;
        group.bad = 0;
    }
    nodes_[node] = Node{};
    nodes_.release(node);
}

std::vector<std::uint32_t> NeedsGraph::find_cycle(
    std::uint32_t node, std::span<const std::uint32_t> new_parents) const {
    // A node nobody waits for cannot be reached from its parents: the usual case when work is
    // added.
    const bool self = std::ranges::find(new_parents, node) != new_parents.end();
    if (self) return {node, node};
    if (nodes_[node].children.empty()) return {};
    std::set<std::uint32_t> seen;
    std::vector<std::pair<std::uint32_t, std::size_t>> path;  // node, next parent to look at
    const auto parents_of = [&](std::uint32_t at) {
        std::vector<std::uint32_t> all;
        for (const auto& group : nodes_[at].groups) {
            all.insert(all.end(), group.parents.begin(), group.parents.end());
        }
        return all;
    };
    for (const std::uint32_t start : new_parents) {
        if (!seen.insert(start).second) continue;
        path.assign(1, {start, 0});
        while (!path.empty()) {
            const auto parents = parents_of(path.back().first);
            if (path.back().second == parents.size()) {
                path.pop_back();
                continue;
            }
            const std::uint32_t next = parents[path.back().second++];
            if (next == node) {
                std::vector<std::uint32_t> cycle{node};
                for (const auto& [at, index] : path) cycle.push_back(at);
                cycle.push_back(node);
                return cycle;
            }
            if (seen.insert(next).second) path.emplace_back(next, 0);
        }
    }
    return {};
}

void NeedsGraph::set_groups(std::uint32_t node, std::vector<Group> groups) {
    drop_child_edges(node);
    Node& self = nodes_[node];
    self.groups = std::move(groups);
    self.unmet_hold = 0;
    self.unmet_slow = 0;
    for (std::uint32_t g = 0; g < self.groups.size(); ++g) {
        Group& group = self.groups[g];
        std::ranges::sort(group.parents);
        const auto tail = std::ranges::unique(group.parents);
        group.parents.erase(tail.begin(), tail.end());
        group.good = 0;
        group.bad = 0;
        for (const std::uint32_t parent : group.parents) {
            nodes_[parent].children.push_back({node, g});
            if (nodes_[parent].state == NodeState::kGood) ++group.good;
            if (nodes_[parent].state == NodeState::kBad) ++group.bad;
        }
        count_unmet(self, group, +1);
    }
}

bool NeedsGraph::has_hopeless_group(std::uint32_t node) const {
    return std::ranges::any_of(nodes_[node].groups, [](const Group& group) {
        return group.when_unmet == model::WhenUnmet::kHold && !group.parents.empty() &&
               group.bad == group.parents.size();
    });
}

std::vector<std::uint32_t> NeedsGraph::child_owners(std::uint32_t node) const {
    std::vector<std::uint32_t> owners;
    for (const Edge& edge : nodes_[node].children) owners.push_back(nodes_[edge.child].owner);
    return owners;
}

void NeedsGraph::apply_state(std::uint32_t node, NodeState state) {
    const NodeState before = nodes_[node].state;
    if (before == state) return;
    nodes_[node].state = state;
    for (const Edge& edge : nodes_[node].children) {
        ++work_;
        Node& child = nodes_[edge.child];
        Group& group = child.groups[edge.group];
        count_unmet(child, group, -1);
        if (before == NodeState::kGood) --group.good;
        if (before == NodeState::kBad) --group.bad;
        if (state == NodeState::kGood) ++group.good;
        if (state == NodeState::kBad) ++group.bad;
        count_unmet(child, group, +1);
        changed_.push_back(child.owner);
    }
}

void NeedsGraph::count_unmet(Node& node, const Group& group, int step) {
    if (group.good > 0 || group.parents.empty()) return;
    // An unknown device or task holds nothing back at the slow rate: only a bad one does.
    if (group.when_unmet == model::WhenUnmet::kSlow && group.bad < group.parents.size()) return;
    auto& count = group.when_unmet == model::WhenUnmet::kHold ? node.unmet_hold : node.unmet_slow;
    count = static_cast<std::uint32_t>(static_cast<int>(count) + step);
}

void NeedsGraph::drop_child_edges(std::uint32_t node) {
    for (const Group& group : nodes_[node].groups) {
        for (const std::uint32_t parent : group.parents) {
            std::erase_if(nodes_[parent].children,
                          [&](const Edge& edge) { return edge.child == node; });
        }
    }
    nodes_[node].groups.clear();
}

}  // namespace pollux::schedule
