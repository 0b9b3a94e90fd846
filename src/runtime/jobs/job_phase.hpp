// Where a job is, told by what the core keeps of it.
#pragma once

#include "model/job.hpp"
#include "model/task_record.hpp"

namespace pollux::runtime {

// Of what has ended; pending stands for every phase before.
model::JobPhase phase_of(model::JobState state);

// Whether the table of phases leads there. Steps of a job that has not ended are not told one by
// one; from an end only the table leads on.
bool is_step(model::JobState from, model::JobState to);

}  // namespace pollux::runtime
