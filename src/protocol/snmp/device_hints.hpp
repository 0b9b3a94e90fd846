// What devices were found to take, so that the next poll asks right at once. Bounded: the oldest
// hint makes room for a new one, and is learned again if it is missed.
//
// Not thread-safe; one per shard. Only devices that refused something have an entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_index.hpp"
#include "base/siphash.hpp"
#include "protocol/snmp/endpoint.hpp"
#include "protocol/snmp/exchange.hpp"

namespace pollux::protocol::snmp {

class DeviceHints {
  public:
    DeviceHints(std::size_t capacity, base::SipKey key) : capacity_(capacity), key_(key) {}

    // Nothing known: an empty hint.
    DeviceHint find(const Endpoint& device) const;
    void store(const Endpoint& device, DeviceHint hint);
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        Endpoint device;
        DeviceHint hint;
    };
    std::uint32_t position_of(const Endpoint& device) const;

    std::size_t capacity_;
    base::SipKey key_;
    std::vector<Entry> entries_;
    std::size_t oldest_ = 0;  // once it is full: the next one to go
    base::FlatIndex index_;
};

}  // namespace pollux::protocol::snmp
