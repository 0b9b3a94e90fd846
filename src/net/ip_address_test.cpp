#include "net/ip_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::net {
namespace {

IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }

TEST(IpAddress, ParsesAndFormatsLiterals) {
    EXPECT_EQ(address("192.0.2.1").to_string(), "192.0.2.1");
    EXPECT_EQ(address("2001:DB8:0:0::1").to_string(), "2001:db8::1");
    EXPECT_EQ(address("[::1]").to_string(), "::1");
    EXPECT_EQ(address("::1"), address("[::1]"));
    EXPECT_EQ(address("192.0.2.1").to_string(80), "192.0.2.1:80");
    EXPECT_EQ(address("::1").to_string(443), "[::1]:443");
    EXPECT_EQ(IpAddress().to_string(), "0.0.0.0");
    EXPECT_TRUE(address("10.0.0.1").is_v4());
    EXPECT_TRUE(address("::").is_v6());
}

TEST(IpAddress, ParsesScopes) {
    EXPECT_EQ(address("fe80::1%7").scope(), 7U);
    EXPECT_EQ(address("fe80::1%25").scope(), 25U);
    EXPECT_EQ(address("[fe80::1%257]").scope(), 7U);
    EXPECT_EQ(address("[fe80::1%25]").scope(), 25U);
    EXPECT_EQ(address("fe80::1%lo").scope(), address("[fe80::1%25lo]").scope());
    EXPECT_NE(address("fe80::1%lo").scope(), 0U);
    EXPECT_EQ(address("fe80::1%7").to_string(), "fe80::1%7");
}

TEST(IpAddress, RefusesWhatIsNoLiteral) {
    for (const char* text : {"",
                             "localhost",
                             "10.0.0",
                             "10.0.0.256",
                             "010.0.0.1",
                             "0x7f.1",
                             "2130706433",
                             "1.2.3.4:80",
                             "[1.2.3.4]",
                             "[::1]:80",
                             "[::1",
                             "::1]",
                             "::g",
                             "fe80::1%",
                             "fe80::1%no-such-link",
                             "%1",
                             "1:2:3:4:5:6:7:8:9",
                             "10.0.0.1 ",
                             " ::1",
                             "10.0.0.1%1"}) {
        EXPECT_FALSE(IpAddress::parse(text)) << text;
    }
    EXPECT_FALSE(IpAddress::parse(std::string(10'000, ':')));
    EXPECT_FALSE(IpAddress::parse(std::string_view("::1\0", 4)));
    EXPECT_FALSE(IpAddress::parse(std::string_view("10.0.0.1\0.x", 11)));
}

TEST(IpAddress, GoesThroughSocketAddresses) {
    for (const char* text : {"192.0.2.1", "2001:db8::1", "fe80::1%7"}) {
        sockaddr_storage storage;
        const socklen_t length = address(text).to_sockaddr(161, storage);
        const auto* raw = reinterpret_cast<const sockaddr*>(&storage);
        EXPECT_EQ(IpAddress::from_sockaddr(raw, length), address(text));
        EXPECT_FALSE(IpAddress::from_sockaddr(raw, 4));
    }
    sockaddr_storage other{};
    other.ss_family = AF_UNIX;
    EXPECT_FALSE(IpAddress::from_sockaddr(reinterpret_cast<const sockaddr*>(&other), sizeof other));
}

TEST(IpAddress, UnwrapsMappedAndTranslatedAddresses) {
    EXPECT_EQ(address("::ffff:169.254.169.254").unwrapped(), address("169.254.169.254"));
    EXPECT_EQ(address("64:ff9b::a9fe:a9fe").unwrapped(), address("169.254.169.254"));
    EXPECT_EQ(address("64:ff9b:1::a9fe:a9fe").unwrapped(), address("64:ff9b:1::a9fe:a9fe"));
    EXPECT_EQ(address("2001:db8::1").unwrapped(), address("2001:db8::1"));
    EXPECT_EQ(address("::1").unwrapped(), address("::1"));
    EXPECT_EQ(address("10.0.0.1").unwrapped(), address("10.0.0.1"));
}

TEST(IpRange, HoldsWhatSharesItsPrefix) {
    const IpRange private_ten = IpRange::parse("10.0.0.0/8").value();
    EXPECT_TRUE(private_ten.contains(address("10.255.0.1")));
    EXPECT_FALSE(private_ten.contains(address("11.0.0.0")));
    EXPECT_FALSE(private_ten.contains(address("a00::")));
    const IpRange odd = IpRange::parse("172.16.0.0/12").value();
    EXPECT_TRUE(odd.contains(address("172.31.255.255")));
    EXPECT_FALSE(odd.contains(address("172.32.0.0")));
    EXPECT_TRUE(IpRange::parse("fc00::/7").value().contains(address("fdff::1")));
    EXPECT_FALSE(IpRange::parse("fc00::/7").value().contains(address("fe00::1")));
    EXPECT_TRUE(IpRange::parse("fe80::/10").value().contains(address("fe80::1%7")));
    EXPECT_TRUE(IpRange::parse("0.0.0.0/0").value().contains(address("203.0.113.9")));
    const IpRange one = IpRange::parse("192.0.2.7").value();
    EXPECT_TRUE(one.contains(address("192.0.2.7")));
    EXPECT_FALSE(one.contains(address("192.0.2.6")));
    EXPECT_EQ(one.to_string(), "192.0.2.7/32");
}

TEST(IpRange, SaysWhatIsWrongWithAText) {
    EXPECT_THAT(IpRange::parse("10.1.2.3/8").error().message,
                testing::HasSubstr("bits behind the first 8"));
    EXPECT_THAT(IpRange::parse("10.0.0.0/33").error().message, testing::HasSubstr("0 to 32"));
    for (const char* text : {"", "/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "host/8",
                             "fe80::%1/64", "10.0.0.0/8/8"}) {
        const auto range = IpRange::parse(text);
        ASSERT_FALSE(range) << text;
        EXPECT_EQ(range.error().code, "net.address_range");
        EXPECT_EQ(range.error().error_class, base::ErrorClass::kConfig);
    }
}

}  // namespace
}  // namespace pollux::net
