// Answers SNMP packets as a simulated device would: bytes in, bytes out, no socket. Versions 1 and
// 2c with the device's community, version 3 with one user that all devices have.
//
// One agent object serves all devices of a thread; its buffers are reused, so that a GET does not
// allocate. What it returns is valid until the next call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lab/device.hpp"
#include "lab/mib_view.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/v3_responder.hpp"

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

    // `wiring` is what devices tell of their neighbours; null: nothing. It outlives the agent.
    explicit SnmpAgent(Wiring* wiring = nullptr);

    AgentAnswer answer(const Device& device, protocol::snmp::Bytes packet, FleetTime now);

    // What whoever asks by SNMPv3 needs.
    static std::shared_ptr<const model::Credentials> snmp_user();

  private:
    using Bytes = protocol::snmp::Bytes;
    struct Call;

    AgentAnswer answer_community(Call& call, Bytes packet);
    AgentAnswer answer_v3(Call& call, Bytes packet);
    AgentAnswer answer_pdu(Call& call);
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
    Wiring* wiring_;
    protocol::snmp::V3Responder responder_;
};

}  // namespace pollux::lab
