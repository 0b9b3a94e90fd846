// Tasks that wait for one thing (a device, a region, a resource), most urgent first. Entries are
// not removed when a task goes elsewhere; they are found dead when their turn comes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace pollux::schedule {

struct Waiter {
    std::int64_t rank = 0;  // ready time moved ahead by one aging step per tier: lower goes first
    base::BootTime ready_since;
    std::uint32_t task = 0;

    bool operator>(const Waiter& other) const {
        return rank != other.rank ? rank > other.rank : task > other.task;
    }
};

class WaitQueue {
  public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }

    void push(const Waiter& waiter) {
        heap_.push_back(waiter);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
    Waiter pop() {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        const Waiter first = heap_.back();
        heap_.pop_back();
        return first;
    }
    template <class Dead>
    void drop(Dead&& dead) {
        std::erase_if(heap_, dead);
        std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }

  private:
    std::vector<Waiter> heap_;
};

}  // namespace pollux::schedule
