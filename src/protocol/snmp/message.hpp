// The wrapper of SNMP v1 and v2c around a PDU (RFC 1157, RFC 1901): version and community.
//
// A wrapper puts itself in front of the PDU that a writer already holds, and on the way back finds
// the PDU in the bytes of a message. The one of v3 is v3_message.hpp.
//
// An agent's use:
//     auto request = decode_message(bytes);               // owns everything
//     std::array<std::uint8_t, kMaxMessageBytes> buffer;
//     Bytes answer = encode_message(response, buffer);    // empty: too large for the buffer
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/ask.hpp"
#include "protocol/snmp/ber.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::size_t kMaxMessageBytes = 65'507;  // what one UDP datagram carries

struct MessageView {
    model::SnmpVersion version = model::SnmpVersion::kV2c;
    std::string_view community;  // a secret: never into a message or a trace
    Tlv pdu;                     // for parse_pdu() and decode_pdu()
};

// v1 and v2c only; bytes after the message are ignored, as some devices pad.
Parsed<MessageView> parse_message(Bytes bytes);

// The request id of a message that may be cut or damaged further on, as ICMP quotes it. Of v3 the
// id of the message, which is readable without keys: we use one number for both.
Parsed<std::int32_t> peek_request_id(Bytes bytes);

// Puts the wrapper around the PDU that was written since size() was `mark`.
void put_community_wrapper(BerWriter& writer, std::size_t mark, model::SnmpVersion version,
                           std::string_view community);

struct Message {
    model::SnmpVersion version = model::SnmpVersion::kV2c;
    std::string community;
    Pdu pdu;
    bool operator==(const Message&) const = default;
};

Parsed<Message> decode_message(Bytes bytes);

// The encoded message, inside (at the end of) `buffer`; empty if it does not fit.
Bytes encode_message(const Message& message, std::span<std::uint8_t> buffer);

}  // namespace pollux::protocol::snmp
