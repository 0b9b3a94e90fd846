// PDUs and values between net-snmp's library and ours, for the tests that compare the two.
// Included after gtest.
#pragma once

#include <net-snmp/net-snmp-config.h>
// Needs the one above first.
#include <net-snmp/net-snmp-includes.h>
#undef config_error  // a macro of net-snmp, and a function of ours

#include <memory>
#include <vector>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {

using model::SnmpType;

using NetPdu = std::unique_ptr<netsnmp_pdu, decltype(&snmp_free_pdu)>;

inline std::vector<oid> to_net(const model::Oid& name) {
    return {name.arcs.begin(), name.arcs.end()};
}

inline model::Oid from_net(const oid* arcs, std::size_t count) {
    model::Oid name;
    for (std::size_t i = 0; i < count; ++i)
        name.arcs.push_back(static_cast<std::uint32_t>(arcs[i]));
    return name;
}

inline u_char net_type(SnmpType type) {
    switch (type) {
        case SnmpType::kInteger: return ASN_INTEGER;
        case SnmpType::kOctetString: return ASN_OCTET_STR;
        case SnmpType::kNull: return ASN_NULL;
        case SnmpType::kObjectId: return ASN_OBJECT_ID;
        case SnmpType::kIpAddress: return ASN_IPADDRESS;
        case SnmpType::kCounter32: return ASN_COUNTER;
        case SnmpType::kGauge32: return ASN_GAUGE;
        case SnmpType::kTimeTicks: return ASN_TIMETICKS;
        case SnmpType::kOpaque: return ASN_OPAQUE;
        case SnmpType::kCounter64: return ASN_COUNTER64;
        case SnmpType::kNoSuchObject: return SNMP_NOSUCHOBJECT;
        case SnmpType::kNoSuchInstance: return SNMP_NOSUCHINSTANCE;
        case SnmpType::kEndOfMibView: return SNMP_ENDOFMIBVIEW;
    }
    return ASN_NULL;
}

inline void add_to(netsnmp_pdu& pdu, const Varbind& varbind) {
    const std::vector<oid> name = to_net(varbind.oid);
    const model::SnmpValue& value = varbind.value;
    const long integer = value.integer;
    const unsigned long number = value.unsigned_value;
    const counter64 wide{.high = value.unsigned_value >> 32U,
                         .low = value.unsigned_value & 0xFFFFFFFFU};
    const std::vector<oid> object = to_net(value.oid);
    const void* data = nullptr;
    std::size_t size = 0;
    switch (value.type) {
        case SnmpType::kInteger: data = &integer, size = sizeof integer; break;
        case SnmpType::kCounter32:
        case SnmpType::kGauge32:
        case SnmpType::kTimeTicks: data = &number, size = sizeof number; break;
        case SnmpType::kCounter64: data = &wide, size = sizeof wide; break;
        case SnmpType::kObjectId: data = object.data(), size = object.size() * sizeof(oid); break;
        case SnmpType::kOctetString:
        case SnmpType::kOpaque:
        case SnmpType::kIpAddress: data = value.bytes.data(), size = value.bytes.size(); break;
        default: break;
    }
    ASSERT_NE(
        snmp_pdu_add_variable(&pdu, name.data(), name.size(), net_type(value.type), data, size),
        nullptr);
}

inline model::SnmpValue value_from(const netsnmp_variable_list& variable) {
    model::SnmpValue value;
    for (std::uint8_t i = 0; i < 13; ++i) {
        if (net_type(static_cast<SnmpType>(i)) == variable.type) {
            value.type = static_cast<SnmpType>(i);
        }
    }
    switch (value.type) {
        case SnmpType::kInteger: value.integer = *variable.val.integer; break;
        case SnmpType::kCounter32:
        case SnmpType::kGauge32:
        case SnmpType::kTimeTicks:
            value.unsigned_value = static_cast<std::uint64_t>(*variable.val.integer) & 0xFFFFFFFFU;
            break;
        case SnmpType::kCounter64:
            value.unsigned_value = std::uint64_t{variable.val.counter64->high} << 32U |
                                   std::uint64_t{variable.val.counter64->low};
            break;
        case SnmpType::kObjectId:
            value.oid = from_net(variable.val.objid, variable.val_len / sizeof(oid));
            break;
        case SnmpType::kOctetString:
        case SnmpType::kOpaque:
        case SnmpType::kIpAddress:
            value.bytes.assign(reinterpret_cast<const char*>(variable.val.string),
                               variable.val_len);
            break;
        default: break;
    }
    return value;
}

// It unwraps the special numbers that it puts into Opaque, so that is not asked of it.
inline void keep_opaque_plain(Pdu& pdu) {
    for (Varbind& varbind : pdu.varbinds) {
        if (varbind.value.type == SnmpType::kOpaque) varbind.value.bytes.insert(0, "\x04\x02");
    }
}

// What it read, without its wrapper.
inline Pdu pdu_from(const netsnmp_pdu& read) {
    Pdu pdu{.type = static_cast<PduType>(read.command),
            .request_id = static_cast<std::int32_t>(read.reqid),
            .error_status = static_cast<std::int32_t>(read.errstat),
            .error_index = static_cast<std::int32_t>(read.errindex),
            .varbinds = {}};
    for (const auto* at = read.variables; at != nullptr; at = at->next_variable) {
        pdu.varbinds.push_back({from_net(at->name, at->name_length), value_from(*at)});
    }
    return pdu;
}

inline void fill(netsnmp_pdu& net, const Pdu& pdu) {
    net.reqid = pdu.request_id;
    net.errstat = pdu.error_status;
    net.errindex = pdu.error_index;
    for (const Varbind& varbind : pdu.varbinds) add_to(net, varbind);
}

}  // namespace pollux::protocol::snmp
