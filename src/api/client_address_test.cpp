#include "api/client_address.hpp"

#include <gtest/gtest.h>

namespace pollux::api {
namespace {

net::Request from(std::string_view peer, std::vector<net::HeaderField> headers = {}) {
    net::Request request;
    request.peer = net::SocketAddress::parse(peer, 4711).value();
    request.headers = std::move(headers);
    return request;
}

std::vector<net::IpRange> ranges(const std::vector<std::string>& texts) {
    std::vector<net::IpRange> all;
    for (const std::string& text : texts) all.push_back(net::IpRange::parse(text).value());
    return all;
}

const std::vector<net::IpRange> kTrusted = ranges({"10.0.0.0/8", "fd00::/8"});

std::string client(const net::Request& request) {
    return client_of(request, kTrusted).address.to_string();
}

TEST(ClientAddress, NobodyIsBelievedWhoIsNotTrusted) {
    EXPECT_EQ(client(from("192.0.2.1")), "192.0.2.1");
    EXPECT_EQ(client(from("192.0.2.1", {{"X-Forwarded-For", "198.51.100.7"}})), "192.0.2.1");
    EXPECT_EQ(
        client_of(from("10.0.0.1", {{"X-Forwarded-For", "198.51.100.7"}}), {}).address.to_string(),
        "10.0.0.1");
}

TEST(ClientAddress, TheLastUntrustedHopIsTheClient) {
    const auto via = [](std::vector<net::HeaderField> headers, std::string_view peer = "10.0.0.1") {
        return client(from(peer, std::move(headers)));
    };
    EXPECT_EQ(via({}), "10.0.0.1");
    EXPECT_EQ(via({{"X-Forwarded-For", "198.51.100.7"}}), "198.51.100.7");
    EXPECT_EQ(via({{"X-Forwarded-For", "1.1.1.1, 198.51.100.7"}}), "198.51.100.7")
        << "what the client itself wrote stands left and counts for nothing";
    EXPECT_EQ(via({{"X-Forwarded-For", "198.51.100.7, 10.2.3.4"}}), "198.51.100.7");
    EXPECT_EQ(via({{"X-Forwarded-For", "1.1.1.1"}, {"x-forwarded-for", "198.51.100.7"}}),
              "198.51.100.7");
    EXPECT_EQ(via({{"X-Forwarded-For", "10.9.9.9, 10.2.3.4"}}), "10.9.9.9");
    EXPECT_EQ(via({{"X-Forwarded-For", "198.51.100.7, nonsense"}}), "10.0.0.1");
    EXPECT_EQ(via({{"X-Forwarded-For", ""}}), "10.0.0.1");
    EXPECT_EQ(via({{"X-Forwarded-For", "198.51.100.7:1234"}}), "198.51.100.7");
    EXPECT_EQ(via({{"X-Forwarded-For", "2001:db8::7"}}, "fd00::1"), "2001:db8::7");
    EXPECT_EQ(via({{"X-Forwarded-For", "[2001:db8::7]:99, fd00::5"}}, "fd00::1"), "2001:db8::7");
    EXPECT_EQ(via({{"X-Forwarded-For", "::ffff:198.51.100.7"}}, "::ffff:10.0.0.1"), "198.51.100.7");
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "10.0.0.2,";
    EXPECT_EQ(via({{"X-Forwarded-For", many + "198.51.100.7"}}), "198.51.100.7");
}

TEST(ClientAddress, OnlyAPlainConnectionFromThisMachineIsDirect) {
    const auto direct = [](const net::Request& request) {
        return client_of(request, kTrusted).direct_loopback();
    };
    EXPECT_TRUE(direct(from("127.0.0.1")));
    EXPECT_TRUE(direct(from("127.8.9.1")));
    EXPECT_TRUE(direct(from("::1")));
    EXPECT_FALSE(direct(from("192.0.2.1")));
    EXPECT_FALSE(direct(from("2001:db8::1")));
    for (const char* name : {"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
                             "X-Real-IP", "Forwarded", "Via"}) {
        EXPECT_FALSE(direct(from("127.0.0.1", {{name, "x"}}))) << name;
    }
    EXPECT_FALSE(direct(net::Request{}));
}

TEST(ClientAddress, TlsCountsHereAndAtATrustedProxy) {
    const auto secure = [](net::Request request) { return client_of(request, kTrusted).secure; };
    net::Request own = from("192.0.2.1");
    EXPECT_FALSE(secure(own));
    own.secure = true;
    EXPECT_TRUE(secure(own));
    EXPECT_TRUE(secure(from("10.0.0.1", {{"X-Forwarded-Proto", "https"}})));
    EXPECT_FALSE(secure(from("10.0.0.1", {{"X-Forwarded-Proto", "http"}})));
    EXPECT_FALSE(secure(from("192.0.2.1", {{"X-Forwarded-Proto", "https"}})));
}

TEST(ClientAddress, LimitsCountIpv6ByItsNetwork) {
    const auto key = [](std::string_view text) {
        return limit_key(net::IpAddress::parse(text).value());
    };
    EXPECT_EQ(key("192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(key("::ffff:192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
    EXPECT_NE(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
    EXPECT_EQ(key("2001:db8:1:2::1"), "2001:db8:1:2::/64");
}

}  // namespace
}  // namespace pollux::api
