// What to simulate: a fleet, a policy, and the faults that happen to it. Faults are probabilities
// and times; together with the seed they decide everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/settings.hpp"
#include "sim/scenario.hpp"

namespace pollux::sim {

struct FaultOptions {
    double crash_every_s = 0;          // mean time between kills of the process; 0: never
    double crash_down_s = 20;          // mean time until it is started again
    double lost_result = 0;            // share of runs whose worker dies: nobody reports
    double late_result = 0;            // share of results that come after the lease ended
    double duplicated_result = 0;      // share of results that come twice
    double transient_failure = 0;      // share of polls that fail without the device being down
    double permanent_failure = 0;      // share of tasks whose credentials are wrong for a while
    double clock_step_every_s = 0;     // mean time between steps of the wall clock
    double clock_step_s = 3600;        // largest step, to both sides
    double parent_outage_every_s = 0;  // mean time between outages of a parent device
    double parent_outage_s = 300;
    double commit_failure = 0;    // share of commits that fail
    double poke_every_s = 0;      // mean time between pokes of some task
    double operator_every_s = 0;  // mean time between things an operator does
    double edit_every_s = 0;      // mean time between edits of some task
    double jobs_every_s = 0;      // mean time between submissions of a small job graph
    double settings_every_s = 0;  // mean time between changes of the adaptive switch
    double until_s = 0;           // faults stop then; 0: never

    bool any() const {
        return crash_every_s > 0 || lost_result > 0 || late_result > 0 || duplicated_result > 0 ||
               transient_failure > 0 || permanent_failure > 0 || clock_step_every_s > 0 ||
               parent_outage_every_s > 0 || commit_failure > 0 || poke_every_s > 0 ||
               operator_every_s > 0 || edit_every_s > 0 || jobs_every_s > 0 || settings_every_s > 0;
    }
};

struct WorldOptions {
    Scenario scenario = Scenario::kB;
    model::PolicyKind policy = model::PolicyKind::kOptimal;
    model::Preset preset = model::Preset::kBalanced;
    model::DegradedChoice degraded = model::DegradedChoice::kMeanFirst;
    std::size_t targets = 2000;
    double budget = 98;  // polls per second aimed at: every target has base = targets / budget
    double hours = 1;    // measured, after the warm-up
    double warmup_hours = 4;
    double min_interval_s = 5;
    double latency_s = 0.02;  // of a poll, on average
    std::uint64_t seed = 1;
    FaultOptions faults;
    bool persist = false;  // run the persistence pump and a simulated store
    bool check_invariants = true;
    std::uint32_t groups = 0;  // parents: every so many devices hang behind one; 0: none
};

}  // namespace pollux::sim
