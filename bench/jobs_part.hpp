// One-shot jobs in a random graph: what a completion costs, and that it touches its own children
// and nothing else, however many jobs there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/result_table.hpp"
#include "schedule/needs_graph.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::bench {

// Each job needs up to four random earlier ones.
struct JobGraph {
    std::vector<std::vector<std::uint32_t>> parents;
    std::vector<std::vector<std::uint32_t>> children;
    std::size_t edges = 0;

    explicit JobGraph(std::uint32_t jobs) : parents(jobs), children(jobs) {
        for (std::uint32_t job = 1; job < jobs; ++job) {
            const std::uint64_t chance = scatter(job);
            auto& own = parents[job];
            for (std::uint64_t i = 0; i < chance % 5; ++i) {
                own.push_back(static_cast<std::uint32_t>(scatter(chance + i) % job));
            }
            std::ranges::sort(own);
            own.erase(std::ranges::unique(own).begin(), own.end());
            edges += own.size();
            for (const std::uint32_t parent : own) children[parent].push_back(job);
        }
    }
};

struct JobTimes {
    double submit_ns = 0;    // per job
    double complete_ns = 0;  // per job: start, finish, and what it releases
    std::size_t completed = 0;
    std::size_t edges_touched = 0;
};

class JobRun {
  public:
    explicit JobRun(const JobGraph& graph)
        : core_(at(0), 1, settings()), jobs_(graph.parents.size()) {
        auto specs = std::make_shared<std::vector<model::TaskSpec>>(jobs_);
        for (std::size_t i = 0; i < jobs_; ++i) {
            model::TaskSpec& spec = (*specs)[i];
            spec.key = fmt::format("job::{}", i);
            spec.cadence = model::Cadence::once();
            for (const std::uint32_t parent : graph.parents[i]) {
                model::NeedGroup group;
                group.any_of = {{model::ParentKind::kTask, fmt::format("job::{}", parent)}};
                spec.needs.push_back(std::move(group));
            }
        }
        events_.emplace_back(schedule::TasksUpserted{std::move(specs)});
    }

    // Every started job is done a millisecond later.
    JobTimes run() {
        JobTimes times;
        const CoreShare submit_share;
        times.submit_ns = static_cast<double>(step(0)) / static_cast<double>(jobs_);
        times.submit_ns *= submit_share.now();
        const std::size_t work_before = core_.needs().work();
        const CoreShare share;
        std::int64_t spent_ns = 0;
        for (std::uint64_t now_ms = 1; !out_.starts.empty(); ++now_ms) {
            events_.clear();
            for (const auto& start : out_.starts) {
                schedule::RunFinished result;
                result.task = start.task;
                result.run = start.run;
                events_.emplace_back(result);
            }
            spent_ns += step(now_ms);
        }
        times.completed = core_.stats().finished;
        times.complete_ns =
            static_cast<double>(spent_ns) * share.now() / static_cast<double>(times.completed);
        times.edges_touched = core_.needs().work() - work_before;
        return times;
    }

  private:
    static base::Instant at(std::uint64_t ms) {
        return {base::BootTime{static_cast<std::int64_t>(ms) * 1'000'000}, base::WallTime{}};
    }
    static model::CoreSettings settings() {
        model::CoreSettings settings;
        settings.global_rate = 1e7;
        settings.global_slots = 1'000'000;
        settings.max_starts_per_step = 1000;
        model::ClassSettings only;
        only.name = "job";
        settings.classes = {only};
        return settings;
    }
    std::int64_t step(std::uint64_t now_ms) {
        out_.clear();
        const auto start = Clock::now();
        core_.step(at(now_ms), events_, out_);
        return nanos_since(start);
    }

    schedule::SchedulerCore core_;
    std::size_t jobs_;
    schedule::Commands out_;
    std::vector<schedule::Event> events_;
};

// The textbook: a count of open parents per job, a list of jobs that have none. No limits, no
// deadlines, nothing to report.
inline double plain_countdown_ns(const JobGraph& graph) {
    std::vector<std::uint32_t> open(graph.parents.size());
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < open.size(); ++i) {
        open[i] = static_cast<std::uint32_t>(graph.parents[i].size());
        if (open[i] == 0) ready.push_back(i);
    }
    const CoreShare share;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < ready.size(); ++i) {
        for (const std::uint32_t child : graph.children[ready[i]]) {
            if (--open[child] == 0) ready.push_back(child);
        }
    }
    const auto spent_ns = static_cast<double>(nanos_since(start)) * share.now();
    return spent_ns / static_cast<double>(ready.size());
}

// The graph alone: returns whether every completion touched exactly its children.
inline bool touches_only_children(const JobGraph& graph) {
    schedule::NeedsGraph needs;
    for (std::uint32_t i = 0; i < graph.parents.size(); ++i) {
        needs.add_node(i);
        std::vector<schedule::NeedsGraph::Group> groups;
        for (const std::uint32_t parent : graph.parents[i]) {
            groups.push_back({.parents = {parent}});
        }
        needs.set_groups(i, std::move(groups));
    }
    for (std::uint32_t i = 0; i < graph.parents.size(); ++i) {
        const std::size_t before = needs.work();
        std::size_t told = 0;
        needs.set_state(i, schedule::NodeState::kGood, [&](std::uint32_t) { ++told; });
        const std::size_t children = graph.children[i].size();
        if (needs.work() - before != children || told != children) return false;
    }
    return true;
}

inline void measure_jobs(ResultTable& table, std::uint32_t jobs) {
    constexpr int kRuns = 5;
    const JobGraph graph(jobs);
    table.require(touches_only_children(graph), "a completion touched more than its children");
    Slices submit;
    Slices complete;
    Slices peers;
    for (int run = 0; run < kRuns; ++run) {
        const JobTimes times = JobRun(graph).run();
        table.require(times.completed == jobs, "not every job completed");
        table.require(times.edges_touched == graph.edges, "edges touched differ from edges");
        submit.add(times.submit_ns);
        complete.add(times.complete_ns);
        peers.add(plain_countdown_ns(graph));
    }
    table.add({fmt::format("jobs: one completion of {}k", jobs / 1000), complete.text("ns"), "",
               true, "bare countdown", peers.text("ns"), peers.median() / complete.median()});
    table.add({"jobs: edges touched by a completion",
               fmt::format("{:.2f}, its children",
                           static_cast<double>(graph.edges) / static_cast<double>(jobs)),
               "", true, "", "", 0});
    table.add({"jobs: submitting one, in one batch", submit.text("ns"), "", true, "", "", 0});
}

}  // namespace pollux::bench
