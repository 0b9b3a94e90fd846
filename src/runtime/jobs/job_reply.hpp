// What the answer of a device or a program means for a job.
#pragma once

#include "model/reply.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

// Outcome, reason, output and exit status. A program that ends with another status than 0 has
// failed; what it said is kept either way.
void describe_job(model::Reply& reply, RunReport& report);

}  // namespace pollux::runtime
