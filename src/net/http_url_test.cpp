#include "net/http_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::net {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpUrl, KnowsItsParts) {
    const HttpUrl plain = HttpUrl::parse("http://Device.Example/a/b?token=secret#part").value();
    EXPECT_EQ(plain.host, "device.example");
    EXPECT_EQ(plain.port, 80);
    EXPECT_EQ(plain.origin, "device.example:80");
    EXPECT_FALSE(plain.tls);
    EXPECT_FALSE(plain.literal);
    EXPECT_THAT(plain.text, HasSubstr("/a/b?token=secret"));
    EXPECT_THAT(plain.text, Not(HasSubstr("#")));
    EXPECT_THAT(plain.shown, HasSubstr("/a/b?…"));
    EXPECT_THAT(plain.shown, Not(HasSubstr("secret")));

    const HttpUrl tls = HttpUrl::parse("https://[::1]:8006/").value();
    EXPECT_EQ(tls.host, "::1");
    EXPECT_EQ(tls.port, 8006);
    EXPECT_TRUE(tls.tls);
    EXPECT_TRUE(tls.literal);
    EXPECT_EQ(tls.address, IpAddress::parse("::1").value());
    EXPECT_EQ(HttpUrl::parse("https://h").value().port, 443);
    EXPECT_EQ(HttpUrl::parse("http://[fe80::1%25lo]/").value().address,
              IpAddress::parse("fe80::1%lo").value());
}

TEST(HttpUrl, SeesTheAddressLibcurlWouldConnectTo) {
    // All of these are 127.0.0.1 for libcurl, so they must be for us.
    for (const char* text :
         {"http://127.0.0.1/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/"}) {
        const HttpUrl url = HttpUrl::parse(text).value();
        EXPECT_TRUE(url.literal) << text;
        EXPECT_EQ(url.address.to_string(), "127.0.0.1") << text;
    }
}

TEST(HttpUrl, AsksForTheAsciiFormOfInternationalNames) {
    const auto url = HttpUrl::parse("http://b\xC3\xBC.example/");
    ASSERT_FALSE(url);
    EXPECT_THAT(url.error().message, HasSubstr("xn--"));
}

TEST(HttpUrl, RefusesWhatItCannotAsk) {
    for (const char* text :
         {"", "host/path", "ftp://host/", "file:///etc/passwd", "http://", "http://host:0/",
          "http://host:99999/", "http://ho st/", "gopher://host/"}) {
        const auto url = HttpUrl::parse(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().code, "http.bad_url");
    }
    const auto with_password = HttpUrl::parse("http://user:hunter2@host/?q=hunter2");
    ASSERT_FALSE(with_password);
    EXPECT_THAT(with_password.error().message, Not(HasSubstr("hunter2")));
    EXPECT_FALSE(HttpUrl::parse("http://h/" + std::string(10'000, 'a')));
    EXPECT_FALSE(HttpUrl::parse(std::string_view("http://a\0b/", 11)));
}

TEST(HttpUrl, FollowsLocations) {
    const HttpUrl base = HttpUrl::parse("https://device.example:8006/a/b?x=1").value();
    EXPECT_EQ(base.join("c").value().shown, "https://device.example:8006/a/c");
    EXPECT_EQ(base.join("/d").value().shown, "https://device.example:8006/d");
    EXPECT_EQ(base.join("http://other/").value().origin, "other:80");
    EXPECT_EQ(base.join("//other/x").value().origin, "other:443");
    EXPECT_FALSE(base.join("file:///etc/passwd"));
    EXPECT_FALSE(base.join("http://user:password@other/"));
}

}  // namespace
}  // namespace pollux::net
