// The states of a breaker under the name the scheduler uses. The type lives in the model, because
// it is stored and shown as well.
#pragma once

#include "model/task_record.hpp"

namespace pollux::schedule {

using BreakerState = model::BreakerState;
using model::to_string;  // "closed", "open", "half_open"

}  // namespace pollux::schedule
