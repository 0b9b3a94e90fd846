// What people do with alerts and incidents.
#include <fmt/format.h>

#include "alert/alert_engine.hpp"
#include "base/text.hpp"

namespace pollux::alert {

using model::AlertState;

void AlertEngine::answer(const Act& act, std::string_view id, ActStatus status,
                         std::string message) {
    out_->results.push_back({act.ticket, std::string(id), status, std::move(message)});
}

void AlertEngine::apply(const Act& input) {
    if (input.incident.empty()) {
        for (const std::string& id : input.alerts) {
            const std::uint32_t slot = alerts_.find_id(id);
            if (slot == kNone) {
                answer(input, id, ActStatus::kUnknown, "no open alert has this id");
            } else {
                act_on(slot, input);
            }
        }
        return;
    }
    const std::uint32_t incident = incidents_.find(input.incident);
    if (incident == IncidentBook::kNone) {
        answer(input, input.incident, ActStatus::kUnknown, "no open incident has this id");
        return;
    }
    if (input.verb == ActVerb::kNote) {
        add_note(incident, input.who, input.note, input.shown);
        answer(input, input.incident, ActStatus::kDone);
        return;
    }
    std::vector<std::uint32_t> slots = incidents_[incident].alerts;
    alerts_.sort(slots);
    for (const std::uint32_t slot : slots) act_on(slot, input);
    if (slots.empty()) {
        answer(input, input.incident, ActStatus::kWrongState, "it has no open alert");
    }
}

void AlertEngine::act_on(std::uint32_t slot, const Act& act) {
    AlertSlot& one = alerts_[slot];
    const std::string id = one.alert.id;
    switch (act.verb) {
        case ActVerb::kAcknowledge: acknowledge(slot, act); return;
        case ActVerb::kUnacknowledge:
            if (!one.alert.acknowledged) {
                answer(act, id, ActStatus::kWrongState, "it is not acknowledged");
                return;
            }
            end_acknowledgement(slot, "unacknowledged");
            arm(slot);
            break;
        case ActVerb::kResolve:
            resolve(slot, model::ResolvedBy::kOperator,
                    base::utf8_prefix(act.who, settings_.max_name_bytes), "resolved by hand");
            break;
        case ActVerb::kRemove:
            resolve(slot, model::ResolvedBy::kOperator,
                    base::utf8_prefix(act.who, settings_.max_name_bytes), "removed by hand");
            one.change = ChangeKind::kRemoved;
            break;
        case ActVerb::kNote:
            if (one.incident == IncidentBook::kNone) {
                answer(act, id, ActStatus::kWrongState,
                       "it is still pending and belongs to no incident yet");
                return;
            }
            add_note(one.incident, act.who, act.note, act.shown);
            break;
    }
    answer(act, id, ActStatus::kDone);
}

void AlertEngine::acknowledge(std::uint32_t slot, const Act& act) {
    AlertSlot& one = alerts_[slot];
    const AlertState state = one.alert.state;
    if (state != AlertState::kActive && state != AlertState::kSuppressed) {
        answer(act, one.alert.id, ActStatus::kWrongState,
               fmt::format("it is {}; only what is active or suppressed can be acknowledged",
                           model::to_string(state)));
        return;
    }
    if (act.until != base::WallTime{} && act.until <= now_.wall) {
        answer(act, one.alert.id, ActStatus::kWrongState, "the end of the acknowledgement is past");
        return;
    }
    one.alert.acknowledged =
        model::Acknowledgement{std::string(base::utf8_prefix(act.who, settings_.max_name_bytes)),
                               std::string(base::utf8_prefix(act.note, settings_.max_text_bytes)),
                               now_.wall, act.until, act.sticky};
    one.acknowledged_until =
        act.until == base::WallTime{} ? base::BootTime::max() : TimeCodec(now_).boot_of(act.until);
    one.alert.state = AlertState::kAcknowledged;
    mark(slot, "acknowledged");
    arm(slot);
    answer(act, one.alert.id, ActStatus::kDone);
}

}  // namespace pollux::alert
