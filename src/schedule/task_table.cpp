#include "schedule/task_table.hpp"

#include <utility>

namespace pollux::schedule {

std::uint64_t hash_of_key(std::string_view key) {
    constexpr base::SipKey kKeyHash{0x706f6c6c75783a3aULL, 0x7461736b2d6b6579ULL};
    return base::siphash24(kKeyHash, key);
}

std::uint32_t TaskTable::find(std::string_view key) const {
    return index_.find(hash_of_key(key), [&](std::uint32_t id) { return keys_[id] == key; });
}

std::uint32_t TaskTable::add(std::string key) {
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(slots_.size());
        slots_.grow_to(slots_.size() + 1);
        keys_.grow_to(slots_.size());
    } else {
        index = free_.back();
        free_.pop_back();
    }
    const std::uint32_t generation = slots_[index].generation + 1;
    slots_[index] = TaskSlot{};
    slots_[index].generation = generation;
    slots_[index].key_hash = hash_of_key(key);
    slots_[index].place = Place::kDisabled;
    index_.insert(slots_[index].key_hash, index);
    keys_[index] = std::move(key);
    ++live_;
    return index;
}

void TaskTable::remove(std::uint32_t index) {
    index_.erase(slots_[index].key_hash, [&](std::uint32_t id) { return id == index; });
    keys_[index] = std::string();
    slots_[index].place = Place::kFree;
    free_.push_back(index);
    --live_;
}

std::size_t TaskTable::memory_bytes() const {
    return slots_.memory_bytes() + index_.memory_bytes() + free_.capacity() * sizeof(free_[0]);
}

}  // namespace pollux::schedule
