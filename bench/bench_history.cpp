// How fast and how small the history is: samples per second into the file, bytes per sample on a
// fleet like a real one, memory per series, and a day of one series out of 200,000.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "bench/result_table.hpp"
#include "store/history/history.hpp"

namespace {

using namespace pollux;
using bench::ResultTable;

constexpr std::int64_t kStart = 20'000LL * 86'400'000'000;
constexpr std::int64_t kSecond = 1'000'000;

// What a series of a fleet looks like: half interfaces, the rest as hosts have it.
enum class Shape { kRate, kPercent, kTemperature, kBytes, kLatency, kState, kUptime };

constexpr Shape kMix[] = {Shape::kRate,    Shape::kRate,        Shape::kRate,    Shape::kRate,
                          Shape::kState,   Shape::kState,       Shape::kPercent, Shape::kBytes,
                          Shape::kLatency, Shape::kTemperature, Shape::kRate,    Shape::kUptime};

class Fleet {
  public:
    explicit Fleet(std::size_t series) : values_(series, 0.5) {}

    static Shape shape(std::size_t series) { return kMix[series % std::size(kMix)]; }

    double next(std::size_t series, std::uint64_t round) {
        const double chance = base::unit_interval(base::siphash24({7, 9}, series, round));
        double& level = values_[series];
        level = std::clamp(level + (chance - 0.5) * 0.1, 0.0, 1.0);
        switch (shape(series)) {
            case Shape::kRate:  // octets of a busy port over a jittering interval
                return std::floor(level * 1e9) / (60.0 + (chance - 0.5) * 0.04);
            case Shape::kPercent: return std::round(level * 1000) / 10;
            case Shape::kTemperature: return std::round(20 + level * 10);
            case Shape::kBytes: return std::floor(level * 16e9 / 4096) * 4096;
            case Shape::kLatency: return std::round(level * 20'000 + chance * 500) / 1000;
            case Shape::kState: return chance < 0.001 ? 2 : 1;
            case Shape::kUptime: return static_cast<double>(round * 60);
        }
        return 0;
    }

  private:
    std::vector<double> values_;
};

struct Folder {
    std::string path = fmt::format("{}/pollux_bench_history_{}",
                                   std::filesystem::temp_directory_path().string(), getpid());
    Folder() { std::filesystem::remove_all(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

struct Opened {
    Folder folder;
    std::shared_ptr<std::atomic<std::int64_t>> clock =
        std::make_shared<std::atomic<std::int64_t>>(kStart);
    std::unique_ptr<store::History> history;

    explicit Opened(std::size_t series) {
        open();
        history->allocate_series(static_cast<std::int64_t>(series)).value();
        store::SampleBatch batch;
        for (std::size_t i = 0; i < series; ++i) {
            const bool rate = Fleet::shape(i) == Shape::kRate;
            batch.definitions.push_back(
                {static_cast<std::int64_t>(i), fmt::format("target-{}", i / 12), "snmp::switch",
                 "metric", "row", "", rate ? store::SeriesType::kRate : store::SeriesType::kGauge,
                 0});
        }
        if (!history->append(std::move(batch))) std::abort();
        history->flush();
    }
    void open() {
        history.reset();  // it holds the folder
        store::HistoryOptions options;
        options.clock = [at = clock] { return base::WallTime{*at}; };
        auto directory = store::DataDirectory::open(folder.path).value();
        history = store::History::open(directory, options).value();
    }
    // One round of the fleet, each series at its own second, in batches as shards send them.
    void round(Fleet& fleet, std::size_t series, std::uint64_t number, std::int64_t every_s) {
        store::SampleBatch batch;
        const std::int64_t base_us = kStart + static_cast<std::int64_t>(number) * every_s * kSecond;
        for (std::size_t i = 0; i < series; ++i) {
            const std::uint64_t hash = base::siphash24({1, 2}, i, number);
            const std::int64_t phase = static_cast<std::int64_t>(i) * every_s * kSecond /
                                       static_cast<std::int64_t>(series);
            const auto jitter = static_cast<std::int64_t>(hash % 20'000);
            batch.samples.push_back(
                {static_cast<std::int64_t>(i), base_us + phase + jitter, fleet.next(i, number)});
            if (batch.samples.size() == 1000) send(batch);
        }
        send(batch);
        *clock = base_us + every_s * kSecond;
    }
    void send(store::SampleBatch& batch) {
        while (!history->append(batch)) history->flush();
        batch.samples.clear();
    }
};

void measure_throughput(ResultTable& table, std::size_t series, std::uint64_t rounds) {
    Opened opened(series);
    Fleet fleet(series);
    // Of the time on a core, making the values included: a lower bound.
    const auto cpu = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    const double cpu_start = cpu();
    const auto start = bench::Clock::now();
    for (std::uint64_t i = 0; i < rounds; ++i) opened.round(fleet, series, i, 60);
    opened.history->flush();
    const double wall = static_cast<double>(bench::nanos_since(start)) * 1e-9;
    const double used = cpu() - cpu_start;
    const auto samples = static_cast<double>(series * rounds);
    table.add({fmt::format("samples in, {} series", series),
               fmt::format("{:.0f}k/s per core", samples / used / 1e3), "200k/s",
               samples / used >= 200e3, "", fmt::format("{:.0f}k/s wall", samples / wall / 1e3),
               0});
    const auto stats = opened.history->stats();
    const double bytes = static_cast<double>(stats.block_bytes_written) /
                         static_cast<double>(stats.samples_in_blocks);
    table.add({"bytes per sample in blocks, 60 s", fmt::format("{:.2f} B", bytes), "5 B",
               bytes <= 5, "", "", 0});
    table.require(stats.samples_lost + stats.samples_refused == 0, "every sample was kept");
    if (!opened.history->close()) table.require(false, "the history closes");
    const double per =
        static_cast<double>(std::filesystem::file_size(opened.folder.path + "/history.db")) /
        samples;
    table.add({"bytes per sample in the file, all in all", fmt::format("{:.2f} B", per), "", true,
               "", "", 0});
    const auto reopen = bench::Clock::now();
    opened.open();
    table.add({"start with these series",
               fmt::format("{:.0f} ms", static_cast<double>(bench::nanos_since(reopen)) / 1e6), "",
               true, "", "", 0});
}

void measure_memory_and_query(ResultTable& table, std::size_t series, std::uint64_t hours) {
    const double before = bench::resident_bytes();
    Opened opened(series);
    auto fleet = std::make_unique<Fleet>(series);
    double most = 0;
    // Every 5 minutes: the number of blocks is that of a fleet at 60 s, at a fifth of the time.
    for (std::uint64_t i = 0; i < hours * 12; ++i) {
        opened.round(*fleet, series, i, 300);
        if (i % 24 == 22) {
            opened.history->flush();
            most = std::max(most, static_cast<double>(opened.history->stats().memory_bytes));
        }
    }
    opened.history->flush();
    fleet.reset();
    table.add({fmt::format("open blocks of {} series, 300 s", series),
               fmt::format("{:.0f} MB", most / 1e6), "", true, "", "", 0});
    table.add({"resident, all in all",
               fmt::format("{:.0f} MB", (bench::resident_bytes() - before) / 1e6), "150 MB",
               bench::resident_bytes() - before < 150e6, "", "", 0});
    bench::Slices slices;
    double worst = 0;
    std::size_t points = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        const auto id = static_cast<std::int64_t>(base::siphash24({3, 4}, i) % series);
        const std::int64_t to = *opened.clock;
        const auto start = bench::Clock::now();
        const auto answer = opened.history->query(
            {id, base::WallTime{to - 24 * 3600 * kSecond}, base::WallTime{to}, {}, 20'000});
        const double took = static_cast<double>(bench::nanos_since(start)) / 1e3;
        slices.add(took);
        worst = std::max(worst, took);
        if (answer) points += answer->points.size();
    }
    table.require(points >= 200 * hours * 12 * 9 / 10, "the answers hold the day");
    table.add({"24 h of one series", slices.text("us"), "50 ms", slices.median() < 50e3, "",
               fmt::format("worst {:.1f} ms", worst / 1e3), 0});
    table.add(
        {"file",
         fmt::format("{:.0f} MB", static_cast<double>(opened.history->stats().bytes_on_disk) / 1e6),
         "", true, "", "", 0});
}

// A two-hour window of 60 s samples open for every series: the most that is ever in memory.
void measure_open_blocks(ResultTable& table, std::size_t series) {
    const double before = bench::resident_bytes();
    Opened opened(series);
    auto fleet = std::make_unique<Fleet>(series);
    for (std::uint64_t i = 0; i < 119; ++i) opened.round(*fleet, series, i, 60);
    opened.history->flush();
    fleet.reset();
    const double resident = bench::resident_bytes() - before;
    table.add({fmt::format("resident, {} series with 119 samples open", series),
               fmt::format("{:.0f} MB", resident / 1e6), "150 MB", resident < 150e6, "",
               fmt::format("{:.0f} B per series", resident / static_cast<double>(series)), 0});
}

}  // namespace

int main(int count, char** words) {
    const bool quick = count > 1 && std::strcmp(words[1], "--quick") == 0;
    if (count > 1 && !quick) {
        fmt::print(stderr, "usage: bench_history [--quick]\n");
        return 2;
    }
    ResultTable table;
    measure_throughput(table, quick ? 5'000 : 50'000, 300);
    measure_open_blocks(table, quick ? 20'000 : 200'000);
    measure_memory_and_query(table, quick ? 20'000 : 200'000, 24);
    return table.finish();
}
