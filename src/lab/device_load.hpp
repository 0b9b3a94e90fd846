// How a device is asked: how many requests at once, and how close to each other. A request counts
// until its answer is sent; what is held or dripped only until that begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace pollux::lab {

struct DeviceLoad {
    std::uint64_t requests = 0;
    std::uint32_t most_at_once = 0;
    base::Duration smallest_gap = base::Duration::max();  // from begin to begin
    base::Duration largest_gap{};
    std::uint32_t at_once = 0;
    base::BootTime last_begin{};

    // Counts anew; what is under way goes on, and the next gap is the one to the request before.
    DeviceLoad taken() {
        DeviceLoad next;
        next.most_at_once = next.at_once = at_once;
        next.last_begin = last_begin;
        return std::exchange(*this, next);
    }
};

// One request while it is under way. The load outlives it.
class AtWork {
  public:
    AtWork(DeviceLoad& load, base::BootTime now) : load_(&load) {
        if (load.last_begin != base::BootTime{}) {
            load.smallest_gap = std::min(load.smallest_gap, now - load.last_begin);
            load.largest_gap = std::max(load.largest_gap, now - load.last_begin);
        }
        load.last_begin = now;
        ++load.requests;
        load.most_at_once = std::max(load.most_at_once, ++load.at_once);
    }
    AtWork(AtWork&& other) noexcept : load_(std::exchange(other.load_, nullptr)) {}
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    AtWork& operator=(AtWork&&) = delete;
    ~AtWork() {
        if (load_ != nullptr) --load_->at_once;
    }

  private:
    DeviceLoad* load_;
};

}  // namespace pollux::lab
