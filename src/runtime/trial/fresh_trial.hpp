// What a device really answered to a manifest that is tried out, read and shown. Nothing is kept:
// no samples, no signals, no state of a target.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

// Outcome, reason and the page of the trial as output, within what is kept of a job. Secrets of the
// credentials that were used are not in it, also if the device says them again. `given`: one for
// each ask, null: was not asked.
void describe_trial(const PollPlan& plan, std::span<const std::shared_ptr<const model::Ask>> asks,
                    std::span<const model::Reply* const> given, base::Instant now,
                    RunReport& report);

}  // namespace pollux::runtime
