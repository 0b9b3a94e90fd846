// Helpers of the codec's tests: bytes from hex, and random values, PDUs and messages.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_random.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {

// "30 2c 02" becomes three bytes; anything but hex digits separates.
inline std::vector<std::uint8_t> from_hex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        std::uint8_t byte = 0;
        const auto [end, problem] = std::from_chars(&text[i], &text[i] + 2, byte, 16);
        if (problem != std::errc{} || end != &text[i] + 2) continue;
        bytes.push_back(byte);
        ++i;
    }
    return bytes;
}

inline std::vector<std::uint8_t> encoded(const Message& message) {
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    const Bytes bytes = encode_message(message, buffer);
    return {bytes.begin(), bytes.end()};
}

inline model::Oid oid_of(std::string_view text) { return *model::parse_oid(text); }

inline model::Oid random_oid(base::TestRandom& random, std::size_t longest = model::kMaxOidArcs) {
    model::Oid oid;
    const auto top = static_cast<std::uint32_t>(random.below(3));
    oid.arcs = {top, static_cast<std::uint32_t>(random.below(40))};
    const std::size_t arcs = 2 + random.below(longest - 1);
    while (oid.arcs.size() < arcs) {
        // Every number of bytes of an arc occurs.
        oid.arcs.push_back(static_cast<std::uint32_t>(random.next() >> (32 + random.below(32))));
    }
    return oid;
}

inline std::string random_text(base::TestRandom& random, std::size_t longest) {
    std::string text(random.below(longest + 1), '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    return text;
}

inline model::SnmpValue random_value(base::TestRandom& random) {
    using model::SnmpType;
    model::SnmpValue value;
    value.type = static_cast<SnmpType>(random.below(13));
    const std::uint64_t number = random.next() >> random.below(64);
    switch (value.type) {
        case SnmpType::kInteger:
            value.integer = static_cast<std::int32_t>(number & 0xFFFFFFFFU);
            break;
        case SnmpType::kOctetString:
        case SnmpType::kOpaque: value.bytes = random_text(random, 300); break;
        case SnmpType::kObjectId: value.oid = random_oid(random); break;
        case SnmpType::kIpAddress:
            value.bytes = random_text(random, 0) + std::string("\x7f\0\0\1", 4);
            break;
        case SnmpType::kCounter32:
        case SnmpType::kGauge32:
        case SnmpType::kTimeTicks: value.unsigned_value = number & 0xFFFFFFFFU; break;
        case SnmpType::kCounter64: value.unsigned_value = number; break;
        default: break;
    }
    return value;
}

inline Message random_message(base::TestRandom& random) {
    constexpr PduType kTypes[] = {PduType::kGet, PduType::kGetNext, PduType::kResponse,
                                  PduType::kGetBulk, PduType::kSet};
    Message message;
    message.version = random.one_in(2) ? model::SnmpVersion::kV1 : model::SnmpVersion::kV2c;
    message.community = random_text(random, 200);
    message.pdu.type = kTypes[random.below(5)];
    message.pdu.request_id = static_cast<std::int32_t>(random.next() >> (33 + random.below(31)));
    message.pdu.error_status = static_cast<std::int32_t>(random.below(19));
    message.pdu.error_index = static_cast<std::int32_t>(random.below(1000));
    const std::size_t count = random.below(12);
    for (std::size_t i = 0; i < count; ++i) {
        message.pdu.varbinds.push_back({random_oid(random), random_value(random)});
    }
    return message;
}

}  // namespace pollux::protocol::snmp
