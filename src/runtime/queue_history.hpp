// What went through each queue in the last 24 hours: starts, ends and how long they took, in
// buckets of five minutes. A queue is a class of tasks, or a region. Owned by the core loop; not
// thread-safe. Kept over a restart as learned memory: who crashes loses the bucket under way.
//
// Invariants
// 1. Memory is bounded: kMostQueues rings of kBuckets buckets; queues beyond are not counted.
// 2. Counting one run takes no clock, no allocation (but the first of a queue) and no search.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "store/store_types.hpp"

namespace pollux::runtime {

// The last 24 hours of one queue.
struct QueueSummary {
    std::uint64_t started = 0;
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
    double start_rate = 0;   // per second, of the last five to ten minutes
    double finish_rate = 0;  // the same
    double mean = 0;         // seconds; 0: nothing ended
    double p95 = 0;

    std::uint64_t finished() const { return ok + failed; }
};

// Five minutes of one queue.
struct QueuePoint {
    base::WallTime at;  // when they began
    std::uint32_t started = 0;
    std::uint32_t ok = 0;
    std::uint32_t failed = 0;
    double mean = 0;  // seconds; 0: nothing ended
    double p95 = 0;

    std::uint64_t finished() const { return std::uint64_t{ok} + failed; }
};

class QueueHistory {
  public:
    static constexpr base::Duration kBucket = std::chrono::minutes(5);
    static constexpr std::size_t kBuckets = 288;
    static constexpr std::size_t kMostQueues = 256;
    // Steps of durations, two for each power of two, from a millisecond to more than an hour.
    static constexpr std::size_t kSteps = 46;
    // Keys of memories of classes and of regions; no key of a task begins so.
    static constexpr std::string_view kClasses = "queue/";
    static constexpr std::string_view kRegions = "region/";

    // One of the two.
    explicit QueueHistory(std::string_view prefix) : prefix_(prefix) {}

    // The time of what is counted from now on. True: a bucket was closed, and may be saved.
    bool set_time(base::WallTime now);
    void started(std::uint16_t index, const std::string& name) {
        if (Bucket* bucket = current(index, name)) ++bucket->started;
    }
    void ended(std::uint16_t index, const std::string& name, bool success, base::Duration duration);

    QueueSummary summary(std::string_view name, base::WallTime now) const;
    // Oldest first, without those in which nothing happened and the one under way.
    std::vector<QueuePoint> points(std::string_view name, base::WallTime now) const;

    // Rows for the store, and those to remove: of queues that had nothing to do for 24 hours.
    store::MemoryBatch save();
    // A row of an earlier life, without its prefix. What is damaged or too old is left out.
    void recall(std::string name, std::string_view bytes);

  private:
    struct Bucket {
        std::int64_t number = -1;  // of the five minutes since 1970; -1: empty
        std::uint32_t started = 0;
        std::uint32_t ok = 0;
        std::uint32_t failed = 0;
        double seconds = 0;
        std::array<std::uint32_t, kSteps> steps{};
    };
    using Ring = std::array<Bucket, kBuckets>;

    Bucket* current(std::uint16_t index, const std::string& name);
    Ring* ring(const std::string& name);
    bool is_recent(const Bucket& bucket, std::int64_t now) const {
        return bucket.number >= 0 && bucket.number <= now &&
               now - bucket.number < static_cast<std::int64_t>(kBuckets);
    }

    std::string_view prefix_;
    std::int64_t now_ = 0;  // number of the bucket under way
    std::map<std::string, std::unique_ptr<Ring>, std::less<>> rings_;
    std::vector<Ring*> by_index_;  // of the class or region in the core
};

}  // namespace pollux::runtime
