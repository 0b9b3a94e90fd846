#include "protocol/snmp/message.hpp"

#include <gtest/gtest.h>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;
using model::SnmpVersion;

// snmpget -v2c -c public: sysUpTime.0, request id 0x1b2c3d4e.
constexpr std::string_view kGet =
    "30 29  02 01 01  04 06 70 75 62 6c 69 63"
    "a0 1c  02 04 1b 2c 3d 4e  02 01 00  02 01 00"
    "30 0e  30 0c  06 08 2b 06 01 02 01 01 03 00  05 00";

// Its answer: TimeTicks 123456.
constexpr std::string_view kResponse =
    "30 2c  02 01 01  04 06 70 75 62 6c 69 63"
    "a2 1f  02 04 1b 2c 3d 4e  02 01 00  02 01 00"
    "30 11  30 0f  06 08 2b 06 01 02 01 01 03 00  43 03 01 e2 40";

// GETBULK of two columns, no non-repeaters, 25 repetitions.
constexpr std::string_view kBulk =
    "30 38  02 01 01  04 06 70 75 62 6c 69 63"
    "a5 2b  02 01 07  02 01 00  02 01 19"
    "30 20"
    "30 0e  06 0a 2b 06 01 02 01 02 02 01 0a 01  05 00"
    "30 0e  06 0a 2b 06 01 02 01 02 02 01 10 01  05 00";

// A v1 answer that names the second variable: noSuchName.
constexpr std::string_view kNoSuchName =
    "30 29  02 01 00  04 06 70 75 62 6c 69 63"
    "a2 1c  02 04 00 00 00 2a  02 01 02  02 01 02"
    "30 0e  30 0c  06 08 2b 06 01 02 01 01 03 00  05 00";

// Every type once, written out by hand.
constexpr std::string_view kAllTypes =
    "30 81 a3  02 01 01  04 01 63"
    "a2 81 9a  02 01 01  02 01 00  02 01 00  30 81 8e"
    "30 09  06 02 2b 01  02 03 fe 79 60"                    // INTEGER -100000
    "30 09  06 02 2b 02  04 03 61 00 ff"                    // OCTET STRING
    "30 06  06 02 2b 03  05 00"                             // NULL
    "30 0a  06 02 2b 04  06 04 2b 06 01 04"                 // OBJECT IDENTIFIER
    "30 0a  06 02 2b 05  40 04 c0 00 02 01"                 // IpAddress
    "30 0b  06 02 2b 06  41 05 00 ff ff ff ff"              // Counter32
    "30 08  06 02 2b 07  42 02 03 e8"                       // Gauge32
    "30 07  06 02 2b 08  43 01 05"                          // TimeTicks
    "30 0d  06 02 2b 09  44 07 9f 78 04 42 28 00 00"        // Opaque float 42
    "30 0f  06 02 2b 0a  46 09 00 ff ff ff ff ff ff ff ff"  // Counter64
    "30 06  06 02 2b 0b  80 00  30 06  06 02 2b 0c  81 00  30 06  06 02 2b 0d  82 00";

Message decoded(std::string_view hex) {
    const auto message = decode_message(from_hex(hex));
    EXPECT_TRUE(message.has_value()) << (message ? "" : message.error());
    return message.value_or(Message{});
}

TEST(Message, ReadsAGetRequestAndWritesTheSameBytes) {
    const Message message = decoded(kGet);
    EXPECT_EQ(message.version, SnmpVersion::kV2c);
    EXPECT_EQ(message.community, "public");
    EXPECT_EQ(message.pdu.type, PduType::kGet);
    EXPECT_EQ(message.pdu.request_id, 0x1b2c3d4e);
    ASSERT_EQ(message.pdu.varbinds.size(), 1U);
    EXPECT_EQ(to_string(message.pdu.varbinds[0].oid), "1.3.6.1.2.1.1.3.0");
    EXPECT_EQ(encoded(message), from_hex(kGet));
}

TEST(Message, ReadsAResponse) {
    const Message message = decoded(kResponse);
    EXPECT_EQ(message.pdu.type, PduType::kResponse);
    ASSERT_EQ(message.pdu.varbinds.size(), 1U);
    EXPECT_EQ(message.pdu.varbinds[0].value.type, SnmpType::kTimeTicks);
    EXPECT_EQ(message.pdu.varbinds[0].value.unsigned_value, 123456U);
    EXPECT_EQ(encoded(message), from_hex(kResponse));
}

TEST(Message, ReadsABulkRequest) {
    const Message message = decoded(kBulk);
    EXPECT_EQ(message.pdu.type, PduType::kGetBulk);
    EXPECT_EQ(message.pdu.error_status, 0);
    EXPECT_EQ(message.pdu.error_index, 25);
    EXPECT_EQ(message.pdu.varbinds.size(), 2U);
    EXPECT_EQ(encoded(message), from_hex(kBulk));
}

TEST(Message, ReadsAnErrorOfVersionOne) {
    const Message message = decoded(kNoSuchName);
    EXPECT_EQ(message.version, SnmpVersion::kV1);
    EXPECT_EQ(message.pdu.request_id, 42);
    EXPECT_EQ(error_status_text(message.pdu.error_status), "noSuchName");
    EXPECT_EQ(message.pdu.error_index, 2);
}

TEST(Message, ReadsEveryTypeOfValue) {
    const Message message = decoded(kAllTypes);
    ASSERT_EQ(message.pdu.varbinds.size(), 13U);
    const auto value = [&](std::size_t i) { return message.pdu.varbinds[i].value; };
    for (std::size_t i = 0; i < 13; ++i) EXPECT_EQ(value(i).type, static_cast<SnmpType>(i));
    EXPECT_EQ(value(0).integer, -100000);
    EXPECT_EQ(value(1).bytes, std::string("a\0\xff", 3));
    EXPECT_EQ(to_string(value(3).oid), "1.3.6.1.4");
    EXPECT_EQ(value(4).bytes, std::string("\xc0\x00\x02\x01", 4));
    EXPECT_EQ(value(5).unsigned_value, 0xFFFFFFFFU);
    EXPECT_EQ(value(6).unsigned_value, 1000U);
    EXPECT_EQ(value(7).unsigned_value, 5U);
    EXPECT_EQ(opaque_number(value(8).bytes), 42.0);
    EXPECT_EQ(value(9).unsigned_value, ~std::uint64_t{0});
    EXPECT_FALSE(value(10).exists());
    EXPECT_EQ(encoded(message), from_hex(kAllTypes));
}

TEST(Message, WrapsNumbersInOpaqueAsAgentsDo) {
    EXPECT_EQ(opaque_number(opaque_float(-1.5F)), -1.5);
    EXPECT_EQ(opaque_number(opaque_double(0.1)), 0.1);
    EXPECT_EQ(opaque_number(""), std::nullopt);
    EXPECT_EQ(opaque_number("\x9f\x78\x04\x42\x28"), std::nullopt);
    EXPECT_EQ(opaque_number("\x9f\x77\x02\x42\x28"), std::nullopt);
}

TEST(Message, RefusesOtherVersions) {
    auto bytes = from_hex(kGet);
    bytes[4] = 3;
    const auto message = decode_message(bytes);
    ASSERT_FALSE(message.has_value());
    EXPECT_EQ(message.error(), "another version than SNMP v1 or v2c");
}

TEST(Message, IgnoresWhatFollowsIt) {
    auto bytes = from_hex(kResponse);
    bytes.insert(bytes.end(), {0, 0, 0});
    EXPECT_EQ(decode_message(bytes), decoded(kResponse));
}

TEST(Message, RefusesItCutAtEveryByte) {
    for (const std::string_view hex : {kGet, kResponse, kBulk, kNoSuchName, kAllTypes}) {
        const auto whole = from_hex(hex);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            // A copy of its own, so that reading beyond it is found by the sanitizer.
            const std::vector<std::uint8_t> cut(whole.begin(),
                                                whole.begin() + static_cast<long>(length));
            EXPECT_FALSE(decode_message(cut).has_value()) << length;
        }
    }
}

TEST(Message, SaysWhenItDoesNotFit) {
    const Message message = decoded(kAllTypes);
    const std::size_t size = encoded(message).size();
    for (std::size_t room = 0; room < size; ++room) {
        std::vector<std::uint8_t> buffer(room);
        EXPECT_TRUE(encode_message(message, buffer).empty());
    }
    std::vector<std::uint8_t> buffer(size);
    EXPECT_EQ(encode_message(message, buffer).size(), size);
}

TEST(Message, ReadsBackWhatItWrote) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        base::TestRandom random(seed);
        const Message message = random_message(random);
        const auto again = decode_message(encoded(message));
        ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << again.error();
        EXPECT_EQ(*again, message) << "seed " << seed;
    }
}

// Whatever a mutated packet decodes to can be written, and reads back as itself.
TEST(Message, SurvivesMutation) {
    std::size_t accepted = 0;
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        base::TestRandom random(seed);
        auto bytes = seed % 2 == 0 ? from_hex(kAllTypes) : encoded(random_message(random));
        const std::size_t changes = 1 + random.below(4);
        for (std::size_t i = 0; i < changes; ++i) {
            bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
        }
        if (random.one_in(4)) bytes.resize(random.below(bytes.size()));
        bytes.shrink_to_fit();
        const auto message = decode_message(bytes);
        if (!message) {
            EXPECT_FALSE(message.error().empty());
            continue;
        }
        ++accepted;
        const auto again = decode_message(encoded(*message));
        ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << again.error();
        EXPECT_EQ(*again, *message) << "seed " << seed;
    }
    EXPECT_GT(accepted, 1000U);
}

}  // namespace
}  // namespace pollux::protocol::snmp
