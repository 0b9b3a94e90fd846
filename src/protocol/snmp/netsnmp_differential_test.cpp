// Our codec against the one of net-snmp's library: what either writes the other reads the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "protocol/snmp/netsnmp_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

// What net-snmp refuses by itself is not asked of it.
Message common_message(std::uint64_t seed) {
    base::TestRandom random(seed);
    Message message = random_message(random);
    message.community += 'x';
    if (message.pdu.type == PduType::kGetBulk) message.version = model::SnmpVersion::kV2c;
    keep_opaque_plain(message.pdu);
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
        EXPECT_EQ(pdu_from(*pdu), message.pdu) << "seed " << seed;
    }
}

TEST_F(NetSnmp, WritesWhatWeRead) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const Message message = common_message(seed);
        netsnmp_session session = session_for(message);
        const NetPdu pdu(snmp_pdu_create(static_cast<int>(message.pdu.type)), &snmp_free_pdu);
        pdu->version = version_of(message);
        pdu->community = static_cast<u_char*>(std::malloc(message.community.size()));
        pdu->community_len = message.community.size();
        std::memcpy(pdu->community, message.community.data(), message.community.size());
        fill(*pdu, message.pdu);
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
