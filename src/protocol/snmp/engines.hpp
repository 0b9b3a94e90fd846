// The SNMP engines behind addresses: id and clock of each, so that a poll needs no discovery.
//
// Per address: two devices that were cloned have one engine id and two clocks. Bounded: the oldest
// entry makes room, and is discovered again if it is missed. Not thread-safe; one per shard.
//
// What is remembered over a restart is a hint: it saves the discovery, and the first authenticated
// message replaces it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/flat_index.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "protocol/snmp/endpoint.hpp"
#include "protocol/snmp/engine_clock.hpp"

namespace pollux::protocol::snmp {

struct Engine {
    std::array<std::uint8_t, kMaxEngineIdBytes> id{};
    std::uint8_t id_size = 0;
    bool synced = false;  // an authenticated message told the clock
    EngineClock clock;

    Bytes engine_id() const { return {id.data(), id_size}; }
    // An authenticated message says this. False: it is outside of the time window.
    bool accept(std::uint32_t boots, std::uint32_t time, base::BootTime now);
};

class Engines {
  public:
    Engines(std::size_t capacity, base::SipKey key)
        : capacity_(capacity == 0 ? 1 : capacity), key_(key) {}

    // Null: unknown. Valid until the next learn() or forget().
    Engine* find(const Endpoint& device);
    // The device says that it is this engine (5 to 32 bytes), with a clock that nobody proved.
    void learn(const Endpoint& device, Bytes engine_id, std::uint32_t boots, std::uint32_t time,
               base::BootTime now);
    void forget(const Endpoint& device);
    std::size_t size() const { return index_.size(); }
    // Grows with everything that is worth to be kept; note_change() after a clock was set.
    std::uint64_t revision() const { return revision_; }
    void note_change() { ++revision_; }

    // Version byte, count, entries; the clocks as of `wall`.
    void encode(base::ByteWriter& writer, base::BootTime now, base::WallTime wall) const;
    // Adds to what is known. Refused bytes change nothing.
    base::Status decode(base::ByteReader& reader, base::BootTime now, base::WallTime wall);

  private:
    struct Entry {
        Endpoint device;  // AF_UNSPEC: free
        Engine engine;
    };
    std::uint32_t position_of(const Endpoint& device) const;

    std::size_t capacity_;
    base::SipKey key_;
    std::vector<Entry> entries_;
    std::size_t next_ = 0;  // once it is full: the next one to go
    base::FlatIndex index_;
    std::uint64_t revision_ = 0;
};

}  // namespace pollux::protocol::snmp
