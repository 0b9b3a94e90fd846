// The timing wheel alone against a binary heap: the same entries, the same due times.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "base/timing_wheel.hpp"
#include "bench/result_table.hpp"

namespace pollux::bench {

// Intervals of 10, 30, 60 and 300 s, each time up to 5 % shorter or longer. Due times depend on the
// entry and its previous due time alone, so both structures have the same to do.
class MixedIntervals {
  public:
    static std::uint64_t first_due_ms(std::uint32_t id) {
        return 1 + scatter(id) % kIntervalsMs[id % kIntervalsMs.size()];
    }
    static std::uint64_t next_due_ms(std::uint32_t id, std::uint64_t due_ms) {
        const std::uint64_t interval = kIntervalsMs[id % kIntervalsMs.size()];
        const std::uint64_t tenth = interval / 10;
        return due_ms + interval - tenth / 2 + scatter(id ^ (due_ms << 20U)) % tenth;
    }

  private:
    static constexpr std::array<std::uint64_t, 4> kIntervalsMs = {10'000, 30'000, 60'000, 300'000};
};

// Both run in steps of 1 ms and remember what fired, so that they can be compared.
class WheelRun {
  public:
    explicit WheelRun(std::uint32_t entries) : wheel_(base::BootTime{}), ticks_(entries) {
        for (std::uint32_t id = 0; id < entries; ++id) arm(id, MixedIntervals::first_due_ms(id));
    }
    void step() {
        ++now_ms_;
        wheel_.advance(at(now_ms_), [&](std::uint32_t id, std::uint32_t tick) {
            if (ticks_[id] != tick) return false;  // what the owner of an entry has to check
            ++fired;
            checksum += scatter(id ^ (now_ms_ << 20U));
            arm(id, MixedIntervals::next_due_ms(id, now_ms_));
            return true;
        });
    }
    std::size_t memory_bytes() const { return wheel_.memory_bytes(); }

    std::uint64_t fired = 0;
    std::uint64_t checksum = 0;

  private:
    static base::BootTime at(std::uint64_t ms) {
        return base::BootTime{static_cast<std::int64_t>(ms) * 1'000'000};
    }
    void arm(std::uint32_t id, std::uint64_t due_ms) { ticks_[id] = wheel_.arm(id, at(due_ms)); }

    base::TimingWheel wheel_;
    std::vector<std::uint32_t> ticks_;
    std::uint64_t now_ms_ = 0;
};

class HeapRun {
  public:
    explicit HeapRun(std::uint32_t entries) {
        std::vector<Entry> all;
        all.reserve(entries);
        for (std::uint32_t id = 0; id < entries; ++id) {
            all.push_back({MixedIntervals::first_due_ms(id), id});
        }
        heap_ = Heap(std::greater<>{}, std::move(all));
    }
    void step() {
        ++now_ms_;
        while (heap_.top().due_ms <= now_ms_) {
            const Entry entry = heap_.top();
            heap_.pop();
            ++fired;
            checksum += scatter(entry.id ^ (now_ms_ << 20U));
            heap_.push({MixedIntervals::next_due_ms(entry.id, now_ms_), entry.id});
        }
    }

    std::uint64_t fired = 0;
    std::uint64_t checksum = 0;

  private:
    struct Entry {
        std::uint64_t due_ms;
        std::uint32_t id;
        bool operator>(const Entry& other) const { return due_ms > other.due_ms; }
    };
    using Heap = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

    Heap heap_;
    std::uint64_t now_ms_ = 0;
};

template <class Run>
double nanos_per_fire(Run& run, std::uint64_t steps) {
    const std::uint64_t before = run.fired;
    const CoreShare share;
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < steps; ++i) run.step();
    const auto spent_ns = static_cast<double>(nanos_since(start)) * share.now();
    return spent_ns / static_cast<double>(run.fired - before);
}

inline void measure_wheel(ResultTable& table, std::uint32_t entries) {
    constexpr std::uint64_t kStepsPerSlice = 50'000;
    constexpr int kSlices = 5;
    WheelRun wheel(entries);
    HeapRun heap(entries);
    Slices ours;
    Slices peers;
    for (int slice = -1; slice < kSlices; ++slice) {  // the first one warms up
        const double wheel_ns = nanos_per_fire(wheel, kStepsPerSlice);
        const double heap_ns = nanos_per_fire(heap, kStepsPerSlice);
        if (slice < 0) continue;
        ours.add(wheel_ns);
        peers.add(heap_ns);
    }
    table.require(wheel.fired == heap.fired && wheel.checksum == heap.checksum,
                  "the wheel and the heap fired different entries");
    table.add({"wheel: fire and arm again", ours.text("ns"), "< peer",
               ours.median() < peers.median(), "std::priority_queue", peers.text("ns"),
               peers.median() / ours.median()});
    table.add({"wheel: memory",
               fmt::format("{:.1f} B an entry", static_cast<double>(wheel.memory_bytes()) /
                                                    static_cast<double>(entries)),
               "", true, "", "16 B", 0});
}

}  // namespace pollux::bench
