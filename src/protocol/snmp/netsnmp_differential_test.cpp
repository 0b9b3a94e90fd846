// Our codec against the one of net-snmp's library: what either writes the other reads the same.
#include <gtest/gtest.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#undef config_error  // a macro of net-snmp, and a function of ours

#include <cstdlib>
#include <cstring>
#include <memory>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;

using NetPdu = std::unique_ptr<netsnmp_pdu, decltype(&snmp_free_pdu)>;

std::vector<oid> to_net(const model::Oid& name) { return {name.arcs.begin(), name.arcs.end()}; }

model::Oid from_net(const oid* arcs, std::size_t count) {
    model::Oid name;
    for (std::size_t i = 0; i < count; ++i)
        name.arcs.push_back(static_cast<std::uint32_t>(arcs[i]));
    return name;
}

u_char net_type(SnmpType type) {
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

void add_to(netsnmp_pdu& pdu, const Varbind& varbind) {
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

model::SnmpValue value_from(const netsnmp_variable_list& variable) {
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

// What net-snmp refuses by itself is not asked of it.
Message common_message(std::uint64_t seed) {
    base::TestRandom random(seed);
    Message message = random_message(random);
    message.community += 'x';
    if (message.pdu.type == PduType::kGetBulk) message.version = model::SnmpVersion::kV2c;
    for (Varbind& varbind : message.pdu.varbinds) {
        // It unwraps the special numbers that it puts into Opaque.
        if (varbind.value.type == SnmpType::kOpaque) varbind.value.bytes.insert(0, "\x04\x02");
    }
    return message;
}

class NetSnmp : public ::testing::Test {
  protected:
    netsnmp_session session_for(const Message& message) {
        netsnmp_session session;
        snmp_sess_init(&session);
        session.version = version_of(message);
        return session;
    }
    static long version_of(const Message& message) {
        return message.version == model::SnmpVersion::kV1 ? SNMP_VERSION_1 : SNMP_VERSION_2c;
    }
};

TEST_F(NetSnmp, ReadsWhatWeWrite) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Message message = common_message(seed);
        std::vector<std::uint8_t> bytes = encoded(message);
        netsnmp_session session = session_for(message);
        const NetPdu pdu(snmp_pdu_create(0), &snmp_free_pdu);
        ASSERT_EQ(snmp_parse(nullptr, &session, pdu.get(), bytes.data(), bytes.size()), 0)
            << "seed " << seed;
        EXPECT_EQ(pdu->version, version_of(message));
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(pdu->community), pdu->community_len),
                  message.community);
        EXPECT_EQ(pdu->command, static_cast<int>(message.pdu.type));
        EXPECT_EQ(pdu->reqid, message.pdu.request_id);
        EXPECT_EQ(pdu->errstat, message.pdu.error_status);
        EXPECT_EQ(pdu->errindex, message.pdu.error_index);
        std::vector<Varbind> read;
        for (const auto* at = pdu->variables; at != nullptr; at = at->next_variable) {
            read.push_back({from_net(at->name, at->name_length), value_from(*at)});
        }
        EXPECT_EQ(read, message.pdu.varbinds) << "seed " << seed;
    }
}

TEST_F(NetSnmp, WritesWhatWeRead) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Message message = common_message(seed);
        netsnmp_session session = session_for(message);
        const NetPdu pdu(snmp_pdu_create(static_cast<int>(message.pdu.type)), &snmp_free_pdu);
        pdu->version = version_of(message);
        pdu->reqid = message.pdu.request_id;
        pdu->errstat = message.pdu.error_status;
        pdu->errindex = message.pdu.error_index;
        pdu->community = static_cast<u_char*>(std::malloc(message.community.size()));
        pdu->community_len = message.community.size();
        std::memcpy(pdu->community, message.community.data(), message.community.size());
        for (const Varbind& varbind : message.pdu.varbinds) add_to(*pdu, varbind);
        std::size_t room = 65536;
        auto* packet = static_cast<u_char*>(std::malloc(room));
        std::size_t used = 0;
        ASSERT_EQ(snmp_build(&packet, &room, &used, &session, pdu.get()), 0)
            << "seed " << seed << ": " << snmp_api_errstring(session.s_snmp_errno);
        // It too writes from the back.
        const auto read = decode_message({packet + room - used, used});
        ASSERT_TRUE(read.has_value()) << "seed " << seed << ": " << read.error();
        EXPECT_EQ(*read, message) << "seed " << seed;
        std::free(packet);
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
