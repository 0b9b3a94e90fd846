// Who takes the time: runs, seconds, requests and bytes of each polled task over the last half to
// whole hour. Owned by the core loop; not thread-safe. In memory only.
//
// Invariants
// 1. Bounded: at most kMostTasks are counted by themselves, all of them in the total.
// 2. What is shown is of this half hour and the one before: what was long ago does not count.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

struct CostSum {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
    double busy = 0;  // seconds under way

    CostSum& operator+=(const CostSum& other) {
        runs += other.runs;
        failures += other.failures;
        requests += other.requests;
        bytes += other.bytes;
        busy += other.busy;
        return *this;
    }
};

class CostBook {
  public:
    static constexpr base::Duration kHalf = std::chrono::minutes(30);
    static constexpr std::size_t kMostTasks = 200'000;

    explicit CostBook(base::WallTime now, std::size_t most = kMostTasks)
        : began_(now), most_(most) {}

    void ended(std::uint32_t task, base::WallTime now, base::Duration duration, bool failed,
               const RunCost& cost);
    void forget(std::uint32_t task);

    CostSum of(std::uint32_t task, base::WallTime now) const;
    CostSum total(base::WallTime now) const { return shown(total_, half_of(now)); }
    base::WallTime since(base::WallTime now) const;

  private:
    struct Entry {
        std::int64_t half = -1;  // number of the half hour that `current` is of
        CostSum current;
        CostSum before;
    };
    static std::int64_t half_of(base::WallTime at);
    static void add(Entry& entry, std::int64_t half, const CostSum& run);
    static CostSum shown(const Entry& entry, std::int64_t half);

    base::WallTime began_;
    std::size_t most_;
    std::size_t counted_ = 0;
    Entry total_;
    std::vector<std::unique_ptr<Entry>> tasks_;  // by index of the task
};

}  // namespace pollux::runtime
