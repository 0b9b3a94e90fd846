// The profiles of devices by address and port. Bounded: one that was not asked for the longest time
// makes room, about, and is learned again if it is missed.
//
// Not thread-safe; one per shard. A device that is known costs one lookup and no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/flat_index.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "protocol/snmp/device_profile.hpp"
#include "protocol/snmp/endpoint.hpp"

namespace pollux::protocol::snmp {

class ProfileTable {
  public:
    struct Entry {
        Endpoint device;
        std::string host;  // as it was asked for: a name or an address
        DeviceProfile profile;
        std::uint32_t fixed_parallel = 0;  // what a person decided; 0: what is learned holds
        std::uint32_t under_way = 0;       // requests
        std::uint32_t eager = 0;           // quick answers while others had to wait
        // Who waits for a request to end, first come first served: tickets of the driver, from
        // `first_waiting` on.
        std::vector<std::uint64_t> waiting;
        std::size_t first_waiting = 0;
        bool recent = true;  // asked since the hand passed

        std::uint32_t parallel() const {
            return fixed_parallel == 0 ? profile.parallel.now : fixed_parallel;
        }
        bool has_waiting() const { return first_waiting < waiting.size(); }
        std::uint64_t pop_waiting();
    };

    ProfileTable(std::size_t capacity, base::SipKey key)
        : capacity_(capacity == 0 ? 1 : capacity), key_(key) {}

    static constexpr std::uint32_t kNone = base::FlatIndex::kNone;

    // The place of a device, good until the next add(); kNone: not known.
    std::uint32_t place_of(const Endpoint& device);
    // Not for one that is known.
    std::uint32_t add(const Endpoint& device, const std::string& host, DeviceProfile profile);
    Entry& at(std::uint32_t place) { return entries_[place]; }
    // Null: not known.
    const DeviceProfile* find(const Endpoint& device) const;
    std::size_t size() const { return index_.size(); }
    // Devices that lie.
    std::size_t liars() const;
    // Grows with everything that is worth to be kept.
    std::uint64_t revision() const { return revision_; }
    void note_change() { ++revision_; }
    void visit(const std::function<void(const Entry&)>& visitor) const;

    // Version byte, count, entries.
    void encode(base::ByteWriter& writer) const;
    // Adds to what is known. Refused bytes change nothing.
    base::Status decode(base::ByteReader& reader);

  private:
    std::uint32_t position_of(const Endpoint& device) const;
    std::uint32_t make_room();

    std::size_t capacity_;
    base::SipKey key_;
    std::vector<Entry> entries_;
    std::size_t hand_ = 0;
    base::FlatIndex index_;
    std::uint64_t revision_ = 0;
};

}  // namespace pollux::protocol::snmp
