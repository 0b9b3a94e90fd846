#include "net/http_redirect.hpp"

#include <gtest/gtest.h>

namespace pollux::net {
namespace {

using model::HttpMethod;

HttpUrl url(std::string_view text) { return HttpUrl::parse(text).value(); }

TEST(HttpRedirect, KnowsWhichStatusLeadsOn) {
    for (const int status : {301, 302, 303, 307, 308}) EXPECT_TRUE(is_redirect(status));
    for (const int status : {200, 300, 304, 305, 306, 400}) EXPECT_FALSE(is_redirect(status));
}

TEST(HttpRedirect, ChoosesTheNextMethod) {
    EXPECT_EQ(next_request(302, HttpMethod::kPost).method, HttpMethod::kGet);
    EXPECT_FALSE(next_request(302, HttpMethod::kPost).keeps_body);
    EXPECT_EQ(next_request(303, HttpMethod::kPut).method, HttpMethod::kGet);
    EXPECT_EQ(next_request(301, HttpMethod::kPut).method, HttpMethod::kPut);
    EXPECT_EQ(next_request(303, HttpMethod::kHead).method, HttpMethod::kHead);
    EXPECT_EQ(next_request(307, HttpMethod::kPost).method, HttpMethod::kPost);
    EXPECT_TRUE(next_request(308, HttpMethod::kPost).keeps_body);
    EXPECT_EQ(next_request(302, HttpMethod::kGet).method, HttpMethod::kGet);
}

TEST(HttpRedirect, CredentialsStayWithTheirOrigin) {
    const HttpUrl home = url("http://device.example/a");
    EXPECT_TRUE(same_origin(home, url("http://Device.Example:80/b")));
    EXPECT_TRUE(same_origin(home, url("https://device.example/")));
    EXPECT_FALSE(same_origin(home, url("http://device.example:8080/")));
    EXPECT_FALSE(same_origin(home, url("https://device.example:8443/")));
    EXPECT_FALSE(same_origin(home, url("http://device.example.evil.example/")));
    EXPECT_FALSE(same_origin(url("https://device.example/"), home));
    EXPECT_FALSE(same_origin(url("http://[fe80::1%25lo]/"), url("http://[fe80::1%2577]/")));
}

}  // namespace
}  // namespace pollux::net
