// Who works here: the threads of the server with what they did, when they last answered, and what
// they take from the machine. Owned by the main thread.
#pragma once

#include <cstdint>
#include <map>
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
    bool operator==(const WorkCounts&) const = default;
};

struct WorkerRow {
    std::string name;  // of its threads: "pollux-io-0"
    std::string kind;  // main, core, shard, jobs, inbound, api, store, history, audit, pool
    std::string status = "ok";  // ok, silent, failing
    base::WallTime last_seen;   // zero: nobody asks it
    std::size_t threads = 0;
    double cpu_seconds = 0;
    double cpu_share = 0;  // of one core, over the last seconds
    std::optional<WorkCounts> work;
};

class WorkerBoard {
  public:
    // Whoever did not answer for so long is silent.
    static constexpr base::Duration kPatience = std::chrono::seconds(5);

    // It answered, or was seen to make progress.
    void seen(const std::string& name, base::WallTime at, std::optional<WorkCounts> work);
    void set_failing(const std::string& name, bool failing);
    // A new reading of all threads; cpu_share is that between two of them.
    void measure(std::vector<ThreadStats> threads, base::BootTime now);

    // By name; those that answered once, and all other threads of the process.
    std::vector<WorkerRow> rows(base::WallTime now) const;

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

    std::map<std::string, Known, std::less<>> known_;
    std::map<std::string, Usage, std::less<>> usage_;  // threads of one name together
    base::BootTime measured_;
};

}  // namespace pollux::runtime
