// What the core loop writes down about runs, beside what it needs itself: for people who want to
// see what is going on. Owned by the core loop; not thread-safe.
#pragma once

#include "base/time.hpp"
#include "runtime/cost_book.hpp"
#include "runtime/run_book.hpp"
#include "runtime/scheduler_history.hpp"

namespace pollux::runtime {

struct InsightBooks {
    explicit InsightBooks(base::WallTime now) : runs(now), costs(now) {}

    void forget(std::uint32_t task) {
        runs.forget(task);
        costs.forget(task);
    }

    RunBook runs;
    SchedulerHistory history;
    CostBook costs;
};

}  // namespace pollux::runtime
