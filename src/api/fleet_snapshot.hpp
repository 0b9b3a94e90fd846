// GET /api/fleet: all targets in one compact answer, column by column, for a table that then
// follows live events. What moves is taken on the core's thread in some milliseconds for ten
// thousand targets; the page is written on another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/fleet_frame.hpp"
#include "api/server_link.hpp"
#include "base/time.hpp"
#include "model/task_record.hpp"
#include "model/tier.hpp"
#include "runtime/alerts/alert_tally.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/inbound/inbound_desk.hpp"
#include "runtime/target_state.hpp"

namespace pollux::api {

// Times that never were are WallTime{0}.
struct FleetRow {
    runtime::TargetState state = runtime::TargetState::kUnknown;
    base::WallTime since;
    std::optional<model::Tier> tier;  // of those that are polled
    base::Duration interval{};        // zero: none
    base::Duration suggested{};
    base::WallTime next_due;
    base::WallTime last_success;
    base::Duration bound{};
    std::uint32_t failures = 0;
    model::BreakerState breaker = model::BreakerState::kClosed;
    base::WallTime breaker_since;
    model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
    base::WallTime dead_letter_since;
    std::string problem;
    std::optional<base::Duration> duration;  // of the last run
    std::optional<base::Duration> lag;
    std::shared_ptr<const runtime::Headline> headline;
    std::optional<double> value;  // of the last heartbeat of a target that is heard
};

// One moment of the fleet, as far as somebody may see it.
struct FleetSnapshot {
    std::shared_ptr<const FleetFrame> frame;
    std::vector<std::uint32_t> shown;  // rows of the frame
    std::uint64_t seq = 0;             // of the newest event before it was taken
    base::WallTime now;
    std::vector<FleetRow> rows;  // as many as `shown`, in its order
    runtime::AlertTally alerts;
};

// Fills in what the scheduler knows; on the core's thread.
void take_polled(const runtime::CoreLoop::View& core, FleetSnapshot& into);
// And what is heard; on any.
void take_heard(const std::vector<runtime::PushRow>& pushes, FleetSnapshot& into);

// All of it, one after the other: what is heard, alerts, then the scheduler. Begins and ends on the
// API's thread. `wanted` has the frame, the rows and the event number.
// `also` is asked on the core's thread, of the same moment; it may be empty.
using AlsoAsked =
    std::move_only_function<void(const runtime::CoreLoop::View&, const FleetSnapshot&)>;
void take_snapshot(const ServerLink& link, FleetSnapshot wanted, runtime::AlertSight sight,
                   AlsoAsked also, std::move_only_function<void(FleetSnapshot)> done);

// `version` names this answer, see FleetMarks; empty: it cannot be gone on from. `partial`: it
// holds only some of what is seen.
std::string fleet_page(const FleetSnapshot& fleet, std::string_view version = {},
                       bool partial = false);

}  // namespace pollux::api
