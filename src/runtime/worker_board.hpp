// Who works here: the threads of the server with what they did, when they last answered, and what
// they take from the machine. Owned by the main thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "runtime/process_stats.hpp"

namespace pollux::runtime {

struct WorkCounts {
    std::uint64_t active = 0;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    std::size_t memory_bytes = 0;  // what its tables hold, about; 0: not known
    bool operator==(const WorkCounts&) const = default;
};

struct WorkerRow {
    std::string name;  // of its threads: "pollux-io-0"
    std::string kind;  // main, core, shard, jobs, inbound, alerts, api, store, history, audit, pool
    std::string status = "running";  // ok, silent, failing; running: nobody asks it
    base::WallTime last_seen;        // zero: nobody asks it
    std::size_t threads = 0;
    double cpu_seconds = 0;
    double cpu_share = 0;  // of one core, over the last seconds
    std::optional<WorkCounts> work;
};

// Five minutes of one worker.
struct WorkerPoint {
    base::WallTime at;     // when they began
    double cpu_share = 0;  // of one core, for each of its threads
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
};

class WorkerBoard {
  public:
    static constexpr base::Duration kBucket = std::chrono::minutes(5);
    static constexpr std::size_t kBuckets = 288;
    // What is measured of more names is not kept: threads are not named by what comes from outside.
    static constexpr std::size_t kMostKept = 256;
    // Whoever did not answer for so long is silent.
    static constexpr base::Duration kPatience = std::chrono::seconds(5);

    // It answered, or was seen to make progress.
    void seen(const std::string& name, base::WallTime at, std::optional<WorkCounts> work);
    void set_failing(const std::string& name, bool failing);
    // A new reading of all threads; cpu_share is that between two of them.
    void measure(std::vector<ThreadStats> threads, base::Instant now);

    // By name; those that answered once, and all other threads of the process.
    std::vector<WorkerRow> rows(base::WallTime now) const;
    // The last 24 hours, oldest first, without what is under way. In memory: a restart begins anew.
    std::vector<WorkerPoint> points(std::string_view name, base::WallTime now) const;

  private:
    struct Known {
        base::WallTime seen;
        std::optional<WorkCounts> work;
        bool failing = false;
    };
    struct Usage {
        std::size_t threads = 0;
        double cpu_seconds = 0;
        double cpu_share = 0;
    };

    struct Bucket {
        std::int64_t number = -1;  // of the five minutes since 1970; -1: empty
        double seconds = 0;        // over which was measured, of all threads together
        double cpu_seconds = 0;
        std::uint64_t completed = 0;
        std::uint64_t failed = 0;
    };
    struct Past {
        std::array<Bucket, kBuckets> buckets;
        WorkCounts counted;  // up to the last reading
    };

    void keep(const std::string& name, const Usage& usage, double seconds, base::WallTime now);

    std::map<std::string, Known, std::less<>> known_;
    std::map<std::string, Usage, std::less<>> usage_;  // threads of one name together
    std::map<std::string, std::unique_ptr<Past>, std::less<>> past_;
    base::BootTime measured_;
};

}  // namespace pollux::runtime
