#include "api/paging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using testing::HasSubstr;

class PagingTest : public testing::Test {
  protected:
    std::expected<Page, Problem> page(const std::string& query) {
        Call call(nullptr, {}, net::Responder(nullptr, 0));
        call.request.path = "/api/things";
        call.query = Query::read(route, query).value();
        return Page::read(call);
    }
    Route route{.method = "GET",
                .path = "/api/things",
                .query = {limit_parameter(), cursor_parameter(), {.name = "a"}, {.name = "b"}}};
};

TEST_F(PagingTest, GoesFromPageToPage) {
    const Page first = page("a=1&b=2").value();
    EXPECT_EQ(first.limit, 100U);
    EXPECT_EQ(first.after, "");
    const std::string cursor = first.cursor_after("pve::nöde/1");
    EXPECT_EQ(cursor.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_"),
              std::string::npos);
    const Page second = page("b=2&limit=7&a=1&cursor=" + cursor).value();
    EXPECT_EQ(second.after, "pve::nöde/1");
    EXPECT_EQ(second.limit, 7U);
}

TEST_F(PagingTest, RefusesForeignAndBrokenCursors) {
    const std::string cursor = page("a=1").value().cursor_after("x");
    EXPECT_THAT(page("a=2&cursor=" + cursor).error().detail, HasSubstr("another filter"));
    EXPECT_THAT(page("cursor=" + cursor).error().detail, HasSubstr("another filter"));
    for (const std::string& broken :
         {std::string("!"), std::string("AA"), cursor.substr(1), cursor + "AAAA", std::string()}) {
        const auto refused = page("a=1&cursor=" + broken);
        ASSERT_FALSE(refused) << broken;
        EXPECT_EQ(refused.error().status, 400);
    }
    std::string other = from_base64url(cursor).value();
    other[0] = 2;  // a version that is not known
    EXPECT_FALSE(page("a=1&cursor=" + base64url(other)));
}

TEST_F(PagingTest, WritesNextOnlyWhereThereIsMore) {
    std::string out;
    document::JsonWriter json(out);
    const Page first = page("").value();
    json.object();
    first.write_next(json, false, "x");
    EXPECT_EQ(out, "{");
    first.write_next(json, true, "x");
    EXPECT_EQ(out, "{\"next\":\"" + first.cursor_after("x") + "\"");
}

TEST(Base64Url, RoundTripsAndHasOneFormPerValue) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(from_base64url(base64url(bytes)), bytes);
        bytes += static_cast<char>(i * 7);
    }
    EXPECT_EQ(base64url("\xfb\xff"), "-_8");
    EXPECT_FALSE(from_base64url("-_9"));
    EXPECT_FALSE(from_base64url("A"));
    EXPECT_FALSE(from_base64url("+/8"));
}

TEST(TextMatches, FindsPartsAndPatterns) {
    EXPECT_TRUE(text_matches("pve::Node1", "node"));
    EXPECT_TRUE(text_matches("pve::Node1", ""));
    EXPECT_FALSE(text_matches("pve::Node1", "node2"));
    EXPECT_TRUE(text_matches("pve::Node1", "PVE::*"));
    EXPECT_TRUE(text_matches("pve::Node1", "*::*1"));
    EXPECT_FALSE(text_matches("pve::Node1", "ode*"));
    EXPECT_TRUE(text_matches("", "*"));
    EXPECT_TRUE(text_matches("aab", "*ab"));
}

}  // namespace
}  // namespace pollux::api
