#include "extract/perfdata.hpp"

#include <gtest/gtest.h>

namespace pollux::extract {
namespace {

TEST(Perfdata, ReadsTheFirstLineOfAPlugin) {
    const auto out = parse_plugin_output(
        "PING OK - RTA = 0.80 ms|rta=0.800000ms;100.000000;500.000000;0.000000 pl=0%;20;60;0;100");
    EXPECT_EQ(out.text, "PING OK - RTA = 0.80 ms");
    EXPECT_EQ(out.long_text, "");
    ASSERT_EQ(out.values.size(), 2U);
    EXPECT_EQ(out.values[0],
              (PerfValue{"rta", 0.8, "ms", "100.000000", "500.000000", 0.0, std::nullopt}));
    EXPECT_EQ(out.values[1], (PerfValue{"pl", 0.0, "%", "20", "60", 0.0, 100.0}));
    EXPECT_EQ(out.unreadable, 0U);
}

TEST(Perfdata, ReadsLongTextAndWhatFollowsItsBar) {
    const auto out = parse_plugin_output(
        "DISK OK | /=2643MB;5948;5958;0;5968\n/ is fine\n/boot is fine | /boot=68MB;88;93;0;98\n"
        "'/var log'=818MB\n");
    EXPECT_EQ(out.text, "DISK OK");
    EXPECT_EQ(out.long_text, "/ is fine\n/boot is fine");
    ASSERT_EQ(out.values.size(), 3U);
    EXPECT_EQ(out.values[1].label, "/boot");
    EXPECT_EQ(out.values[2].label, "/var log");
    EXPECT_EQ(out.values[2].value, 818.0);
}

TEST(Perfdata, KnowsQuotesUnknownValuesAndRanges) {
    const auto out =
        parse_plugin_output("OK|'it''s'=1;@10:20;~:30 gone=U;;;0 neg=-1.5e3c .5=.5 five=5.s");
    ASSERT_EQ(out.values.size(), 5U);
    EXPECT_EQ(out.values[0].label, "it's");
    EXPECT_EQ(out.values[0].warning, "@10:20");
    EXPECT_EQ(out.values[0].critical, "~:30");
    EXPECT_EQ(out.values[1].value, std::nullopt);
    EXPECT_EQ(out.values[1].low, 0.0);
    EXPECT_EQ(out.values[2].value, -1500.0);
    EXPECT_EQ(out.values[2].unit, "c");
    EXPECT_EQ(out.values[3].value, 0.5);
    EXPECT_EQ(out.values[4].value, 5.0);
    EXPECT_EQ(out.values[4].unit, "s");
}

TEST(Perfdata, CountsWhatItCannotRead) {
    const auto out = parse_plugin_output("OK|word =5 a= b=x 'open=3 c=7");
    ASSERT_EQ(out.values.size(), 1U);
    EXPECT_EQ(out.values[0].label, "c");
    EXPECT_GE(out.unreadable, 4U);
    EXPECT_EQ(parse_plugin_output("").text, "");
    EXPECT_EQ(parse_plugin_output("|").values.size(), 0U);
    EXPECT_EQ(parse_plugin_output("ok|a=1 junk b=2").values.size(), 2U);
}

TEST(Perfdata, IsBounded) {
    std::string many = "OK|";
    for (int i = 0; i < 5000; ++i) many += "a=1 ";
    const auto out = parse_plugin_output(many);
    EXPECT_EQ(out.values.size(), kMaxPerfValues);
    EXPECT_EQ(out.unreadable, 4000U);
}

TEST(Perfdata, TakesColoursOutOfTheText) {
    EXPECT_EQ(parse_plugin_output("\x1b[32mOK\x1b[0m - fine|a=1").text, "OK - fine");
    EXPECT_EQ(parse_plugin_output("\xff|a=1").text, "\xEF\xBF\xBD");
}

TEST(Perfdata, MakesUnitsComparable) {
    EXPECT_EQ(base_unit("ms").unit, "seconds");
    EXPECT_DOUBLE_EQ(base_unit("ms").factor, 0.001);
    EXPECT_DOUBLE_EQ(base_unit("MB").factor, 1048576);
    EXPECT_EQ(base_unit("%").unit, "percent");
    EXPECT_EQ(base_unit("lux").unit, "lux");
}

TEST(Perfdata, TakesOddExitCodesForUnknown) {
    EXPECT_EQ(plugin_state(0), 0);
    EXPECT_EQ(plugin_state(2), 2);
    EXPECT_EQ(plugin_state(127), 3);
    EXPECT_EQ(plugin_state(-1), 3);
}

}  // namespace
}  // namespace pollux::extract
