// Round trips of the history's codecs, with ordinary and with hostile input.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "store/history/block_key.hpp"
#include "store/history/codec_test_support.hpp"
#include "store/history/journal_codec.hpp"
#include "store/history/open_blocks.hpp"
#include "store/history/rollup_block.hpp"
#include "store/history/sample_block.hpp"

namespace pollux::store {
namespace {

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string encoded(std::uint32_t window, const std::vector<TimedValue>& samples) {
    SampleBlock block(window);
    for (const auto& sample : samples) block.append(sample.at_ms, sample.value);
    return block.bytes();
}

void expect_round_trip(std::uint32_t window, const std::vector<TimedValue>& samples) {
    const std::string bytes = encoded(window, samples);
    std::vector<TimedValue> back;
    ASSERT_TRUE(SampleBlock::decode(window, bytes, back));
    ASSERT_EQ(back.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        ASSERT_EQ(back[i].at_ms, samples[i].at_ms) << i;
        ASSERT_TRUE(same_bits(back[i].value, samples[i].value)) << i << " " << samples[i].value;
    }
}

TEST(SampleBlock, AwkwardValuesComeBackBitByBit) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        base::TestRandom random(seed);
        std::vector<TimedValue> samples;
        std::int64_t at = 1000 * kWindowMs;
        for (std::uint64_t i = random.below(200); i > 0; --i) {
            at += 60'000 + static_cast<std::int64_t>(random.below(50));
            samples.push_back({at, awkward_value(random)});
        }
        expect_round_trip(1000, samples);
        if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
}

TEST(SampleBlock, TimesMayJumpGoBackAndStandStill) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    expect_round_trip(0, {{0, 1}, {kMax, 1}, {kMin, 1}, {0, 1}, {-1, 2}, {kMin, 3}, {kMax, 4}});
    expect_round_trip(5, {{7, 1}, {7, 1}, {7, 2}, {6, 3}, {5, 3}, {1'000'000'000'000, 0}});
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        base::TestRandom random(seed);
        std::vector<TimedValue> samples;
        std::int64_t at = 0;
        for (int i = 0; i < 100; ++i) {
            const auto size = 1ULL << random.below(50);
            at +=
                static_cast<std::int64_t>(random.below(size)) - static_cast<std::int64_t>(size / 2);
            samples.push_back({at, static_cast<double>(i % 3)});
        }
        expect_round_trip(0, samples);
    }
}

TEST(SampleBlock, EmptyAndSingle) {
    expect_round_trip(3, {});
    expect_round_trip(3, {{3 * kWindowMs, 0.0}});
    EXPECT_EQ(encoded(3, {{3 * kWindowMs, 0.0}}).size(), 3u);
}

TEST(SampleBlock, GoesOnWhereAStoredOneEnded) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        base::TestRandom random(seed);
        SampleBlock whole(7);
        SampleBlock resumed(7);
        std::int64_t at = 7 * kWindowMs;
        for (int i = 0; i < 60; ++i) {
            if (random.one_in(4)) {
                auto again = SampleBlock::resume(7, resumed.bytes());
                ASSERT_TRUE(again);
                resumed = std::move(*again);
            }
            at += static_cast<std::int64_t>(random.below(100'000));
            const double value = awkward_value(random);
            whole.append(at, value);
            resumed.append(at, value);
        }
        ASSERT_EQ(whole.bytes(), resumed.bytes()) << seed;
        ASSERT_EQ(whole.count(), resumed.count());
    }
}

TEST(SampleBlock, DamagedBytesNeverDoHarm) {
    base::TestRandom random(1);
    std::vector<TimedValue> samples;
    for (int i = 0; i < 100; ++i) samples.push_back({i * 60'000LL, awkward_value(random)});
    const std::string bytes = encoded(0, samples);
    std::vector<TimedValue> back;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(SampleBlock::decode(0, std::string_view(bytes).substr(0, length), back));
    }
    EXPECT_FALSE(SampleBlock::decode(0, bytes + "x", back));
    for (int round = 0; round < 3000; ++round) {
        std::string changed = bytes;
        for (std::uint64_t n = random.below(4) + 1; n > 0; --n) {
            changed[random.below(changed.size())] = static_cast<char>(random.next());
        }
        back.clear();
        static_cast<void>(SampleBlock::decode(0, changed, back));
        ASSERT_LE(back.size(), changed.size() * 4);
        static_cast<void>(SampleBlock::resume(0, changed));
    }
}

// A block on disk must be readable by every later build: these bytes never change for version 1.
TEST(SampleBlock, KnownBytes) {
    const std::string bytes = encoded(1, {{kWindowMs + 500, 21.5},
                                          {kWindowMs + 60'500, 21.5},
                                          {kWindowMs + 120'507, 22},
                                          {kWindowMs + 180'500, 0.1 + 0.2}});
    std::string hex;
    for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    EXPECT_EQ(hex, "0104df46381aef00e86c21d2a37e0f9ff94ccccccccccd");
}

TEST(Rounding, KeepsSevenDigitsAndSpecialValues) {
    base::TestRandom random(5);
    for (int i = 0; i < 10'000; ++i) {
        const double value =
            random.between(-1, 1) * std::ldexp(1.0, static_cast<int>(random.below(200)) - 100);
        const double rounded = rounded_to_24_bits(value);
        ASSERT_LE(std::abs(rounded - value), std::abs(value) * 6e-8);
        ASSERT_TRUE(same_bits(rounded_to_24_bits(rounded), rounded));
    }
    using Limits = std::numeric_limits<double>;
    EXPECT_TRUE(std::isnan(rounded_to_24_bits(Limits::quiet_NaN())));
    EXPECT_EQ(rounded_to_24_bits(Limits::infinity()), Limits::infinity());
    EXPECT_EQ(rounded_to_24_bits(Limits::max()), Limits::max());
    EXPECT_TRUE(same_bits(rounded_to_24_bits(-0.0), -0.0));
}

TEST(Journal, RoundTripAndDamage) {
    base::TestRandom random(3);
    std::vector<JournalSample> samples;
    for (int i = 0; i < 500; ++i) {
        samples.push_back({static_cast<std::int64_t>(random.below(1'000'000)),
                           static_cast<std::int64_t>(random.next()), awkward_value(random)});
    }
    const std::string bytes = encode_journal(samples);
    const auto back = decode_journal(bytes);
    ASSERT_TRUE(back);
    ASSERT_EQ(back->size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        ASSERT_EQ(back->at(i).series, samples[i].series);
        ASSERT_EQ(back->at(i).at_ms, samples[i].at_ms);
        ASSERT_TRUE(same_bits(back->at(i).value, samples[i].value));
    }
    for (std::size_t length = 0; length < bytes.size(); length += 7) {
        EXPECT_FALSE(decode_journal(std::string_view(bytes).substr(0, length)));
    }
    for (int round = 0; round < 5000; ++round) {
        std::string changed = bytes;
        changed[random.below(changed.size())] = static_cast<char>(random.next());
        static_cast<void>(decode_journal(changed));
    }
    EXPECT_TRUE(decode_journal(encode_journal({}))->empty());
}

HistoryPoint point(std::int64_t at_ms, std::uint32_t count, double min, double max, double sum,
                   double last) {
    return {base::WallTime{at_ms * 1000}, count, min, max, sum, last};
}

TEST(Rollups, SumUpKeepsTheFiveFacts) {
    const auto points = as_points({{60'000, 4}, {1000, 3}, {2000, -1}, {59'999, 2}, {61'000, 6}});
    const auto minutes = sum_up(points, kMinuteMs);
    ASSERT_EQ(minutes.size(), 2u);
    EXPECT_EQ(minutes[0], point(0, 3, -1, 3, 4, 2));
    EXPECT_EQ(minutes[1], point(60'000, 2, 4, 6, 10, 6));
    const auto hours = sum_up(minutes, kHourMs);
    ASSERT_EQ(hours.size(), 1u);
    EXPECT_EQ(hours[0], point(0, 5, -1, 6, 14, 6));
}

TEST(Rollups, WhatIsNoNumberCountsForNothing) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto points = as_points({{0, nan}, {1000, 5}, {2000, nan}, {60'000, nan}});
    EXPECT_EQ(points.size(), 4u);
    const auto minutes = sum_up(points, kMinuteMs);
    ASSERT_EQ(minutes.size(), 1u);
    EXPECT_EQ(minutes[0], point(0, 1, 5, 5, 5, 5));
}

TEST(Rollups, OneValuePerMillisecondTheLastOne) {
    EXPECT_EQ(as_points({{5, 1}, {5, 2}, {4, 9}}),
              (std::vector{point(4, 1, 9, 9, 9, 9), point(5, 1, 2, 2, 2, 2)}));
}

TEST(Rollups, ADayRoundTrip) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        base::TestRandom random(seed);
        const bool hours = random.one_in(2);
        const std::int64_t length = hours ? kHourMs : kMinuteMs;
        std::vector<HistoryPoint> points;
        for (std::int64_t bucket = 0; bucket < kDayMs / length; ++bucket) {
            if (random.one_in(3)) continue;
            const auto count =
                static_cast<std::uint32_t>(random.one_in(2) ? 1 : random.below(99) + 1);
            const double value = awkward_value(random);
            if (std::isnan(value)) continue;
            points.push_back(
                count == 1 ? point(20'000 * kDayMs + bucket * length, 1, value, value, value, value)
                           : point(20'000 * kDayMs + bucket * length, count, value - 1, value + 1,
                                   value * count, value));
        }
        const auto bytes = encode_rollups(20'000, length, points);
        std::vector<HistoryPoint> back;
        ASSERT_TRUE(decode_rollups(20'000, length, bytes, back));
        ASSERT_EQ(back.size(), points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            ASSERT_EQ(back[i].at, points[i].at) << seed;
            ASSERT_EQ(back[i].count, points[i].count);
            ASSERT_TRUE(same_bits(back[i].sum, points[i].sum));
            ASSERT_TRUE(same_bits(back[i].min, points[i].min));
            ASSERT_TRUE(same_bits(back[i].max, points[i].max));
            ASSERT_TRUE(same_bits(back[i].last, points[i].last));
        }
        for (int round = 0; round < 200 && !bytes.empty(); ++round) {
            std::string changed = bytes;
            changed[random.below(changed.size())] = static_cast<char>(random.next());
            back.clear();
            static_cast<void>(decode_rollups(20'000, length, changed, back));
            ASSERT_LE(back.size(), 1440u);
        }
    }
}

TEST(BlockKey, IsOneNumberInTheRightOrder) {
    const BlockKey key{3, HistoryTier::kHour, kMostWindows - 1, kMostSeries - 1, kMostParts - 1};
    EXPECT_EQ(key.number(), INT64_MAX - (1LL << 59));
    for (const BlockKey& one : {key, BlockKey{}, BlockKey{1, HistoryTier::kMinute, 77, 12345, 6}}) {
        const BlockKey back = BlockKey::of(one.number());
        EXPECT_EQ(back.retention, one.retention);
        EXPECT_EQ(back.tier, one.tier);
        EXPECT_EQ(back.window, one.window);
        EXPECT_EQ(back.series, one.series);
        EXPECT_EQ(back.part, one.part);
    }
    EXPECT_EQ(BlockKey::window_end(1, HistoryTier::kRaw, 7),
              (BlockKey{1, HistoryTier::kRaw, 8, 0, 0}.number()));
}

TEST(OpenBlocks, ClosesFullAndPastBlocksAndLosesNothing) {
    OpenBlocks blocks;
    EXPECT_FALSE(blocks.append(5, 0, 1));
    blocks.define(5, SeriesType::kGauge, 2);
    blocks.define(700, SeriesType::kRate, 0);
    EXPECT_FALSE(blocks.append(5, -1, 1));
    EXPECT_FALSE(blocks.append(5, INT64_MAX, 1));
    EXPECT_FALSE(blocks.append(-5, 0, 1));
    EXPECT_FALSE(blocks.append(INT64_MAX, 0, 1));
    for (std::uint32_t i = 0; i < kMostSamplesPerBlock + 1; ++i)
        ASSERT_TRUE(blocks.append(5, i, 1));
    EXPECT_EQ(blocks.waiting(0).size(), 1u);
    ASSERT_TRUE(blocks.append(5, 3 * kWindowMs, 2));
    ASSERT_TRUE(blocks.append(5, kWindowMs, 3)) << "back in time is another block";
    EXPECT_EQ(blocks.waiting(0).size(), 3u);
    EXPECT_EQ(blocks.blocks_of(5).size(), 4u);
    std::uint32_t samples = 0;
    for (const auto& block : blocks.blocks_of(5)) samples += block.count;
    EXPECT_EQ(samples, kMostSamplesPerBlock + 3);
    blocks.close_before(0, 2);
    EXPECT_EQ(blocks.waiting(0).size(), 4u);
    EXPECT_GT(blocks.waiting_bytes(), 0u);
    blocks.drop_waiting(0, 4);
    EXPECT_EQ(blocks.waiting_bytes(), 0u);
    EXPECT_TRUE(blocks.blocks_of(5).empty());
    EXPECT_EQ(blocks.series(), 2u);
    EXPECT_EQ(blocks.retention(5), 2);
    blocks.remove(5);
    EXPECT_EQ(blocks.series(), 1u);
    EXPECT_FALSE(blocks.append(5, 0, 1));
}

TEST(OpenBlocks, SavedChunksComeBack) {
    base::TestRandom random(9);
    OpenBlocks blocks;
    OpenBlocks again;
    for (std::int64_t series = 300; series < 500; ++series) {
        for (auto* both : {&blocks, &again}) both->define(series, SeriesType::kGauge, 0);
        for (std::uint64_t i = random.below(50); i > 0; --i) {
            ASSERT_TRUE(
                blocks.append(series, static_cast<std::int64_t>(i) * 1000, awkward_value(random)));
        }
    }
    const std::string bytes = blocks.save(1);
    ASSERT_TRUE(again.restore(1, bytes));
    EXPECT_EQ(again.save(1), bytes);
    for (int round = 0; round < 500; ++round) {
        std::string changed = bytes;
        changed[random.below(changed.size())] = static_cast<char>(random.next());
        static_cast<void>(again.restore(1, changed));
    }
    EXPECT_FALSE(again.restore(1, std::string_view(bytes).substr(0, bytes.size() / 2)));
}

}  // namespace
}  // namespace pollux::store
