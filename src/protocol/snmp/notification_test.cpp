// Traps and informs by hand: what they mean, and what is refused.
#include "protocol/snmp/notification.hpp"

#include <gtest/gtest.h>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;
using model::SnmpVersion;

std::vector<std::uint8_t> trap_v1(std::string_view enterprise, std::int32_t generic,
                                  std::int32_t specific, std::vector<Varbind> varbinds = {}) {
    std::vector<std::uint8_t> buffer(4096);
    BerWriter writer(buffer);
    for (std::size_t i = varbinds.size(); i > 0; --i) {
        put_varbind(writer, varbinds[i - 1].oid, varbinds[i - 1].value);
    }
    writer.wrap(tag::kSequence, 0);
    writer.put_unsigned(0x43, 4242);
    writer.put_integer(tag::kInteger, specific);
    writer.put_integer(tag::kInteger, generic);
    writer.put_string(0x40, std::string("\xC0\0\2\7", 4));
    writer.put_oid(oid_of(enterprise));
    writer.wrap(0xA4, 0);
    put_community_wrapper(writer, 0, SnmpVersion::kV1, "c0mm");
    return {writer.bytes().begin(), writer.bytes().end()};
}

model::SnmpValue object(std::string_view oid) {
    model::SnmpValue value;
    value.type = SnmpType::kObjectId;
    value.oid = oid_of(oid);
    return value;
}

model::SnmpValue ticks(std::uint64_t number) {
    model::SnmpValue value;
    value.type = SnmpType::kTimeTicks;
    value.unsigned_value = number;
    return value;
}

model::SnmpValue text(std::string bytes) {
    model::SnmpValue value;
    value.type = SnmpType::kOctetString;
    value.bytes = std::move(bytes);
    return value;
}

Message trap_v2(std::string_view trap, PduType type = PduType::kTrapV2) {
    Message message;
    message.community = "c0mm";
    message.pdu.type = type;
    message.pdu.request_id = 99;
    message.pdu.varbinds = {{oid_of("1.3.6.1.2.1.1.3.0"), ticks(77)},
                            {oid_of("1.3.6.1.6.3.1.1.4.1.0"), object(trap)},
                            {oid_of("1.3.6.1.2.1.1.6.0"), text("a room")}};
    return message;
}

TEST(Notification, GenericTrapsOfVersionOneGetTheNameOfTheStandard) {
    for (std::int32_t generic = 0; generic < 6; ++generic) {
        const auto bytes = trap_v1("1.3.6.1.4.1.8072.3", generic, 17);
        const auto received = parse_notification(bytes);
        ASSERT_TRUE(received.has_value()) << received.error();
        EXPECT_EQ(model::to_string(received->trap.trap),
                  "1.3.6.1.6.3.1.1.5." + std::to_string(generic + 1));
        EXPECT_EQ(model::to_string(received->trap.enterprise), "1.3.6.1.4.1.8072.3");
        EXPECT_EQ(received->trap.agent_address, "192.0.2.7");
        EXPECT_EQ(received->trap.uptime_ticks, 4242U);
        EXPECT_EQ(received->trap.version, SnmpVersion::kV1);
        EXPECT_EQ(received->community, "c0mm");
        EXPECT_FALSE(received->trap.inform);
    }
}

TEST(Notification, EnterpriseTrapsOfVersionOneGetAZeroAndTheirNumber) {
    const auto bytes =
        trap_v1("1.3.6.1.4.1.9.1", 6, 17, {{oid_of("1.3.6.1.2.1.1.6.0"), text("x")}});
    const auto received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value());
    EXPECT_EQ(model::to_string(received->trap.trap), "1.3.6.1.4.1.9.1.0.17");
    ASSERT_EQ(received->trap.varbinds.size(), 1U);
    EXPECT_EQ(received->trap.varbinds[0].second.bytes, "x");
}

TEST(Notification, VersionOneRefusesNumbersBeyondItsRange) {
    EXPECT_FALSE(parse_notification(trap_v1("1.3.6.1.4.1.9", 7, 0)));
    EXPECT_FALSE(parse_notification(trap_v1("1.3.6.1.4.1.9", -1, 0)));
    EXPECT_FALSE(parse_notification(trap_v1("1.3.6.1.4.1.9", 6, -1)));
}

TEST(Notification, VersionTwoLosesTheTwoLeadingVariables) {
    const auto bytes = encoded(trap_v2("1.3.6.1.6.3.1.1.5.3"));
    const auto received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value()) << received.error();
    EXPECT_EQ(model::to_string(received->trap.trap), "1.3.6.1.6.3.1.1.5.3");
    EXPECT_EQ(model::to_string(received->trap.enterprise), "1.3.6.1.6.3.1.1.5");
    EXPECT_EQ(received->trap.uptime_ticks, 77U);
    ASSERT_EQ(received->trap.varbinds.size(), 1U);
    EXPECT_EQ(received->trap.varbinds[0].first, oid_of("1.3.6.1.2.1.1.6.0"));
    EXPECT_EQ(received->trap.agent_address, "");
}

TEST(Notification, TheEnterpriseIsTheSaidOneOrTheNamesBeginning) {
    const auto enterprise = [](const Message& message) {
        const auto bytes = encoded(message);
        const auto received = parse_notification(bytes);
        return received ? model::to_string(received->trap.enterprise) : std::string("refused");
    };
    EXPECT_EQ(enterprise(trap_v2("1.3.6.1.4.1.9.1.0.17")), "1.3.6.1.4.1.9.1");
    EXPECT_EQ(enterprise(trap_v2("1.3.6.1.4.1.9.1.17")), "1.3.6.1.4.1.9.1");
    EXPECT_EQ(enterprise(trap_v2("1.3")), "1");
    Message said = trap_v2("1.3.6.1.4.1.9.1.0.17");
    said.pdu.varbinds.push_back({oid_of("1.3.6.1.6.3.1.1.4.3.0"), object("1.3.6.1.4.1.99")});
    model::SnmpValue address;
    address.type = SnmpType::kIpAddress;
    address.bytes = "\x0A\x01\x02\x03";
    said.pdu.varbinds.push_back({oid_of("1.3.6.1.6.3.18.1.3.0"), address});
    EXPECT_EQ(enterprise(said), "1.3.6.1.4.1.99");
    EXPECT_EQ(parse_notification(encoded(said))->trap.agent_address, "10.1.2.3");
}

TEST(Notification, AnInformIsAnsweredWithItsIdAndVariables) {
    const Message inform = trap_v2("1.3.6.1.4.1.9.1.0.17", PduType::kInform);
    const auto bytes = encoded(inform);
    const auto received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value());
    EXPECT_TRUE(received->trap.inform);
    std::vector<std::uint8_t> buffer(4096);
    const auto answer = decode_message(answer_inform(*received, buffer));
    ASSERT_TRUE(answer.has_value());
    Message wanted = inform;
    wanted.pdu.type = PduType::kResponse;
    EXPECT_EQ(*answer, wanted);
    EXPECT_TRUE(answer_inform(*received, std::span(buffer).first(20)).empty());
}

TEST(Notification, RefusesWhatIsNoNotification) {
    Message get = trap_v2("1.3.6.1.4.1.9.1.0.17", PduType::kGet);
    EXPECT_FALSE(parse_notification(encoded(get)));
    Message nameless = trap_v2("1.3.6.1.4.1.9.1.0.17");
    nameless.pdu.varbinds.erase(nameless.pdu.varbinds.begin() + 1);
    EXPECT_FALSE(parse_notification(encoded(nameless)));
    Message wrong_type = trap_v2("1.3.6.1.4.1.9.1.0.17");
    wrong_type.pdu.varbinds[1].value = text("1.3.6.1");
    EXPECT_FALSE(parse_notification(encoded(wrong_type)));
    Message many = trap_v2("1.3.6.1.4.1.9.1.0.17");
    many.pdu.varbinds.resize(kMaxTrapVarbinds + 1, many.pdu.varbinds[2]);
    EXPECT_FALSE(parse_notification(encoded(many)));
    many.pdu.varbinds.resize(kMaxTrapVarbinds);
    EXPECT_TRUE(parse_notification(encoded(many)));
    // A trap of version two in a message of version one.
    Message mixed = trap_v2("1.3.6.1.4.1.9.1.0.17");
    mixed.version = SnmpVersion::kV1;
    EXPECT_FALSE(parse_notification(encoded(mixed)));
}

TEST(Notification, CutAndChangedBytesDoNoHarm) {
    for (const auto& bytes : {encoded(trap_v2("1.3.6.1.4.1.9.1.0.17", PduType::kInform)),
                              trap_v1("1.3.6.1.4.1.9", 6, 5)}) {
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_FALSE(parse_notification(Bytes(bytes).first(size)));
        }
        std::size_t taken = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            auto changed = bytes;
            changed[i] ^= 0x80U;
            if (parse_notification(changed)) ++taken;
        }
        EXPECT_LT(taken, bytes.size());
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
