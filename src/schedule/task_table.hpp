// All tasks of the core: slots, keys, and the index from key to slot. Slots are reused; a handle
// carries the generation, so that a late message to a removed task finds nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/chunked_array.hpp"
#include "base/flat_index.hpp"
#include "base/siphash.hpp"
#include "model/run.hpp"
#include "schedule/task_slot.hpp"

namespace pollux::schedule {

// The hash of a key is the same on every machine and in every release: phases, percentages and
// partitions are derived from it.
std::uint64_t hash_of_key(std::string_view key);

class TaskTable {
  public:
    std::uint32_t find(std::string_view key) const;
    std::uint32_t add(std::string key);
    void remove(std::uint32_t index);

    void prefetch(std::uint32_t index) const { slots_.prefetch(index); }
    TaskSlot& operator[](std::uint32_t index) { return slots_[index]; }
    const TaskSlot& operator[](std::uint32_t index) const { return slots_[index]; }

    const std::string& key(std::uint32_t index) const { return keys_[index]; }
    model::TaskHandle handle(std::uint32_t index) const {
        return {index, slots_[index].generation};
    }
    bool is_live(model::TaskHandle handle) const {
        return handle.index < slots_.size() && slots_[handle.index].place != Place::kFree &&
               slots_[handle.index].generation == handle.generation;
    }

    std::size_t size() const { return live_; }
    std::uint32_t capacity() const { return static_cast<std::uint32_t>(slots_.size()); }
    std::size_t memory_bytes() const;  // without the key strings

  private:
    base::ChunkedArray<TaskSlot> slots_;
    base::ChunkedArray<std::string> keys_;
    base::FlatIndex index_;
    std::vector<std::uint32_t> free_;
    std::size_t live_ = 0;
};

}  // namespace pollux::schedule
