#include "protocol/snmp/pdu.hpp"

#include <fmt/format.h>

#include <array>

namespace pollux::protocol::snmp {
namespace {

bool is_known_type(std::uint8_t type) {
    switch (static_cast<PduType>(type)) {
        case PduType::kGet:
        case PduType::kGetNext:
        case PduType::kResponse:
        case PduType::kSet:
        case PduType::kGetBulk:
        case PduType::kInform:
        case PduType::kTrapV2:
        case PduType::kReport: return true;
    }
    return false;
}

}  // namespace

std::string_view to_string(PduType type) {
    switch (type) {
        case PduType::kGet: return "GetRequest";
        case PduType::kGetNext: return "GetNextRequest";
        case PduType::kResponse: return "Response";
        case PduType::kSet: return "SetRequest";
        case PduType::kGetBulk: return "GetBulkRequest";
        case PduType::kInform: return "InformRequest";
        case PduType::kTrapV2: return "Trap";
        case PduType::kReport: return "Report";
    }
    return "unknown PDU";
}

std::string error_status_text(std::int32_t status) {
    constexpr std::array<std::string_view, 19> kNames = {"noError",
                                                         "tooBig",
                                                         "noSuchName",
                                                         "badValue",
                                                         "readOnly",
                                                         "genErr",
                                                         "noAccess",
                                                         "wrongType",
                                                         "wrongLength",
                                                         "wrongEncoding",
                                                         "wrongValue",
                                                         "noCreation",
                                                         "inconsistentValue",
                                                         "resourceUnavailable",
                                                         "commitFailed",
                                                         "undoFailed",
                                                         "authorizationError",
                                                         "notWritable",
                                                         "inconsistentName"};
    const auto index = static_cast<std::size_t>(status);
    if (status >= 0 && index < kNames.size()) return std::string(kNames[index]);
    return fmt::format("error {}", status);
}

Parsed<PduView> parse_pdu(const Tlv& element) {
    if (!is_known_type(element.tag)) return malformed("a PDU of an unknown type");
    BerReader reader(element.content);
    PduView pdu;
    pdu.type = static_cast<PduType>(element.tag);
    for (std::int32_t* field : {&pdu.request_id, &pdu.error_status, &pdu.error_index}) {
        const Parsed<std::int32_t> number = reader.next_int32();
        if (!number) return malformed(number.error());
        *field = *number;
    }
    const Parsed<Bytes> varbinds = reader.next(tag::kSequence);
    if (!varbinds) return malformed(varbinds.error());
    pdu.varbinds = *varbinds;
    return pdu;
}

Parsed<VarbindView> VarbindReader::next() {
    const Parsed<Bytes> pair = list_.next(tag::kSequence);
    if (!pair) return malformed(pair.error());
    BerReader reader(*pair);
    const Parsed<Bytes> oid = reader.next(tag::kObjectId);
    if (!oid) return malformed(oid.error());
    const Parsed<Tlv> value = reader.next();
    if (!value) return malformed(value.error());
    return VarbindView{.oid = *oid, .value = *value};
}

Parsed<Pdu> decode_pdu(const Tlv& element) {
    const Parsed<PduView> view = parse_pdu(element);
    if (!view) return malformed(view.error());
    Pdu pdu{.type = view->type,
            .request_id = view->request_id,
            .error_status = view->error_status,
            .error_index = view->error_index,
            .varbinds = {}};
    for (VarbindReader reader(view->varbinds); !reader.empty();) {
        const Parsed<VarbindView> varbind = reader.next();
        if (!varbind) return malformed(varbind.error());
        Varbind& added = pdu.varbinds.emplace_back();
        if (const auto oid = parse_oid(varbind->oid, added.oid); !oid)
            return malformed(oid.error());
        if (const auto value = parse_value(varbind->value, added.value); !value) {
            return malformed(value.error());
        }
    }
    return pdu;
}

void put_varbind(BerWriter& writer, const model::Oid& oid, const model::SnmpValue& value) {
    const std::size_t mark = writer.size();
    put_value(writer, value);
    writer.put_oid(oid);
    writer.wrap(tag::kSequence, mark);
}

void put_null_varbind(BerWriter& writer, const model::Oid& oid) {
    const std::size_t mark = writer.size();
    writer.put_header(tag::kNull, 0);
    writer.put_oid(oid);
    writer.wrap(tag::kSequence, mark);
}

void finish_pdu(BerWriter& writer, std::size_t mark, PduType type, std::int32_t request_id,
                std::int32_t error_status, std::int32_t error_index) {
    writer.wrap(tag::kSequence, mark);
    writer.put_integer(tag::kInteger, error_index);
    writer.put_integer(tag::kInteger, error_status);
    writer.put_integer(tag::kInteger, request_id);
    writer.wrap(static_cast<std::uint8_t>(type), mark);
}

void put_pdu(BerWriter& writer, const Pdu& pdu) {
    const std::size_t mark = writer.size();
    for (std::size_t i = pdu.varbinds.size(); i > 0; --i) {
        put_varbind(writer, pdu.varbinds[i - 1].oid, pdu.varbinds[i - 1].value);
    }
    finish_pdu(writer, mark, pdu.type, pdu.request_id, pdu.error_status, pdu.error_index);
}

}  // namespace pollux::protocol::snmp
