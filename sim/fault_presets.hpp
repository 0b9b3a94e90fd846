// Named sets of faults for the simulator.
#pragma once

#include <string>
#include <vector>

#include "sim/world_options.hpp"

namespace pollux::sim {

std::vector<std::string> fault_preset_names();

// Also turns on the simulated store, and stops the faults for the last part of the run, so that the
// end shows whether everything became fresh again.
void apply_fault_preset(const std::string& name, WorldOptions& world);

}  // namespace pollux::sim
