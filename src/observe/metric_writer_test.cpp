#include "observe/metric_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "observe/histogram.hpp"

namespace pollux::observe {
namespace {

TEST(MetricWriter, WritesAFamilyAndItsSamples) {
    std::string out;
    MetricWriter writer(out);
    writer.family(MetricId::kPollTotal);
    writer.sample({"pve", "node\"1\"\\\n", "success"}, 3);
    writer.family(MetricId::kPollQueueDepth);
    writer.sample({}, 0.5);
    EXPECT_EQ(out,
              "# HELP pulse_monitor_poll_total Polls that ended, by result (success, error).\n"
              "# TYPE pulse_monitor_poll_total counter\n"
              "pulse_monitor_poll_total{instance_type=\"pve\",instance=\"node\\\"1\\\"\\\\\\n\","
              "result=\"success\"} 3\n"
              "# HELP pulse_monitor_poll_queue_depth Tasks that wait for their time or their "
              "turn.\n"
              "# TYPE pulse_monitor_poll_queue_depth gauge\n"
              "pulse_monitor_poll_queue_depth 0.5\n");
}

TEST(MetricWriter, WritesHistogramsCumulatively) {
    Histogram<kPollDurationBounds> histogram;
    for (const double value : {0.05, 0.1, 0.11, 7.0, 31.0}) histogram.record(value);
    std::string out;
    MetricWriter writer(out);
    writer.family(MetricId::kPollDuration);
    writer.histogram({"pve", "a"}, kPollDurationBounds, histogram.counts(), histogram.sum());
    EXPECT_THAT(out, testing::HasSubstr("_bucket{instance_type=\"pve\",instance=\"a\",le=\"0.1\"} "
                                        "2\n"));
    EXPECT_THAT(out, testing::HasSubstr(",le=\"0.25\"} 3\n"));
    EXPECT_THAT(out, testing::HasSubstr(",le=\"10\"} 4\n"));
    EXPECT_THAT(out, testing::HasSubstr(",le=\"30\"} 4\n"));
    EXPECT_THAT(out, testing::HasSubstr(",le=\"+Inf\"} 5\n"));
    EXPECT_THAT(out, testing::HasSubstr("_count{instance_type=\"pve\",instance=\"a\"} 5\n"));
    EXPECT_THAT(out, testing::HasSubstr("_sum{instance_type=\"pve\",instance=\"a\"} 38.26"));
    EXPECT_EQ(histogram.quantile(0.5), 0.25);
    EXPECT_EQ(histogram.quantile(1.0), 30.0);
}

TEST(MetricWriter, WritesNumbersThatReadBack) {
    const auto text = [](double value) {
        std::string out;
        append_number(out, value);
        return out;
    };
    EXPECT_EQ(text(1.0 / 3), "0.3333333333333333");
    EXPECT_EQ(text(1e300), "1e+300");
    EXPECT_EQ(text(1'700'000'000), "1700000000");
    EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "NaN");
    EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(MetricWriter, MakesNames) {
    EXPECT_EQ(metric_name("pollux_device", "if-in octets", "bytes"),
              "pollux_device_if_in_octets_bytes");
    EXPECT_EQ(metric_name("a", "b", ""), "a_b");
}

TEST(MetricCatalog, HasEachNameOnceWithAUnitWhereItCounts) {
    std::set<std::string_view> names;
    for (const MetricFamily& family : metric_catalog()) {
        EXPECT_TRUE(names.insert(family.name).second) << family.name;
        EXPECT_FALSE(family.help.empty()) << family.name;
        const bool total = family.name.ends_with("_total");
        EXPECT_EQ(total, family.type == MetricType::kCounter) << family.name;
        EXPECT_THAT(metric_reference(), testing::HasSubstr("`" + std::string(family.name) + "`"));
    }
    EXPECT_EQ(catalog_entry(MetricId::kProcessStart).name, "process_start_time_seconds");
}

TEST(MetricCatalog, TheReferencePageIsCurrent) {
    std::ifstream file("docs/metrics-reference.md");
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), metric_reference())
        << "write it again: pollux metrics reference > docs/metrics-reference.md";
}

}  // namespace
}  // namespace pollux::observe
