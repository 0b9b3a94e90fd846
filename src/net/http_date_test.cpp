#include "net/http_date.hpp"

#include <gtest/gtest.h>

namespace pollux::net {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr base::WallTime kNow{784'111'777'000'000};  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(HttpDate, UnderstandsAllThreeForms) {
    EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kNow);
    EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kNow);
    EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), kNow);
    EXPECT_FALSE(parse_http_date("soon"));
    EXPECT_FALSE(parse_http_date("1994"));
    EXPECT_FALSE(parse_http_date(""));
    EXPECT_FALSE(parse_http_date(std::string(1000, ':')));
}

TEST(RetryAfter, UnderstandsSecondsAndDates) {
    EXPECT_EQ(parse_retry_after("120", kNow), seconds(120));
    EXPECT_EQ(parse_retry_after("0", kNow), seconds(0));
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kNow), seconds(60));
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", kNow), seconds(0));
}

TEST(RetryAfter, IsBounded) {
    EXPECT_EQ(parse_retry_after("999999999", kNow), hours(24));
    EXPECT_EQ(parse_retry_after("99999999999999999999999999", kNow), hours(24));
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 2094 08:50:37 GMT", kNow), hours(24));
    EXPECT_FALSE(parse_retry_after("", kNow));
    EXPECT_FALSE(parse_retry_after("-5", kNow));
    EXPECT_FALSE(parse_retry_after("5 minutes", kNow));
}

}  // namespace
}  // namespace pollux::net
