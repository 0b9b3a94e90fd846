// Objects at stable 32-bit indices, reused last-in first-out.
//
// Not thread-safe. The order of allocate() and release() calls alone decides the indices, so two
// runs with the same calls have the same indices. References are invalidated by allocate().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.hpp"

namespace pollux::base {

template <class T>
class Slab {
  public:
    // The index of a value-initialised T.
    std::uint32_t allocate() {
        if (!free_.empty()) {
            const std::uint32_t index = free_.back();
            free_.pop_back();
            live_[index] = true;
            return index;
        }
        POLLUX_CHECK(items_.size() < std::numeric_limits<std::uint32_t>::max());
        items_.emplace_back();
        live_.push_back(true);
        return static_cast<std::uint32_t>(items_.size() - 1);
    }

    // Destroys the content, so that what it owns is freed now and not at the next reuse.
    void release(std::uint32_t index) {
        POLLUX_CHECK_MSG(is_live(index), "released twice or never allocated");
        live_[index] = false;
        items_[index] = T{};
        free_.push_back(index);
    }

    T& operator[](std::uint32_t index) {
        POLLUX_CHECK(index < items_.size());
        return items_[index];
    }
    const T& operator[](std::uint32_t index) const {
        POLLUX_CHECK(index < items_.size());
        return items_[index];
    }

    bool is_live(std::uint32_t index) const { return index < live_.size() && live_[index]; }

    // Allocated now.
    std::size_t size() const { return items_.size() - free_.size(); }

    // Indices ever used: all valid indices are below this.
    std::size_t capacity() const { return items_.size(); }

    void reserve(std::size_t count) {
        items_.reserve(count);
        live_.reserve(count);
    }

  private:
    std::vector<T> items_;
    std::vector<bool> live_;
    std::vector<std::uint32_t> free_;  // its back is reused next
};

}  // namespace pollux::base
