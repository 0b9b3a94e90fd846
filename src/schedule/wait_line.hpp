// Tasks that wait for one thing: a device, a region or a named resource.
//
// Tasks of one class and one demand form a group, because whatever lets one of them pass would let
// any of them pass. So a group is called one at a time: the most urgent comes back into the ready
// set, and the next is called when that one has started or gone elsewhere. A group held up by its
// class never holds up another, and an opening costs what the groups cost, not what waits in them.
//
// Entries of tasks that went elsewhere stay until they come to the head, or outnumber the living.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/check.hpp"

namespace pollux::schedule {

struct Waiter {
    std::int64_t rank = 0;  // ready time moved ahead by one aging step per tier: lower goes first
    std::uint32_t task = 0;
    std::uint32_t ticket = 0;  // tells this stay from an earlier one of the same task

    bool operator>(const Waiter& other) const {
        return rank != other.rank ? rank > other.rank : task > other.task;
    }
};

class WaitLine {
  public:
    struct Group {
        std::uint16_t class_index = 0;
        std::uint16_t demand = 0;
        std::uint32_t waiting = 0;
        std::uint32_t called = 0;    // back in the ready set, not dealt with yet
        std::vector<Waiter> heap{};  // the waiting ones, and some that went elsewhere
    };

    bool empty() const { return groups_.empty(); }
    std::vector<Group>& groups() { return groups_; }

    Group& group(std::uint16_t class_index, std::uint16_t demand) {
        if (Group* known = find(class_index, demand)) return *known;
        return groups_.emplace_back(Group{class_index, demand});
    }
    Group* find(std::uint16_t class_index, std::uint16_t demand) {
        const std::size_t at = position(class_index, demand);
        return at == groups_.size() ? nullptr : &groups_[at];
    }
    const Group* find(std::uint16_t class_index, std::uint16_t demand) const {
        const std::size_t at = position(class_index, demand);
        return at == groups_.size() ? nullptr : &groups_[at];
    }

    template <class Live>
    void push(Group& group, const Waiter& waiter, Live&& live) {
        if (group.heap.size() > kFewEntries && group.heap.size() > 2 * group.waiting) {
            std::erase_if(group.heap, [&](const Waiter& one) { return !live(one); });
            std::ranges::make_heap(group.heap, std::greater<>{});
        }
        group.heap.push_back(waiter);
        std::ranges::push_heap(group.heap, std::greater<>{});
        ++group.waiting;
    }

    // The most urgent of a group that has somebody waiting.
    template <class Live>
    const Waiter& first(Group& group, Live&& live) {
        POLLUX_CHECK(group.waiting > 0);
        while (!live(group.heap.front())) drop_first(group);
        return group.heap.front();
    }
    void take_first(Group& group) {
        drop_first(group);
        --group.waiting;
    }

    // Gives the memory of groups nobody belongs to back. Ends every reference to a group.
    void drop_empty_groups() {
        std::erase_if(groups_, [](const Group& g) { return g.waiting == 0 && g.called == 0; });
    }

  private:
    static constexpr std::size_t kFewEntries = 64;

    std::size_t position(std::uint16_t class_index, std::uint16_t demand) const {
        const auto found = std::ranges::find_if(groups_, [&](const Group& one) {
            return one.class_index == class_index && one.demand == demand;
        });
        return static_cast<std::size_t>(found - groups_.begin());
    }
    void drop_first(Group& group) {
        POLLUX_CHECK(!group.heap.empty());
        std::ranges::pop_heap(group.heap, std::greater<>{});
        group.heap.pop_back();
    }

    std::vector<Group> groups_;
};

}  // namespace pollux::schedule
