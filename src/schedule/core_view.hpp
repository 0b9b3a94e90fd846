// Read-only views of the core for people: who is ready, who holds what, and where a job stands.
// Each walks over the tasks once; nothing is changed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/job.hpp"
#include "model/run.hpp"
#include "model/tier.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {

struct ResourceHolder {
    model::TaskHandle task;
    std::int64_t amount = 0;
    base::BootTime since;
};

struct ResourceUsage {
    std::string name;
    std::int64_t capacity = 0;
    std::int64_t used = 0;
    std::int64_t wanted = 0;  // by tasks that are due and wait, whatever they wait for
    std::size_t waiting = 0;  // how many these are
    std::size_t holder_count = 0;
    std::vector<ResourceHolder> holders;  // those that have held it longest
};

// Resources that are gone from the settings and that nobody holds are left out.
std::vector<ResourceUsage> resource_usage(const SchedulerCore& core, std::size_t most_holders);

struct ReadyTask {
    model::TaskHandle task;
    Place place = Place::kReady;
    model::Tier tier = model::Tier::kNormal;
    model::Tier effective = model::Tier::kNormal;  // raised by waiting
    base::BootTime ready_since;
    base::BootTime due;
    std::int64_t slots = 1;
    std::vector<std::pair<std::string, std::int64_t>> resources;
    std::vector<std::string> needs;  // keys of its parents, met by now; at most 20
};

struct ReadySet {
    std::size_t size = 0;          // of all that are due and wait
    std::vector<ReadyTask> first;  // the most urgent, then the longest ready
};

ReadySet ready_set(const SchedulerCore& core, base::BootTime now, std::size_t limit);

// Of a task that runs once.
model::JobPhase phase_of(const TaskSlot& slot);

}  // namespace pollux::schedule
