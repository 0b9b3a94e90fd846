#include "config/capacity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Capacity of(const std::string& text, const Environment& environment = {}) {
    static const testing::Catalogue catalogue;
    const auto expanded = testing::expand_text(text, environment);
    return capacity(expanded.expansion, catalogue.lookup(), testing::settings(environment),
                    {.snmp_cpu_seconds = 1e-3,
                     .http_cpu_seconds = 2e-3,
                     .samples_per_poll = 10,
                     .bytes_per_sample = 5,
                     .bytes_per_task = 100,
                     .flushes_per_day = 1000});
}

TEST(Capacity, AddsUpWhatTheIntervalsAskFor) {
    const Capacity result =
        of("devices:\n"
           "  a: {interval: 10s, addons: [snmp-system, http-status]}\n"
           "  b: {interval: 20s, addons: [snmp-system]}\n"
           "  c: {interval: 1s, enabled: false, addons: [snmp-system]}\n"
           "classes: {snmp-system: {rate: 9}}\n");
    EXPECT_NEAR(result.polls_per_second, 0.25, 1e-9);
    EXPECT_EQ(result.tasks, 3U);
    EXPECT_EQ(result.disabled, 1U);
    EXPECT_EQ(result.devices, 3U);
    ASSERT_EQ(result.classes.size(), 2U);
    EXPECT_EQ(result.classes[1].name, "snmp-system");
    EXPECT_EQ(result.classes[1].tasks, 2U);
    EXPECT_NEAR(result.classes[1].polls_per_second, 0.15, 1e-9);
    EXPECT_EQ(result.classes[1].rate_limit, 9);
    EXPECT_NEAR(result.cpu_cores, 0.15 * 1e-3 + 0.1 * 2e-3, 1e-12);
    // Of the addons of the tests, one has two metrics and rows, the other none: one sample per
    // poll.
    EXPECT_NEAR(result.history_bytes_per_day, (0.15 * 2 * 10 + 0.1) * 86'400 * 5, 1e-6);
    // Above a thousand polls a day the number of flushes is what counts.
    EXPECT_NEAR(result.state_bytes_per_day, 3 * 1000 * 100, 1e-6);
    EXPECT_THAT(describe(result), HasSubstr("snmp-system"));
}

TEST(Capacity, HistoryOffCostsNoHistory) {
    EXPECT_EQ(
        of("devices: {a: {addons: [pve]}}", {{"POLLUX_HISTORY", "off"}}).history_bytes_per_day, 0);
}

TEST(Capacity, WarnsAndNamesTheSettings) {
    const std::string fleet =
        "devices:\n  a: {interval: 100ms, addons: [snmp-system]}\n"
        "  b: {interval: 100ms, addons: [http-status]}\n"
        "classes: {http-status: {rate: 4}}\n";
    document::Diagnostics diagnostics;
    check_capacity(of(fleet, {{"POLLUX_GLOBAL_RATE", "15"}}), diagnostics);
    EXPECT_EQ(diagnostics.warnings(), 2U);
    EXPECT_THAT(diagnostics.text(),
                HasSubstr("global_rate: warning: the intervals ask for 20.0 polls per second, but "
                          "at most 15 are allowed"));
    EXPECT_THAT(diagnostics.text(), HasSubstr("raise POLLUX_GLOBAL_RATE (globalRate in "
                                              "system.json) to at least 22"));
    EXPECT_THAT(diagnostics.text(),
                HasSubstr("classes.http-status.rate: warning: the intervals "
                          "ask for 10.0 polls per second, but the class allows 4"));
    document::Diagnostics quiet;
    check_capacity(of(fleet + "defaults: {enabled: false}"), quiet);
    EXPECT_THAT(quiet.text(), IsEmpty());
    document::Diagnostics none;
    check_capacity(of("devices: {a: {addons: [pve]}}"), none);
    EXPECT_THAT(none.text(), IsEmpty());
}

}  // namespace
}  // namespace pollux::config
