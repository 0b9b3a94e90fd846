// The families of the metrics page that are about jobs and resources.
#pragma once

#include <string>

#include "runtime/core_loop.hpp"

namespace pollux::runtime {

void write_job_metrics(const CoreLoop::View& view, std::string& out);

}  // namespace pollux::runtime
