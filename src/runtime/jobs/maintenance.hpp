// The upkeep of the store as a job: what is old goes, unused pages are given back, and the state is
// copied to `backups/` in the data folder, of which the newest stay.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "runtime/jobs/job_types.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct MaintenanceTools {
    store::Store& store;
    std::string backups;                                     // folder; empty: there is none
    std::shared_ptr<const std::atomic<std::uint32_t>> keep;  // how many copies stay
    std::function<void()> retention;                         // from any thread; does not wait
};

void add_maintenance_type(JobTypes& types, MaintenanceTools tools);

}  // namespace pollux::runtime
