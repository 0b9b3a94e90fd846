// What the conditions of a poll say, as signals: the form in which alerts are made of everything.
#pragma once

#include <cstdint>
#include <string>

#include "derive/target_memory.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/reading.hpp"
#include "model/signal.hpp"

namespace pollux::derive {

// Of one poll of the group `group`, after derive(): what is active is raised, what ended with this
// poll is cleared with its reason, what could not be decided is open, and the rest of the group's
// conditions is settled. Not for every poll: only when Observation::alarms is another than before.
model::PollSignals condition_signals(const model::Addon& addon, std::uint16_t group,
                                     const model::Observation& observation,
                                     const TargetMemory& memory,
                                     const model::AlertPolicy& policy = {});

// "cpu_percent > 90 (clear at <= 85)", as the addon has it.
std::string rule_text(const model::Addon& addon, const model::ConditionDef& condition);

}  // namespace pollux::derive
