// What devices send by themselves: traps of v1 (RFC 1157), traps and informs of v2c and v3 (RFC
// 3416), as one kind of message. A listener's use for v1 and v2c:
//
//     auto received = parse_notification(datagram);        // refused: count it and go on
//     if (!is_known(received->community)) return;
//     if (received->trap.inform) send(answer_inform(*received, buffer));
//     hand_on(received->trap);
//
// v3 goes through trap_security.hpp, which calls the functions below. Plain functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/inbound.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::size_t kMaxTrapVarbinds = 1024;  // more is refused

struct ReceivedNotification {
    std::string_view community;  // a secret: never into a message or a trace
    model::TrapMessage trap;
    // For the answer to an inform; points into the datagram.
    std::int32_t request_id = 0;
    Bytes varbinds;
};

// A datagram of v1 or v2c. Refused: anything that is no trap or inform.
Parsed<ReceivedNotification> parse_notification(Bytes datagram);

// The PDU alone, as it stands in a message of this version. `trap.version` is set to it.
Parsed<ReceivedNotification> parse_notification_pdu(const Tlv& pdu, model::SnmpVersion version);

// The Response to an inform: its id and its varbinds, without an error. In front of what the
// writer holds.
void put_inform_response(BerWriter& writer, const ReceivedNotification& inform);

// The same as a message of v2c; empty: it does not fit.
Bytes answer_inform(const ReceivedNotification& inform, std::span<std::uint8_t> buffer);

}  // namespace pollux::protocol::snmp
