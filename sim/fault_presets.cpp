#include "sim/fault_presets.hpp"

namespace pollux::sim {

std::vector<std::string> fault_preset_names() { return {"none", "crash", "storm"}; }

void apply_fault_preset(const std::string& name, WorldOptions& world) {
    if (name == "none") return;
    FaultOptions& f = world.faults;
    world.persist = true;
    f.until_s = (world.hours + world.warmup_hours) * 3600 - 5400;
    f.crash_every_s = 1200;
    if (name == "crash") return;
    world.groups = 20;
    f.lost_result = 0.002;
    f.late_result = 0.002;
    f.duplicated_result = 0.01;
    f.transient_failure = 0.01;
    f.permanent_failure = 0.3;
    f.clock_step_every_s = 1800;
    f.parent_outage_every_s = 600;
    f.commit_failure = 0.05;
    f.poke_every_s = 20;
    f.operator_every_s = 60;
    f.edit_every_s = 60;
    f.jobs_every_s = 120;
    f.settings_every_s = 900;
}

}  // namespace pollux::sim
