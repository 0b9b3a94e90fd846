#include "derive/derive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "derive/counter.hpp"

namespace pollux::derive {
namespace {

using model::Level;
using model::MetricType;
using model::Readings;
using model::Value;
using namespace std::chrono_literals;

enum : std::uint16_t { kLoad, kOctets, kState, kModel, kSpeed, kUse };

model::MetricDef metric(std::string name, MetricType type, bool per_row) {
    model::MetricDef out;
    out.name = std::move(name);
    out.type = type;
    out.per_row = per_row;
    return out;
}

model::Addon example() {
    model::Addon addon;
    addon.groups.emplace_back();
    addon.metrics = {
        metric("load", MetricType::kGauge, false),  metric("octets", MetricType::kCounter, true),
        metric("state", MetricType::kState, false), metric("model", MetricType::kText, false),
        metric("speed", MetricType::kGauge, true),  metric("use", MetricType::kGauge, true)};
    addon.metrics[kState].states = {"", "up", "down"};
    addon.metrics[kUse].ratio = model::RateRatio{kOctets, kSpeed, 800};
    addon.conditions.resize(2);
    addon.conditions[0].name = "high";
    addon.conditions[0].metric = kLoad;
    addon.conditions[0].trigger = 90;
    addon.conditions[0].clear = 80;
    addon.conditions[0].clear_comparison = model::Comparison::kBelow;
    addon.conditions[1].name = "down";
    addon.conditions[1].metric = kState;
    addon.conditions[1].comparison = model::Comparison::kEqual;
    addon.conditions[1].word = "down";
    addon.change = {{kSpeed, 10, 0}};
    model::link(addon);
    return addon;
}

base::Instant at(base::Duration since) {
    return {base::BootTime{} + 1h + since, base::WallTime{1'000'000'000} + since};
}

Readings gauge(double load) {
    Readings out;
    out.values.push_back({kLoad, 0, load});
    return out;
}

Readings octets(std::uint64_t raw, std::optional<std::uint64_t> ticks = {}) {
    Readings out;
    out.rows.emplace_back("eth0");
    out.values.push_back({kOctets, 1, raw});
    out.uptime_ticks = ticks;
    return out;
}

std::optional<double> sample(const TargetMemory& memory, const model::Observation& seen,
                             std::uint16_t metric, std::string_view row = "") {
    for (const model::Sample& one : seen.samples) {
        if (memory.series(one.slot).metric == metric && memory.series(one.slot).row == row) {
            return one.value;
        }
    }
    return std::nullopt;
}

Level level(const model::Observation& seen, std::uint16_t condition) {
    for (const auto& one : seen.conditions) {
        if (one.condition == condition) return one.level;
    }
    ADD_FAILURE() << "no level of condition " << condition;
    return Level::kUnknown;
}

TEST(Derive, ACounterBecomesARate) {
    const model::Addon addon = example();
    TargetMemory memory;
    auto seen = derive(addon, octets(1000), at(0s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), std::nullopt);
    EXPECT_EQ(seen.new_series, 3U);  // and the two conditions of the target
    seen = derive(addon, octets(7000), at(60s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 100.0);
    EXPECT_EQ(seen.new_series, 0U);
    EXPECT_EQ(memory.latest(memory.find(kOctets, "eth0")), 100.0);
}

TEST(Derive, AResetIsNoSample) {
    const model::Addon addon = example();
    TargetMemory memory;
    derive(addon, octets(1'000'000), at(0s), memory);
    derive(addon, octets(2'000'000), at(60s), memory);
    auto seen = derive(addon, octets(10), at(120s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), std::nullopt);
    seen = derive(addon, octets(610), at(180s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 10.0);
}

TEST(Derive, ARebootIsSeenByUptimeAndIsNoSample) {
    const model::Addon addon = example();
    TargetMemory memory;
    derive(addon, octets(1000, 500'000), at(0s), memory);
    // Higher than before, and still from another life.
    auto seen = derive(addon, octets(5000, 3000), at(60s), memory);
    EXPECT_TRUE(seen.restarted);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), std::nullopt);
    const auto digest = seen.digest;
    seen = derive(addon, octets(11000, 9000), at(120s), memory);
    EXPECT_FALSE(seen.restarted);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 100.0);
    EXPECT_EQ(seen.digest, digest) << "one reboot is one change";
}

TEST(Derive, UptimeThatGoesRoundIsNoReboot) {
    const model::Addon addon = example();
    TargetMemory memory;
    derive(addon, octets(0, 4'294'967'000), at(0s), memory);
    const auto seen = derive(addon, octets(600, 5704), at(60s), memory);
    EXPECT_FALSE(seen.restarted);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 10.0);
}

TEST(Derive, TheDevicesClockCountsIfItGoesRight) {
    const model::Addon addon = example();
    TargetMemory memory;
    derive(addon, octets(0, 10'000), at(0s), memory);
    auto seen = derive(addon, octets(6100, 16'100), at(60s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 100.0);
    // An agent whose clock stands still.
    seen = derive(addon, octets(12100, 16'200), at(120s), memory);
    EXPECT_EQ(sample(memory, seen, kOctets, "eth0"), 100.0);
}

TEST(Derive, LevelsHaveHysteresisAndNoValueIsUnknown) {
    const model::Addon addon = example();
    TargetMemory memory;
    const auto step = [&](double load, base::Duration when) {
        return derive(addon, gauge(load), at(when), memory);
    };
    EXPECT_EQ(level(step(85, 0s), 0), Level::kBetween);
    const std::uint32_t slot = memory.find(kLoad, "");
    EXPECT_FALSE(memory.active(slot, 0));
    EXPECT_EQ(level(step(90, 10s), 0), Level::kBetween);
    auto seen = step(90.1, 20s);
    EXPECT_EQ(level(seen, 0), Level::kTriggered);
    EXPECT_TRUE(seen.conditions.front().active);
    const auto digest = seen.digest;
    seen = step(85, 30s);
    EXPECT_EQ(level(seen, 0), Level::kBetween);
    EXPECT_TRUE(memory.active(slot, 0));
    EXPECT_EQ(seen.digest, digest) << "between keeps the level";
    EXPECT_EQ(level(step(80, 40s), 0), Level::kBetween);
    seen = step(79, 50s);
    EXPECT_EQ(level(seen, 0), Level::kClear);
    EXPECT_NE(seen.digest, digest);
    seen = derive(addon, Readings{}, at(60s), memory);
    EXPECT_EQ(level(seen, 0), Level::kUnknown);
    EXPECT_EQ(memory.latest(slot), std::nullopt);
}

TEST(Derive, WordsOfStatesDecideConditions) {
    const model::Addon addon = example();
    TargetMemory memory;
    Readings readings;
    readings.values.push_back({kState, 0, std::int64_t{2}});
    auto seen = derive(addon, readings, at(0s), memory);
    EXPECT_EQ(level(seen, 1), Level::kTriggered);
    EXPECT_EQ(memory.latest_text(memory.find(kState, "")), "down");
    const auto digest = seen.digest;
    readings.values[0].value = std::int64_t{1};
    seen = derive(addon, readings, at(1s), memory);
    EXPECT_EQ(level(seen, 1), Level::kClear);
    EXPECT_NE(seen.digest, digest);
    readings.values[0].value = std::string("testing");
    seen = derive(addon, readings, at(2s), memory);
    EXPECT_EQ(level(seen, 1), Level::kClear);
    EXPECT_TRUE(seen.samples.empty());
    readings.values[0].value = std::string("down");
    EXPECT_EQ(level(derive(addon, readings, at(3s), memory), 1), Level::kTriggered);
}

TEST(Derive, TheDigestCountsMeaningOnly) {
    const model::Addon addon = example();
    TargetMemory memory;
    const auto poll = [&](double load, double speed, std::string model, base::Duration when) {
        Readings readings = octets(static_cast<std::uint64_t>(when.count()));
        readings.values.push_back({kLoad, 0, load});
        readings.values.push_back({kSpeed, 1, speed});
        readings.values.push_back({kModel, 0, std::move(model)});
        return derive(addon, readings, at(when), memory).digest;
    };
    poll(1, 100, "x", 0s);
    const auto digest = poll(1, 100, "x", 10s);
    EXPECT_EQ(poll(50, 100, "x", 20s), digest) << "gauges and counters never count";
    EXPECT_EQ(poll(50, 109, "x", 30s), digest) << "within the tolerance";
    EXPECT_EQ(poll(50, 92, "x", 40s), digest) << "measured from what last counted";
    const auto moved = poll(50, 111, "x", 50s);
    EXPECT_NE(moved, digest);
    EXPECT_EQ(poll(50, 102, "x", 60s), moved);
    EXPECT_NE(poll(50, 102, "y", 70s), moved) << "texts count";
}

TEST(Derive, TheDigestDoesNotDependOnTheOrderOfRows) {
    const model::Addon addon = example();
    const auto digest = [&](std::vector<std::string> names) {
        TargetMemory memory;
        Readings readings;
        for (const std::string& name : names) {
            readings.rows.push_back(name);
            const auto row = static_cast<std::uint32_t>(readings.rows.size() - 1);
            readings.values.push_back({kSpeed, row, static_cast<double>(name.back())});
        }
        return derive(addon, readings, at(0s), memory).digest;
    };
    EXPECT_EQ(digest({"a1", "b2", "c3"}), digest({"c3", "a1", "b2"}));
    EXPECT_NE(digest({"a1", "b2", "c3"}), digest({"a1", "b2"}));
    EXPECT_NE(digest({"a1"}), digest({"b1"}));
    EXPECT_EQ(digest({"a1"}), 17997084273764447866U) << "the same on every machine";
}

TEST(Derive, ARatioComesFromRateAndValueOfTheRow) {
    const model::Addon addon = example();
    TargetMemory memory;
    const auto poll = [&](std::uint64_t raw, base::Duration when) {
        Readings readings = octets(raw);
        readings.values.push_back({kSpeed, 1, 1e6});
        return derive(addon, readings, at(when), memory);
    };
    EXPECT_EQ(sample(memory, poll(0, 0s), kUse, "eth0"), std::nullopt);
    EXPECT_EQ(sample(memory, poll(625'000, 10s), kUse, "eth0"), 50.0);
    EXPECT_EQ(memory.series(memory.find(kUse, "eth0")).metric, kUse);
}

TEST(Derive, SeriesAreBoundedForgottenAndRenumbered) {
    const model::Addon addon = example();
    TargetMemory memory(4);  // two are the conditions of the target
    const auto poll = [&](std::string row, base::Duration when) {
        Readings readings;
        readings.rows.push_back(std::move(row));
        readings.values.push_back({kSpeed, 1, 1.0});
        return derive(addon, readings, at(when), memory);
    };
    poll("a", 0s);
    poll("b", 1s);
    EXPECT_EQ(poll("c", 2s).dropped, 1U) << "full";
    EXPECT_EQ(memory.size(), 4U);
    poll("b", 25h);
    EXPECT_EQ(memory.find(kSpeed, "a"), TargetMemory::kNone) << "not seen for a day";
    EXPECT_FALSE(memory.alive(0));
    const auto seen = poll("c", 25h + 1s);
    EXPECT_TRUE(seen.renumbered);
    EXPECT_EQ(seen.new_series, memory.size());
    EXPECT_NE(memory.find(kSpeed, "c"), TargetMemory::kNone);
    EXPECT_EQ(memory.size(), 4U);
}

TEST(TargetMemory, SurvivesARestartOfTheMachine) {
    const model::Addon addon = example();
    TargetMemory memory;
    Readings readings = octets(1000, 5000);
    readings.values.push_back({kLoad, 0, 95.0});
    readings.values.push_back({kModel, 0, std::string("x")});
    readings.values.push_back({kSpeed, 1, 100.0});
    derive(addon, readings, at(0s), memory);
    base::ByteWriter out;
    memory.encode(out);

    // Boot time starts anew; the wall clock tells how long it was.
    const base::Instant now{base::BootTime{} + 5s, at(0s).wall + 50s};
    auto restored = TargetMemory::decode(out.view(), now);
    ASSERT_TRUE(restored.has_value()) << restored.error().message;
    EXPECT_EQ(restored->size(), memory.size());
    EXPECT_TRUE(restored->active(restored->find(kLoad, ""), 0));
    EXPECT_EQ(restored->latest_text(restored->find(kModel, "")), "x");
    readings.values[0].value = std::uint64_t{7000};
    readings.values[1].value = 85.0;
    readings.values[3].value = 105.0;
    readings.uptime_ticks = 11'000;
    const auto original = derive(addon, readings, at(60s), memory);
    const auto seen = derive(addon, readings, {now.boot + 10s, now.wall + 10s}, *restored);
    EXPECT_EQ(sample(*restored, seen, kOctets, "eth0"), 100.0);
    EXPECT_EQ(seen.digest, original.digest);
    base::ByteWriter again;
    TargetMemory::decode(out.view(), at(0s))->encode(again);
    EXPECT_EQ(again.view(), out.view());
}

TEST(TargetMemory, RefusesDamagedBytes) {
    const model::Addon addon = example();
    TargetMemory memory;
    derive(addon, octets(1000, 5000), at(0s), memory);
    base::ByteWriter out;
    memory.encode(out);
    const std::string good(out.view());
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_FALSE(TargetMemory::decode(good.substr(0, length), at(0s)).has_value()) << length;
    }
    EXPECT_FALSE(TargetMemory::decode(good + "x", at(0s)).has_value());
    EXPECT_FALSE(TargetMemory::decode(good, at(0s), 1).has_value());
    std::string other = good;
    other[0] = 9;
    const auto refused = TargetMemory::decode(other, at(0s));
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("unknown version 9"));
}

TEST(Counter, BelievesAWrapOnlyWhereItIsPlausible) {
    const auto step = [](std::uint64_t before, std::uint64_t after, std::uint8_t bits,
                         std::optional<double> rate = {}, bool wide = false) {
        return counter_difference({before, after, 60, bits, wide, rate});
    };
    EXPECT_EQ(step(10, 30, 0), 20U);
    EXPECT_EQ(step(4'294'967'290, 10, 32), 16U);
    EXPECT_EQ(step(4'294'967'290, 10, 0), 16U);
    EXPECT_EQ(step(3'000'000'000, 10, 32), std::nullopt) << "a reset, or far too fast";
    EXPECT_EQ(step(3'000'000'000, 10, 32, 20e6), 1'294'967'306U) << "as fast as before";
    EXPECT_EQ(step(1'000'000, 10, 32), std::nullopt);
    EXPECT_EQ(step(4'294'967'290, 10, 0, {}, true), std::nullopt) << "a wide counter was reset";
    EXPECT_EQ(step(18'446'744'073'709'551'615ULL, 9, 64), 10U);
    EXPECT_EQ(step(1ULL << 63U, 5, 64), std::nullopt);
    EXPECT_EQ(step(1ULL << 40U, 5, 32), std::nullopt) << "no counter of 32 bits";
}

TEST(Derive, OddValuesAreDropped) {
    const model::Addon addon = example();
    TargetMemory memory;
    Readings readings = octets(0);
    readings.values[0].value = std::int64_t{-5};
    EXPECT_EQ(derive(addon, readings, at(0s), memory).dropped, 1U);
    readings.values[0].value = std::string("many");
    EXPECT_EQ(derive(addon, readings, at(1s), memory).dropped, 1U);
    readings.values[0].value = 12.0;
    EXPECT_EQ(derive(addon, readings, at(2s), memory).dropped, 0U);
    readings.dropped = 3;
    EXPECT_EQ(derive(addon, readings, at(2s), memory).dropped, 3U) << "no time went by";
}

}  // namespace
}  // namespace pollux::derive
