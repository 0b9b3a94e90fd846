// The metrics of the scheduler, written while the core stands still: every number belongs to the
// same moment, and a target that is gone has no series.
#pragma once

#include <string>

#include "runtime/core_loop.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kWorstTargets = 50;

// Called on the core's thread (CoreLoop::ask). Appends text. Up to the limit of targets each has
// its series; above it classes are summed up under instance "*", and the fifty stalest targets are
// named.
void write_core_metrics(const CoreLoop::View& view, std::string& out);

}  // namespace pollux::runtime
