#include "protocol/snmp/device_hints.hpp"

namespace pollux::protocol::snmp {

std::uint32_t DeviceHints::position_of(const Endpoint& device) const {
    if (index_.empty()) return base::FlatIndex::kNone;
    return index_.find(hash_of(device, key_),
                       [&](std::uint32_t at) { return entries_[at].device == device; });
}

DeviceHint DeviceHints::find(const Endpoint& device) const {
    const std::uint32_t at = position_of(device);
    return at == base::FlatIndex::kNone ? DeviceHint{} : entries_[at].hint;
}

void DeviceHints::store(const Endpoint& device, DeviceHint hint) {
    if (capacity_ == 0) return;
    if (const std::uint32_t at = position_of(device); at != base::FlatIndex::kNone) {
        entries_[at].hint = hint;
        return;
    }
    std::size_t place = entries_.size();
    if (place < capacity_) {
        entries_.emplace_back();
    } else {
        place = oldest_;
        oldest_ = (oldest_ + 1) % capacity_;
        index_.erase(hash_of(entries_[place].device, key_),
                     [&](std::uint32_t at) { return at == place; });
    }
    entries_[place] = {.device = device, .hint = hint};
    index_.insert(hash_of(device, key_), static_cast<std::uint32_t>(place));
}

}  // namespace pollux::protocol::snmp
