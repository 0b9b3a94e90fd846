#include "model/oid.hpp"

#include <gtest/gtest.h>

namespace pollux::model {
namespace {

TEST(Oid, IsReadAndWritten) {
    for (const std::string text : {"1.3.6.1.2.1.1.3.0", "0.0", "2.4294967295", "1.39.4294967295"}) {
        const auto oid = parse_oid(text);
        ASSERT_TRUE(oid) << text;
        EXPECT_EQ(to_string(*oid), text);
        EXPECT_EQ(parse_oid("." + text), oid);
    }
}

TEST(Oid, RefusesWhatIsNone) {
    for (const std::string text : {"", ".", "1", "1.", "1..3", "..1.3", "1.3.x", "3.1", "1.40",
                                   "1.3.4294967296", "1.3.-1", " 1.3", "1.3 "}) {
        EXPECT_FALSE(parse_oid(text)) << text;
    }
    std::string longest = "1.3";
    for (std::size_t i = 2; i < kMaxOidArcs; ++i) longest += ".1";
    EXPECT_TRUE(parse_oid(longest));
    EXPECT_FALSE(parse_oid(longest + ".1"));
}

TEST(Oid, ComparesArcByArc) {
    const Oid table = *parse_oid("1.3.6.1.2.1.2");
    EXPECT_TRUE(parse_oid("1.3.6.1.2.1.2.2.1")->starts_with(table));
    EXPECT_FALSE(parse_oid("1.3.6.1.2.1.25")->starts_with(table));
    EXPECT_LT(*parse_oid("1.3.9"), *parse_oid("1.3.10"));
    EXPECT_LT(table, *parse_oid("1.3.6.1.2.1.2.0"));
}

}  // namespace
}  // namespace pollux::model
