#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {
namespace {

constexpr std::int32_t kWireV1 = 0;
constexpr std::int32_t kWireV2c = 1;
constexpr std::int32_t kWireV3 = 3;

}  // namespace

Parsed<MessageView> parse_message(Bytes bytes) {
    BerReader outer(bytes);
    const Parsed<Bytes> content = outer.next(tag::kSequence);
    if (!content) return malformed(content.error());
    BerReader reader(*content);
    const Parsed<std::int32_t> version = reader.next_int32();
    if (!version) return malformed(version.error());
    if (*version != kWireV1 && *version != kWireV2c) {
        return malformed("another version than SNMP v1 or v2c");
    }
    const Parsed<Bytes> community = reader.next(tag::kOctetString);
    if (!community) return malformed(community.error());
    const Parsed<Tlv> pdu = reader.next();
    if (!pdu) return malformed(pdu.error());
    return MessageView{
        .version = *version == kWireV1 ? model::SnmpVersion::kV1 : model::SnmpVersion::kV2c,
        .community = {reinterpret_cast<const char*>(community->data()), community->size()},
        .pdu = *pdu};
}

Parsed<std::int32_t> peek_request_id(Bytes bytes) {
    BerReader reader(bytes);
    if (const auto outer = reader.enter(); !outer) return malformed(outer.error());
    const Parsed<std::int32_t> version = reader.next_int32();
    if (!version) return malformed(version.error());
    if (*version != kWireV3) {
        if (const auto community = reader.next(tag::kOctetString); !community) {
            return malformed(community.error());
        }
    }
    // Into the PDU, or the header of v3: both begin with the id.
    if (const auto inner = reader.enter(); !inner) return malformed(inner.error());
    return reader.next_int32();
}

void put_community_wrapper(BerWriter& writer, std::size_t mark, model::SnmpVersion version,
                           std::string_view community) {
    writer.put_string(tag::kOctetString, community);
    writer.put_integer(tag::kInteger, version == model::SnmpVersion::kV1 ? kWireV1 : kWireV2c);
    writer.wrap(tag::kSequence, mark);
}

Parsed<Message> decode_message(Bytes bytes) {
    const Parsed<MessageView> view = parse_message(bytes);
    if (!view) return malformed(view.error());
    Parsed<Pdu> pdu = decode_pdu(view->pdu);
    if (!pdu) return malformed(pdu.error());
    return Message{.version = view->version,
                   .community = std::string(view->community),
                   .pdu = std::move(*pdu)};
}

Bytes encode_message(const Message& message, std::span<std::uint8_t> buffer) {
    BerWriter writer(buffer);
    put_pdu(writer, message.pdu);
    put_community_wrapper(writer, 0, message.version, message.community);
    return writer.ok() ? writer.bytes() : Bytes{};
}

}  // namespace pollux::protocol::snmp
