#include "store/history/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <thread>

#include "base/test_random.hpp"
#include "store/history/history_reader.hpp"
#include "store/history/rollup_block.hpp"
#include "store/sqlite/fault_vfs_test_support.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::int64_t kFirstDay = 20'000;  // 2024-10-04
constexpr std::int64_t kDayUs = kDayMs * 1000;

constexpr std::int64_t kStart = kFirstDay * kDayUs;
constexpr std::int64_t kMinuteUs = kMinuteMs * 1000;

// A file with a clock that the test moves.
class HistoryTest : public testing::Test {
  protected:
    HistoryTest() {
        options_.save_every = std::chrono::microseconds(1);  // each turn saves every chunk
        options_.clock = [clock = clock_] { return base::WallTime{*clock}; };
    }

    void open() { history_ = open_at(folder_->path()); }
    std::unique_ptr<History> open_at(const std::string& path) {
        auto directory = DataDirectory::open(path);
        if (!directory) throw std::runtime_error(directory.error().message);
        auto history = History::open(*directory, options_);
        if (!history) throw std::runtime_error(history.error().message);
        return std::move(*history);
    }
    void reopen() {
        ASSERT_TRUE(history_->close());
        history_.reset();
        open();
    }
    // Goes on with what a crash at this moment would leave behind.
    void crash() {
        auto image = std::make_unique<TemporaryFolder>();
        for (const char* name : {"history.db", "history.db-wal"}) {
            std::filesystem::copy_file(folder_->file(name), image->file(name));
        }
        history_.reset();
        folder_ = std::move(image);
        open();
    }
    std::int64_t define(std::uint8_t retention = 0, SeriesType type = SeriesType::kGauge) {
        const std::int64_t id = history_->allocate_series().value();
        SampleBatch batch;
        batch.definitions = {
            {id, "target-1", "snmp::switch", "if_in", "eth0", "B/s", type, retention}};
        EXPECT_TRUE(history_->append(batch));
        return id;
    }
    void append(std::int64_t series, std::int64_t at_us, double value) {
        ASSERT_TRUE(history_->append({{}, {{series, at_us, value}}, {}}));
    }
    std::vector<HistoryPoint> points(std::int64_t series, base::Duration step = {},
                                     std::int64_t from_us = kFirstDay * kDayUs - kDayUs,
                                     std::int64_t to_us = INT64_MAX) {
        auto answer = history_->query(
            {series, base::WallTime{from_us}, base::WallTime{to_us}, step, 1'000'000});
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? answer->points : std::vector<HistoryPoint>{};
    }
    // Lets the writer take some turns, for its upkeep.
    void turns(int count) {
        for (int i = 0; i < count; ++i) {
            ASSERT_TRUE(history_->append({}));
            history_->flush();
        }
    }

    std::unique_ptr<TemporaryFolder> folder_ = std::make_unique<TemporaryFolder>();
    std::shared_ptr<std::atomic<std::int64_t>> clock_ =
        std::make_shared<std::atomic<std::int64_t>>(kFirstDay * kDayUs);
    HistoryOptions options_;
    std::unique_ptr<History> history_;
};

TEST_F(HistoryTest, AnswersHoldWhatIsNotOnDiskYet) {
    open();
    const auto id = define();
    append(id, kStart + 1'000'500, 1);
    append(id, kStart + 2'000'000, 2);
    history_->flush();
    const auto found = points(id);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].at.us, kStart + 1'000'000) << "kept to the millisecond";
    EXPECT_EQ(found[0].last, 1);
    EXPECT_EQ(found[1].last, 2);
    EXPECT_EQ(points(id, {}, kStart + 1'500'000, kStart + 2'000'000).size(), 0u);
    EXPECT_EQ(points(id, {}, kStart + 1'500'000, kStart + 2'000'001).size(), 1u);
    EXPECT_EQ(history_->stats().samples_accepted, 2u);
    EXPECT_EQ(history_->stats().series, 1u);
}

TEST_F(HistoryTest, NothingIsLostByACleanStopOrACrash) {
    open();
    const auto id = define();
    for (int i = 0; i < 50; ++i) append(id, kStart + i * kMinuteUs, i);
    history_->flush();
    crash();
    EXPECT_EQ(points(id).size(), 50u);
    for (int i = 50; i < 100; ++i) append(id, kStart + i * kMinuteUs, i);
    reopen();
    EXPECT_EQ(points(id).size(), 100u);
    for (int i = 100; i < 400; ++i) append(id, kStart + i * kMinuteUs, i);
    history_->flush();
    crash();
    const auto found = points(id);
    ASSERT_EQ(found.size(), 400u);
    for (int i = 0; i < 400; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)].last, i);
}

TEST_F(HistoryTest, DefinitionsAreRememberedAndIdsNeverReused) {
    open();
    SampleBatch batch;
    const auto first = history_->allocate_series(3).value();
    for (std::int64_t i = 0; i < 3; ++i) {
        batch.definitions.push_back({first + i, fmt::format("t{}", i / 2), "a::b", "m'\";", "row\n",
                                     "°C", SeriesType::kState, 1});
    }
    ASSERT_TRUE(history_->append(batch));
    history_->flush();
    EXPECT_EQ(history_->series_of("t0")->size(), 2u);
    ASSERT_TRUE(history_->append({{}, {{first + 2, kStart, 1}}, {first + 2}}));
    history_->flush();
    EXPECT_TRUE(points(first + 2).empty());
    reopen();
    std::vector<SeriesDefinition> all;
    ASSERT_TRUE(history_->load_series([&](auto&& one) { all.push_back(one); }));
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0], batch.definitions[0]);
    EXPECT_EQ(all[1], batch.definitions[1]);
    EXPECT_EQ(history_->allocate_series().value(), first + 3);
    EXPECT_FALSE(history_->allocate_series(1LL << 40));
    EXPECT_FALSE(history_->allocate_series(0));
}

TEST_F(HistoryTest, StrangeSamplesAreRefusedAndCounted) {
    open();
    const auto id = define();
    append(id, -1, 1);
    append(id, INT64_MAX, 1);
    append(id, INT64_MIN, 1);
    append(id + 1, kStart, 1);
    append(-1, kStart, 1);
    append(id, kStart, std::numeric_limits<double>::quiet_NaN());
    SampleBatch unknown;  // an id that was never given out
    unknown.definitions = {{id + 99, "", "", "", "", "", SeriesType::kGauge, 0}};
    unknown.samples = {{id + 99, kStart, 1}};
    ASSERT_TRUE(history_->append(unknown));
    history_->flush();
    EXPECT_EQ(history_->stats().samples_refused, 6u);
    ASSERT_EQ(points(id).size(), 1u);
    EXPECT_TRUE(std::isnan(points(id)[0].last));
    EXPECT_TRUE(points(id, 60s).empty()) << "what is no number does not count";
}

TEST_F(HistoryTest, AFullQueueDropsAndSaysSo) {
    options_.queue_samples = 100;
    options_.gather = 1h;
    open();
    const auto id = define();
    SampleBatch batch;
    batch.samples.assign(60, {id, kStart, 1});
    EXPECT_TRUE(history_->append(batch));
    const auto refused = history_->append(batch);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "history.queue_full");
    EXPECT_EQ(history_->stats().samples_dropped, 60u);
    history_->flush();
    EXPECT_TRUE(history_->append(batch));
    ASSERT_TRUE(history_->close());
    EXPECT_EQ(history_->append(batch).error().code, "history.closed");
    EXPECT_FALSE(history_->query({id, {}, base::WallTime::max(), {}, 1}));
}

TEST_F(HistoryTest, RatesAreRoundedGaugesAreExact) {
    open();
    const auto rate = define(0, SeriesType::kRate);
    const auto gauge = define(0, SeriesType::kGauge);
    append(rate, kStart, 1.0 / 3);
    append(gauge, kStart, 1.0 / 3);
    history_->flush();
    EXPECT_NE(points(rate)[0].last, 1.0 / 3);
    EXPECT_NEAR(points(rate)[0].last, 1.0 / 3, 1e-7);
    EXPECT_EQ(points(gauge)[0].last, 1.0 / 3);
}

TEST_F(HistoryTest, TheTierFollowsTheStepAndTheAge) {
    const RetentionLimits limits{{14, 0}, {60, 0}, {1000, 0}};
    const base::WallTime now{kStart};
    const auto tier = [&](base::Duration step, std::int64_t days_ago) {
        return choose_tier({0, base::WallTime{kStart - days_ago * kDayUs}, now, step, 1}, now,
                           limits);
    };
    EXPECT_EQ(tier(0s, 1), HistoryTier::kRaw);
    EXPECT_EQ(tier(59s, 1), HistoryTier::kRaw);
    EXPECT_EQ(tier(60s, 1), HistoryTier::kMinute);
    EXPECT_EQ(tier(1h, 1), HistoryTier::kHour);
    EXPECT_EQ(tier(10s, 20), HistoryTier::kMinute);
    EXPECT_EQ(tier(10s, 100), HistoryTier::kHour);
    EXPECT_EQ(tier(60s, 100), HistoryTier::kHour);
    EXPECT_EQ(tier(60s, 5000), HistoryTier::kHour);
    const RetentionLimits no_minutes{{14, 0}, {0, 0}, {1000, 0}};
    EXPECT_EQ(choose_tier({0, now, now, 60s, 1}, now, no_minutes), HistoryTier::kRaw);
    const RetentionLimits raw_only{{14, 0}, {0, 0}, {0, 0}};
    EXPECT_EQ(choose_tier({0, base::WallTime{0}, now, 1h, 1}, now, raw_only), HistoryTier::kRaw);
}

// Sums made ahead of time and sums made at the question are the same.
TEST_F(HistoryTest, SummedUpDaysAnswerLikeTheSamples) {
    open();
    base::TestRandom random(4);
    const auto id = define();
    const auto other = define(3);
    for (std::int64_t i = 0; i < 3 * 24 * 60; ++i) {
        const auto at =
            kStart + i * kMinuteUs + static_cast<std::int64_t>(random.below(30'000'000));
        append(id, at, static_cast<double>(random.below(1000)) / 10);
        if (i % 3 == 0) append(other, at, 1);
    }
    *clock_ = kStart + 3 * kDayUs - 1;
    history_->flush();
    const auto minutes = points(id, 60s);
    const auto hours = points(id, 1h);
    ASSERT_EQ(history_->stats().series_rolled_up, 0u);
    *clock_ = kStart + 3 * kDayUs + 3 * 3600 * 1'000'000LL;
    turns(20);
    EXPECT_EQ(history_->stats().series_rolled_up, 6u) << "two series, three days";
    EXPECT_EQ(points(id, 60s), minutes);
    const auto after = points(id, 1h);
    ASSERT_EQ(after.size(), hours.size());
    for (std::size_t i = 0; i < hours.size(); ++i) {
        EXPECT_EQ(after[i].at, hours[i].at);
        EXPECT_EQ(after[i].count, hours[i].count);
        EXPECT_EQ(after[i].min, hours[i].min);
        EXPECT_EQ(after[i].max, hours[i].max);
        EXPECT_DOUBLE_EQ(after[i].sum, hours[i].sum);
        EXPECT_EQ(after[i].last, hours[i].last);
    }
    reopen();
    turns(5);
    EXPECT_EQ(history_->stats().series_rolled_up, 0u) << "the progress is remembered";
    EXPECT_EQ(points(id, 60s), minutes);
}

TEST_F(HistoryTest, OldSamplesGoTheirSumsStay) {
    options_.retention[0] = {{2, 0}, {5, 0}, {100, 0}};
    open();
    const auto id = define();
    for (std::int64_t i = 0; i < 24 * 60; ++i) append(id, kStart + i * kMinuteUs, 5);
    history_->flush();
    for (std::int64_t day = 1; day <= 10; ++day) {
        *clock_ = kStart + day * kDayUs + kDayUs / 2;
        append(id, *clock_, 6);
        turns(12);
        // Samples while they are kept, then minutes, then hours.
        const std::size_t expected = day <= 4 ? 24 * 60 : 24;
        EXPECT_EQ(points(id, {}, kStart, kStart + kDayUs).size(), expected) << "day " << day;
    }
    EXPECT_GT(history_->stats().blocks_expired, 12u);
    const auto hours = points(id, 1h, kStart, kStart + kDayUs);
    ASSERT_EQ(hours.size(), 24u);
    EXPECT_EQ(hours[3].count, 60u);
    EXPECT_EQ(hours[3].sum, 300);
}

TEST_F(HistoryTest, AQuotaMakesTheOldestGo) {
    options_.retention[0] = {{1000, 20'000}, {1000, 0}, {1000, 0}};
    open();
    const auto id = define();
    base::TestRandom random(8);
    for (std::int64_t day = 0; day < 30; ++day) {
        for (std::int64_t i = 0; i < 24 * 60; ++i) {
            append(id, kStart + day * kDayUs + i * kMinuteUs, random.between(0, 1));
        }
        *clock_ = kStart + (day + 1) * kDayUs;
        history_->flush();
    }
    turns(60);
    const auto stats = history_->stats();
    EXPECT_GT(stats.blocks_expired, 0u);
    // About as many samples as the quota holds, and those are the newest.
    const double per_sample = static_cast<double>(stats.block_bytes_written) /
                              static_cast<double>(stats.samples_in_blocks);
    const auto found = points(id);
    EXPECT_LT(static_cast<double>(found.size()) * per_sample, 22'000);
    EXPECT_GT(static_cast<double>(found.size()) * per_sample, 16'000);
    EXPECT_EQ(found.back().at.us, kStart + 30 * kDayUs - kMinuteUs);
}

TEST_F(HistoryTest, AnAnswerIsBounded) {
    open();
    const auto id = define();
    for (int i = 0; i < 100; ++i) append(id, kStart + i * 1000, i);
    history_->flush();
    auto answer = history_->query({id, base::WallTime{kStart}, base::WallTime::max(), {}, 10});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->points.size(), 10u);
    EXPECT_TRUE(answer->truncated);
    EXPECT_TRUE(history_->query({999, {}, base::WallTime::max(), {}, 10})->points.empty());
    EXPECT_TRUE(history_->query({-1, {}, base::WallTime::max(), {}, 10})->points.empty());
    EXPECT_TRUE(history_->query({id, base::WallTime::max(), base::WallTime::min(), {}, 10})
                    ->points.empty());
}

// Against a plain map: random series, gaps, jumps back, restarts and crashes.
TEST_F(HistoryTest, EqualsAPlainMapWhateverHappens) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        base::TestRandom random(seed);
        folder_ = std::make_unique<TemporaryFolder>();
        options_.save_every = 50ms;
        options_.gather = 5ms;
        options_.retention[0].raw.days = 1000;
        open();
        std::map<std::int64_t, std::map<std::int64_t, double>> model;
        std::vector<std::int64_t> ids;
        for (int i = 0; i < 40; ++i) ids.push_back(define());
        std::int64_t at = kStart / 1000;
        for (int step = 0; step < 150; ++step) {
            SampleBatch batch;
            for (std::uint64_t i = random.below(400); i > 0; --i) {
                at += static_cast<std::int64_t>(random.below(60'000));
                if (random.one_in(200)) at -= static_cast<std::int64_t>(random.below(10'000'000));
                if (random.one_in(300)) at += static_cast<std::int64_t>(random.below(40'000'000));
                const auto id = ids[random.below(ids.size())];
                const auto value = static_cast<double>(random.below(100));
                batch.samples.push_back({id, at * 1000, value});
                model[id][at] = value;
            }
            *clock_ = at * 1000;
            ASSERT_TRUE(history_->append(batch));
            if (random.one_in(30)) reopen();
            if (random.one_in(30)) {
                history_->flush();
                crash();
            }
        }
        history_->flush();
        for (const auto id : ids) {
            std::map<std::int64_t, double> found;
            for (const auto& point : points(id)) found[point.at.us / 1000] = point.last;
            ASSERT_EQ(found, model[id]) << "seed " << seed << " series " << id;
        }
        EXPECT_EQ(history_->stats().damaged_blocks, 0u);
        history_.reset();
    }
}

TEST_F(HistoryTest, AFullDiskLosesNothingAndRecovers) {
    static_cast<void>(FaultVfs::instance());
    options_.vfs = FaultVfs::kName;
    options_.gather = 5ms;
    options_.save_every = 20ms;
    open();
    const auto id = define();
    append(id, kStart, 0);
    history_->flush();
    for (const auto fault : {DiskFault::kFull, DiskFault::kWriteFails}) {
        FaultVfs::instance().set(fault);
        for (int i = 1; i <= 600; ++i) append(id, kStart + i * kMinuteUs, i);
        history_->flush();
        EXPECT_TRUE(history_->stats().failing);
        EXPECT_THAT(history_->stats().last_error, HasSubstr("history.db"));
        EXPECT_EQ(points(id).size(), 601u) << "what is in memory can be asked for";
        FaultVfs::instance().set(DiskFault::kNone);
        append(id, kStart, 0);
        history_->flush();
        EXPECT_FALSE(history_->stats().failing);
    }
    crash();
    EXPECT_EQ(points(id).size(), 601u);
    EXPECT_EQ(history_->stats().damaged_blocks, 0u);
}

TEST_F(HistoryTest, WhatTheDiskRefusesForTooLongIsGivenUpAndCounted) {
    static_cast<void>(FaultVfs::instance());
    options_.vfs = FaultVfs::kName;
    options_.waiting_limit_bytes = 4000;
    open();
    const auto id = define();
    history_->flush();
    FaultVfs::instance().set(DiskFault::kFull);
    base::TestRandom random(2);
    for (int i = 0; i < 10'000; ++i)
        append(id, kStart + i * std::int64_t{1'000'000}, random.between(0, 1));
    history_->flush();
    EXPECT_GT(history_->stats().samples_lost, 0u);
    EXPECT_LT(history_->stats().samples_lost, 10'000u);
    FaultVfs::instance().set(DiskFault::kNone);
}

TEST_F(HistoryTest, ADamagedBlockIsLeftOutAndCounted) {
    open();
    const auto id = define();
    for (int i = 0; i < 500; ++i) append(id, kStart + i * kMinuteUs, i);
    *clock_ = kStart + 500 * kMinuteUs;
    ASSERT_TRUE(history_->close());
    history_.reset();
    {
        auto database = Database::open(folder_->file("history.db"), {false, false, "", ""});
        ASSERT_TRUE(database);
        ASSERT_GT((*database)->integer("SELECT count(*) FROM block").value(), 2);
        ASSERT_TRUE((*database)->execute(
            "UPDATE block SET data = x'0102' WHERE number = (SELECT min(number) FROM block)"));
    }
    open();
    const auto found = points(id).size();
    EXPECT_EQ(found, 380u) << "without the two hours of the damaged block";
    EXPECT_EQ(history_->stats().damaged_blocks, 1u);
}

TEST_F(HistoryTest, ReadersAndTheWriterDoNotDisturbEachOther) {
    options_.gather = 1ms;
    options_.save_every = 10ms;
    open();
    const auto id = define();
    history_->flush();
    std::atomic<bool> stop = false;
    std::atomic<std::int64_t> written = 0;
    std::thread reader([&] {
        while (!stop) {
            const auto before = written.load();
            const auto found = static_cast<std::int64_t>(points(id).size());
            EXPECT_GE(found, before) << "a sample vanished for a moment";
        }
    });
    for (int i = 0; i < 2000; ++i) {
        append(id, kStart + i * kMinuteUs, i);
        if (i % 20 == 0) {
            *clock_ = kStart + i * kMinuteUs;
            history_->flush();
            written = i + 1;
        }
    }
    stop = true;
    reader.join();
}

TEST(HistoryKill, WhatWasFlushedSurvivesKillNine) {
    TemporaryFolder folder;
    base::TestRandom random(77);
    std::int64_t reported = 0;
    for (int round = 0; round < 10; ++round) {
        int fds[2];
        ASSERT_EQ(pipe(fds), 0);
        const pid_t child = fork();
        if (child == 0) {
            auto directory = DataDirectory::open(folder.path());
            HistoryOptions options;
            options.gather = 1ms;
            options.save_every = 5ms;
            options.clock = [] { return base::WallTime{kStart + 10 * kDayUs}; };
            auto history = History::open(*directory, options);
            if (!history) _exit(3);
            SampleBatch first;
            for (std::int64_t id = 0; round == 0 && id < 300; ++id) {
                first.definitions.push_back({(*history)->allocate_series().value(), "t", "a::b",
                                             "m", "", "", SeriesType::kGauge, 0});
            }
            static_cast<void>((*history)->append(first));
            for (std::int64_t i = reported + 1;; ++i) {
                SampleBatch batch;
                for (std::int64_t id = 1; id <= 300; ++id) {
                    batch.samples.push_back({id, kStart + i * kMinuteUs, static_cast<double>(i)});
                }
                static_cast<void>((*history)->append(batch));
                (*history)->flush();
                static_cast<void>(!write(fds[1], &i, sizeof i));
            }
        }
        close(fds[1]);
        std::int64_t told = 0;
        ASSERT_EQ(read(fds[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
        usleep(static_cast<useconds_t>(random.below(60'000)));
        kill(child, SIGKILL);
        do {
            reported = told;
        } while (read(fds[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told));
        close(fds[0]);
        waitpid(child, nullptr, 0);
        auto directory = DataDirectory::open(folder.path());
        HistoryOptions options;
        options.clock = [] { return base::WallTime{kStart + 10 * kDayUs}; };
        auto history = History::open(*directory, options);
        ASSERT_TRUE(history) << history.error().message;
        for (const std::int64_t id : {1, 255, 256, 300}) {
            auto answer = (*history)->query(
                {id, base::WallTime{kStart}, base::WallTime::max(), {}, 1'000'000});
            ASSERT_TRUE(answer);
            ASSERT_GE(std::ssize(answer->points), reported) << "round " << round;
            ASSERT_LE(std::ssize(answer->points), reported + 1);
            for (std::int64_t i = 0; i < reported; ++i) {
                ASSERT_EQ(answer->points[static_cast<std::size_t>(i)].last,
                          static_cast<double>(i + 1));
            }
            reported = std::max<std::int64_t>(reported, std::ssize(answer->points));
        }
        EXPECT_EQ((*history)->stats().damaged_blocks, 0u);
    }
}

}  // namespace
}  // namespace pollux::store
