// The runs of jobs that are under way, as the core loop sees them: from its start to its end each
// is written down, and those that poll a target wait here for the outcome. Only on the core's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "model/job.hpp"
#include "runtime/jobs/job_stats.hpp"
#include "runtime/run_order.hpp"
#include "schedule/event.hpp"

namespace pollux::runtime {

class JobRuns {
  public:
    // Notes the start for the store.
    void begin(engine::Engine& engine, const RunOrder& order, base::Instant now);

    // A job of kTarget: asks for a poll of its target, or says why it cannot.
    std::optional<RunReport> poll_target(const engine::Engine& engine, const RunOrder& order,
                                         std::vector<schedule::Event>& events);

    // The end of a run: noted for the store, in time for the step that is told of it. False: it is
    // over already, and whatever comes of it is too late.
    bool end(engine::Engine& engine, RunReport& report, base::Instant now);
    // Ended by the core: cancelled, or its lease is over.
    void drop(engine::Engine& engine, model::RunId run, base::Instant now);

    // What jobs that waited for a poll of this task make of it.
    std::vector<RunReport> follow(const RunReport& report);
    std::vector<RunReport> target_gone(std::uint32_t task);

    const JobStats& stats() const { return stats_; }
    JobStats& stats() { return stats_; }
    std::size_t size() const { return open_.size(); }

  private:
    struct Open {
        model::JobRun record;
        model::TaskHandle task;
        base::BootTime started;
        model::RetryPolicy retry;
    };
    struct Waiting {
        model::TaskHandle task;
        model::RunId run;
        base::BootTime since;
    };

    std::map<model::RunId, Open> open_;
    std::multimap<std::uint32_t, Waiting> waiting_;  // by index of the target's task
    JobStats stats_;
};

}  // namespace pollux::runtime
