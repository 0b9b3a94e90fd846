// Pages about what went on: runs of a target, the scheduler over time, who takes the time. Facts
// are taken on the core's thread (functions that take a View), pages are written on another.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/fleet_frame.hpp"
#include "base/time.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/cost_book.hpp"
#include "runtime/run_book.hpp"
#include "runtime/scheduler_history.hpp"

namespace pollux::api {

struct RunFacts {
    base::WallTime kept_since;
    std::vector<std::pair<std::string, runtime::RunRecord>> runs;  // task and run, newest first
};
// Of the tasks of one target.
RunFacts run_facts(const runtime::CoreLoop::View& core, const std::vector<std::string>& tasks,
                   std::size_t limit);
std::string runs_page(const RunFacts& facts);

struct HistoryFacts {
    runtime::HistorySpan span = runtime::HistorySpan::kQuarter;
    std::vector<runtime::SchedulerHistory::Point> points;
};
HistoryFacts history_facts(const runtime::CoreLoop::View& core, runtime::HistorySpan span);
std::string scheduler_history_page(const HistoryFacts& facts);

// Which costs are asked for; the total is always of all that are seen.
struct CostQuestion {
    std::string key;     // of a target or of one of its tasks; empty: any
    std::string device;  // empty: any
    std::size_t limit = 20;

    bool is_about(const FleetFrame::Row& row) const;
};

struct CostFacts {
    base::WallTime since;
    runtime::CostSum total;  // of all targets that are seen
    // The most expensive first, by number of the row in the frame.
    std::vector<std::pair<std::uint32_t, runtime::CostSum>> rows;
};
// Of the rows `shown` of the frame.
CostFacts cost_facts(const runtime::CoreLoop::View& core, const FleetFrame& frame,
                     const std::vector<std::uint32_t>& shown, const CostQuestion& question);
std::string costs_page(const CostFacts& facts, const FleetFrame& frame);

}  // namespace pollux::api
