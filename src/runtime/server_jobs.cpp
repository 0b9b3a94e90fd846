// The server's side of jobs: which types there are, what their plans are made from, and upkeep.
#include "runtime/jobs/discovery.hpp"
#include "runtime/jobs/maintenance.hpp"
#include "runtime/jobs/topology_job.hpp"
#include "runtime/server.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::runtime {

void Server::make_jobs() {
    JobTypes types;
    add_asking_types(types);
    add_trial_type(types);
    add_discovery_type(types);
    add_topology_type(types, [this] { return view()->image; });
    add_maintenance_type(types, {.store = *store_,
                                 .backups = directory_ ? directory_->file("backups") : "",
                                 .keep = backups_keep_,
                                 .retention = [this] {
                                     later([this] {
                                         if (!stopped_ && jobs_) jobs_->tick(net::wall_now());
                                     });
                                 }});
    jobs_ = std::make_unique<JobDesk>(loop_, *store_, log_, std::move(types));
    for (store::JobRow& row : std::exchange(job_rows_, {})) jobs_->remember(std::move(row));
}

void Server::follow_jobs() {
    if (!jobs_) return;
    backups_keep_->store(static_cast<std::uint32_t>(settings_.backups_keep));
    JobKeeping keeping;
    keeping.keep_for = std::chrono::hours(24) * settings_.jobs_keep_days;
    keeping.keep_rows = static_cast<std::size_t>(settings_.jobs_keep_rows);
    keeping.maintenance_every = settings_.maintenance_interval;
    jobs_->set_keeping(keeping);
    auto around = std::make_shared<JobSurroundings>();
    if (auto fleet = config::from_objects(*objects_)) around->fleet = std::move(*fleet);
    around->settings = settings_;
    around->secrets = secret_source(options_.environment, secrets_.get());
    for (const auto& resource : image_->expansion.resources) {
        around->resources[resource.name] = resource.capacity;
    }
    for (const auto& [key, plan] : image_->plans) around->targets.insert(key);
    around->global_slots = settings_.global_slots;
    around->shards = std::max<std::size_t>(shards_.size(), 1);
    if (auto egress = make_egress(settings_)) around->egress = std::move(*egress);
    around->rules = make_command_rules(settings_, host_keys_);
    jobs_->set_surroundings(std::move(around));
}

}  // namespace pollux::runtime
