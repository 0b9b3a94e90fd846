#include "protocol/dns/dns_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::protocol::dns {
namespace {

std::string answer_with(std::string record) {
    std::string out = *encode({7, "x.test", 16, true, false});
    out[2] = '\x84';
    out[7] = 1;
    return out + "\xc0\x0c" + record;
}

TEST(DnsMessage, WritesAndReadsAQuestion) {
    const auto packet = encode({0x1234, "WWW.Example.net", 28, true, true});
    ASSERT_TRUE(packet);
    const auto message = decode(*packet);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->id, 0x1234);
    EXPECT_FALSE(message->is_response);
    EXPECT_EQ(message->question, "www.example.net.");
    EXPECT_EQ(message->question_type, 28);
}

TEST(DnsMessage, RefusesWhatIsNoName) {
    for (const std::string& name :
         {std::string(), std::string(".."), std::string("a..b"), std::string(64, 'x'),
          std::string(".a"), std::string("a\\"), std::string("a\\999")}) {
        EXPECT_FALSE(encode({1, name, 1, true, true})) << name;
    }
    std::string longest;
    for (int i = 0; i < 70; ++i) longest += "abc.";
    EXPECT_FALSE(encode({1, longest, 1, true, true}));
    EXPECT_TRUE(encode({1, ".", 1, true, true}));
    EXPECT_TRUE(encode({1, "a\\.b.test.", 1, true, true}));
}

TEST(DnsMessage, KnowsTypesByNameAndNumber) {
    EXPECT_EQ(type_number("aaaa"), 28);
    EXPECT_EQ(type_number("TYPE257"), 257);
    EXPECT_EQ(type_number("TYPE70000"), std::nullopt);
    EXPECT_EQ(type_number("TYPE"), std::nullopt);
    EXPECT_EQ(type_number("BOGUS"), std::nullopt);
    EXPECT_EQ(type_name(15), "MX");
    EXPECT_EQ(type_name(65280), "TYPE65280");
    EXPECT_EQ(code_name(3), "NXDOMAIN");
}

TEST(DnsMessage, WritesUnknownTypesByRfc3597) {
    const auto message = decode(answer_with(std::string("\xff\x00\0\1\0\0\0\5\0\3\1\xAB\xff", 13)));
    ASSERT_TRUE(message);
    ASSERT_EQ(message->answers.size(), 1U);
    EXPECT_EQ(message->answers[0].type, "TYPE65280");
    EXPECT_EQ(message->answers[0].data, "\\# 3 01ABFF");
}

TEST(DnsMessage, EscapesTexts) {
    const auto message =
        decode(answer_with(std::string("\0\x10\0\1\0\0\0\5\0\6\5a\"\\\n\xff", 16)));
    ASSERT_TRUE(message);
    ASSERT_EQ(message->answers.size(), 1U);
    EXPECT_EQ(message->answers[0].data, "\"a\\\"\\\\\\010\\255\"");
}

TEST(DnsMessage, SurvivesDamage) {
    EXPECT_FALSE(decode(""));
    EXPECT_FALSE(decode("short"));
    // A name that points at itself, and one that points forward.
    EXPECT_FALSE(decode(answer_with("") + std::string("\xc0\x1e", 2)));
    const std::string good = answer_with(std::string("\0\x10\0\1\0\0\0\5\0\2\1a", 12));
    ASSERT_TRUE(decode(good));
    for (std::size_t i = 0; i < good.size(); ++i) {
        [[maybe_unused]] const auto cut = decode(good.substr(0, i));
        for (const char c : {'\0', '\x3f', '\xc0', '\xff'}) {
            std::string damaged = good;
            damaged[i] = c;
            [[maybe_unused]] const auto read = decode(damaged);
        }
    }
}

}  // namespace
}  // namespace pollux::protocol::dns
