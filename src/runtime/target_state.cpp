#include "runtime/target_state.hpp"

#include <initializer_list>

namespace pollux::runtime {

TargetState state_of(const TaskHealth& task) {
    if (!task.enabled) return TargetState::kDisabled;
    // A child that answers proves the edge wrong, unless nobody asks it.
    const bool well = task.answered && task.up;
    if (task.held_back || (task.behind && !well)) return TargetState::kUnreachable;
    if (!task.answered) return TargetState::kUnknown;
    if (!task.up) return TargetState::kDown;
    if (task.overdue) return TargetState::kStale;
    return task.partly ? TargetState::kDegraded : TargetState::kUp;
}

TargetState joined(TargetState one, TargetState other) {
    if (one == other || other == TargetState::kDisabled) return one;
    if (one == TargetState::kDisabled) return other;
    const auto any = [&](TargetState state) { return one == state || other == state; };
    const bool fails = any(TargetState::kDown) || any(TargetState::kUnreachable);
    const bool works = any(TargetState::kUp) || any(TargetState::kDegraded);
    if (fails && works) return TargetState::kDegraded;
    for (const TargetState worst : {TargetState::kDown, TargetState::kUnreachable,
                                    TargetState::kStale, TargetState::kDegraded}) {
        if (any(worst)) return worst;
    }
    return TargetState::kUp;  // the other one has not answered yet
}

}  // namespace pollux::runtime
