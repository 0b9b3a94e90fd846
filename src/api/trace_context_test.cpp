#include "api/trace_context.hpp"

#include <gtest/gtest.h>

namespace pollux::api {
namespace {

constexpr const char* kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, IsContinuedWithASpanOfOurs) {
    const auto context = parse_traceparent(kGood);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(context->parent_id, "00f067aa0ba902b7");
    EXPECT_TRUE(context->sampled);
    EXPECT_EQ(traceparent(*context, 0xabc),
              "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000abc-01");
}

TEST(TraceContext, IgnoresWhatIsMalformed) {
    const std::string good = kGood;
    EXPECT_FALSE(parse_traceparent(""));
    EXPECT_FALSE(parse_traceparent(good + "-x"));
    EXPECT_FALSE(parse_traceparent(good.substr(1)));
    EXPECT_FALSE(parse_traceparent("ff" + good.substr(2)));
    EXPECT_FALSE(parse_traceparent("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"));
    EXPECT_FALSE(parse_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
    EXPECT_FALSE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
    EXPECT_TRUE(parse_traceparent("01" + good.substr(2) + "-later"));
    EXPECT_FALSE(parse_traceparent("01" + good.substr(2) + "later"));
}

}  // namespace
}  // namespace pollux::api
