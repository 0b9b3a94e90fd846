#include "api/http_credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "access/token.hpp"

namespace pollux::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

net::Request with(std::vector<net::HeaderField> headers) {
    net::Request request;
    request.headers = std::move(headers);
    return request;
}

TEST(HttpCredentials, FindsCookiesByTheirWholeName) {
    const auto values = [](std::vector<net::HeaderField> headers) {
        const net::Request request = with(std::move(headers));
        std::vector<std::string> found;
        for (const auto value : cookie_values(request, "pollux_session")) found.emplace_back(value);
        return found;
    };
    EXPECT_THAT(values({}), IsEmpty());
    EXPECT_THAT(values({{"Cookie", "pollux_session=abc"}}), ElementsAre("abc"));
    EXPECT_THAT(values({{"cookie", " a=b ;pollux_session = \"abc\" ; c"}}), ElementsAre("abc"));
    EXPECT_THAT(values({{"Cookie", "xpollux_session=a; pollux_session2=b; POLLUX_SESSION=c"}}),
                IsEmpty());
    EXPECT_THAT(values({{"Cookie", "pollux_session=a; pollux_session=b"}}), ElementsAre("a", "b"));
    EXPECT_THAT(values({{"Cookie", "pollux_session=a"}, {"Cookie", "pollux_session=b"}}),
                ElementsAre("a", "b"));
    EXPECT_THAT(values({{"Cookie", "pollux_session="}}), ElementsAre(""));
    EXPECT_THAT(values({{"Cookie", ";;=;pollux_session"}}), IsEmpty());
}

TEST(HttpCredentials, ReadsBearerTokens) {
    EXPECT_EQ(bearer_token("Bearer abc"), "abc");
    EXPECT_EQ(bearer_token("bearer   abc "), "abc");
    EXPECT_EQ(bearer_token("Bearer"), "");
    EXPECT_EQ(bearer_token("Bearer "), "");
    EXPECT_EQ(bearer_token("Basic abc"), std::nullopt);
    EXPECT_EQ(bearer_token("Bearerabc"), std::nullopt);
    EXPECT_EQ(bearer_token(""), std::nullopt);
}

TEST(HttpCredentials, ReadsBasicCredentials) {
    const auto read = [](std::string_view text) {
        const auto shown = basic_credentials(text);
        return shown ? shown->user + "|" + shown->password.reveal() : std::string("none");
    };
    EXPECT_EQ(read("Basic YWxpY2U6c2VjcmV0"), "alice|secret");
    EXPECT_EQ(read("basic  YWxpY2U6YTpi "), "alice|a:b") << "the first colon divides";
    EXPECT_EQ(read("Basic YTpi"), "a|b");
    EXPECT_EQ(read("Basic YTr/+w=="), "a|\xff\xfb") << "the plain alphabet, with padding";
    EXPECT_EQ(read("Basic !!!"), "|");
    EXPECT_EQ(read("Basic YWxpY2U="), "|") << "no colon";
    EXPECT_EQ(read("Basic"), "|");
    EXPECT_EQ(read("Bearer YTpi"), "none");
    EXPECT_EQ(read("BasicYTpi"), "none");
}

TEST(HttpCredentials, FindsTokensInUrls) {
    const std::string token =
        access::make_token(access::kTokenPrefix, access::RandomBytes{}).reveal();
    for (const std::string_view query :
         {"token=x", "TOKEN=", "a=b&api_token=1", "access_token=1", "api_key=1", "to%6ben=1"}) {
        EXPECT_TRUE(token_in_query(query, false)) << query;
    }
    EXPECT_TRUE(token_in_query("q=" + token, false));
    EXPECT_TRUE(token_in_query("q=%70lx" + token.substr(3), false));
    EXPECT_TRUE(token_in_query(token, false));
    EXPECT_FALSE(token_in_query("", false));
    EXPECT_FALSE(token_in_query("cursor=abc&limit=5", false));
    EXPECT_FALSE(token_in_query("token=" + token, true));
    EXPECT_TRUE(token_in_query("api_token=" + token, true));
    EXPECT_TRUE(token_in_query("token=x&q=" + token, true));
}

TEST(HttpCredentials, CookiesHaveTheirAttributes) {
    EXPECT_EQ(session_cookie(false, "abc", std::nullopt),
              "pollux_session=abc; Path=/; HttpOnly; SameSite=Lax");
    EXPECT_EQ(session_cookie(true, "abc", 720h),
              "__Host-pollux_session=abc; Path=/; HttpOnly; SameSite=Lax; Secure; "
              "Max-Age=2592000");
    EXPECT_THAT(session_cookie(true, "abc", std::nullopt), Not(HasSubstr("Domain")));
    EXPECT_EQ(no_session_cookie(false),
              "pollux_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
}

TEST(HttpCredentials, OnlyReadingMethodsAreSafe) {
    for (const char* safe : {"GET", "HEAD", "OPTIONS"}) EXPECT_FALSE(is_unsafe(safe));
    for (const char* other : {"POST", "PUT", "PATCH", "DELETE", "get", "TRACE", ""}) {
        EXPECT_TRUE(is_unsafe(other)) << other;
    }
}

}  // namespace
}  // namespace pollux::api
