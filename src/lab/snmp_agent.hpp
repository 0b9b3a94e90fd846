// Answers SNMP v1 and v2c packets as a simulated device would: bytes in, bytes out, no socket.
//
// One agent object serves all devices of a thread; its buffers are reused, so that a GET does not
// allocate. What it returns is valid until the next call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lab/device.hpp"
#include "lab/mib_view.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::lab {

struct AgentAnswer {
    protocol::snmp::Bytes bytes;  // empty: the device stays silent
    base::Duration delay{};
    bool from_neighbour = false;  // to be sent from another device's address
};

class SnmpAgent {
  public:
    static constexpr std::size_t kMaxAnswerBytes = 1472;  // one Ethernet frame, as devices send
    static constexpr std::size_t kMaxVarbinds = 512;      // in an answer
    static constexpr std::size_t kMaxEchoBytes = 4096;    // SNMPv1 sends a refused request back

    AgentAnswer answer(const Device& device, protocol::snmp::Bytes packet, FleetTime now);

  private:
    using Bytes = protocol::snmp::Bytes;
    struct Call;

    bool collect(Call& call);
    bool collect_bulk(Call& call);
    bool answer_one(Call& call, Bytes name, bool next);
    bool append(Call& call, Bytes name, const model::SnmpValue& value);
    bool append_instance(Call& call, MibInstance instance);
    bool append_end(Call& call, std::optional<MibInstance> last, Bytes asked);
    Bytes finish(const Call& call);
    Bytes garbage(const Device& device, std::size_t length);

    std::vector<std::uint8_t> list_;  // the varbinds of the answer, in order
    std::array<std::uint8_t, kMaxEchoBytes> out_{};
    std::array<std::uint8_t, 512> piece_{};
    model::Oid oid_;
    model::SnmpValue value_;
    std::uint64_t packets_ = 0;
};

}  // namespace pollux::lab
