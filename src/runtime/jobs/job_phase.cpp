#include "runtime/jobs/job_phase.hpp"

namespace pollux::runtime {

using model::JobPhase;

JobPhase phase_of(model::JobState state) {
    switch (state) {
        case model::JobState::kCompleted: return JobPhase::kCompleted;
        case model::JobState::kFailed: return JobPhase::kFailed;
        case model::JobState::kCancelled: return JobPhase::kCancelled;
        default: return JobPhase::kPending;
    }
}

bool is_step(model::JobState from, model::JobState to) {
    return from == to || from == model::JobState::kPending ||
           model::may_follow(phase_of(from), phase_of(to));
}

}  // namespace pollux::runtime
