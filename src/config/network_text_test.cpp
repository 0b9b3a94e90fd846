#include "config/network_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pollux::config {
namespace {

TEST(NetworkText, KnowsAddresses) {
    for (const std::string_view text : {"0.0.0.0", "127.0.0.1", "255.255.255.255"}) {
        EXPECT_TRUE(is_ipv4(text)) << text;
    }
    for (const std::string_view text :
         {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ", "1..2.3", "a.b.c.d"}) {
        EXPECT_FALSE(is_ipv4(text)) << text;
    }
    for (const std::string_view text :
         {"::", "::1", "1::", "fe80::1", "2001:db8:0:0:0:0:0:1", "::ffff:192.0.2.1",
          "64:ff9b::a9fe:a9fe", "1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:7::"}) {
        EXPECT_TRUE(is_ipv6(text)) << text;
    }
    for (const std::string_view text : {"", ":", ":::", "1", "1:2", "1:2:3:4:5:6:7:8:9", "1::2::3",
                                        "12345::", "g::", "fe80::1%eth0", "[::1]",
                                        "192.0.2.1::", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8"}) {
        EXPECT_FALSE(is_ipv6(text)) << text;
    }
}

TEST(NetworkText, KnowsRanges) {
    for (const std::string_view text : {"10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/8", "::1"}) {
        EXPECT_TRUE(is_address_range(text)) << text;
    }
    for (const std::string_view text : {"10.0.0.0/33", "::/129", "10.0.0.0/", "/8", "host/8"}) {
        EXPECT_FALSE(is_address_range(text)) << text;
    }
}

TEST(NetworkText, KnowsWhereToListen) {
    const auto port = [](std::string_view text) {
        const auto split = split_listen_address(text);
        return split ? static_cast<int>(split->port) : -1;
    };
    EXPECT_EQ(port("127.0.0.1:7655"), 7655);
    EXPECT_EQ(port("[::1]:7655"), 7655);
    EXPECT_EQ(port("127.0.0.1:0"), 0) << "any free port";
    EXPECT_EQ(port("[::1]:0"), 0);
    for (const std::string_view text :
         {"", ":0", "0", "127.0.0.1", "[::1]", "::1", "::1:0", "localhost:1", "127.0.0.1:1:0",
          "127.0.0.1:00", "[::1]:0:0"}) {
        EXPECT_EQ(port(text), -1) << text;
    }
}

TEST(NetworkText, KnowsHostNames) {
    for (const std::string_view text : {"a", "web-1.example", "_srv.x", "example.", "3com"}) {
        EXPECT_TRUE(is_host_name(text)) << text;
    }
    for (const std::string& text :
         {std::string(""), std::string("."), std::string("a..b"), std::string("1.2.3"),
          std::string("a b"), std::string("ä"), std::string(64, 'a'), std::string(254, 'a')}) {
        EXPECT_FALSE(is_host_name(text)) << text;
    }
}

TEST(NetworkText, SplitsHostAndPort) {
    const struct {
        std::string_view text, host;
        std::uint16_t port;
    } cases[] = {{"web:80", "web", 80},     {"192.0.2.1:9100", "192.0.2.1", 9100},
                 {"[::1]:161", "::1", 161}, {"[::1]", "::1", 0},
                 {"::1", "::1", 0},         {"web", "web", 0}};
    for (const auto& one : cases) {
        const auto parts = split_host_port(one.text);
        ASSERT_TRUE(parts) << one.text;
        EXPECT_EQ(parts->host, one.host);
        EXPECT_EQ(parts->port, one.port);
    }
    for (const std::string_view text :
         {"", ":80", "web:", "web:0", "web:65536", "[::1]x", "[::1", "[web]:80", "a b:80"}) {
        EXPECT_FALSE(split_host_port(text)) << text;
    }
}

}  // namespace
}  // namespace pollux::config
