// From readings to meaning: counters become rates, values become levels of conditions, and all
// that matters becomes one digest. Called by the poll worker after extract/, on the thread that
// owns the target's memory.
#pragma once

#include "base/time.hpp"
#include "derive/target_memory.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/reading.hpp"

namespace pollux::derive {

// One poll of one task, `now` its time. Samples are numbers only: texts and unknown words stay in
// the memory. The digest changes when the meaning does: a state, a text, a level, the set of rows,
// a change field by more than its tolerance, a reboot, an answer that became incomplete. It does
// not depend on the order of rows, and free-running counters and gauges never count. `policy` is
// what the fleet says about the conditions.
model::Observation derive(const model::Addon& addon, const model::Readings& readings,
                          base::Instant now, TargetMemory& memory,
                          const model::AlertPolicy& policy = {});

}  // namespace pollux::derive
