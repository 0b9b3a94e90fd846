// Who is to blame: devices on the way are verified first, what they explain is suppressed, and
// sometimes it is ourselves.
#include <algorithm>
#include <utility>

#include "alert/alert_engine.hpp"

namespace pollux::alert {

using model::AlertState;
using model::SuppressedBy;

std::uint32_t AlertEngine::device_of(std::uint32_t slot) const {
    const std::uint32_t target = alerts_[slot].target;
    return target == kNone ? kNone : fleet_.target(target).device;
}

std::vector<std::uint32_t> AlertEngine::missing_alerts_of(std::uint32_t device) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t target : fleet_.device(device).targets) {
        for (const std::uint32_t slot : fleet_.target(target).alerts) {
            if (alerts_[slot].missing_answer && alerts_[slot].raised) out.push_back(slot);
        }
    }
    alerts_.sort(out);
    return out;
}

void AlertEngine::defer(std::uint32_t slot) {
    if (std::exchange(alerts_[slot].deferred, true)) return;
    deferred_.push_back(slot);
}

void AlertEngine::begin_hold(std::uint32_t slot, bool itself) {
    AlertSlot& one = alerts_[slot];
    one.hold = Hold::kVerifying;
    one.verify_itself = itself;
    one.hold_since = now_.boot;
    one.verify_until = now_.boot + settings_.verify_timeout;
    held_.insert({one.alert.number, slot});
    ask_for(slot);
    if (verified(slot)) {
        one.hold = Hold::kSettling;
        one.settle_until = now_.boot + settings_.settle;
    }
    mark(slot, one.change == ChangeKind::kCreated ? one.cause : "verifying");
    arm(slot);
}

// Of whom it must be heard before it is decided.
std::vector<std::uint32_t> AlertEngine::unknown_to(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    const std::uint32_t device = device_of(slot);
    std::vector<std::uint32_t> ask = fleet_.ancestors(device);
    std::erase_if(ask,
                  [&](std::uint32_t other) { return fleet_.known_since(other, one.hold_since); });
    if (one.verify_itself && fleet_.device(device).answered_at < one.hold_since) {
        ask.push_back(device);
    }
    return ask;
}

void AlertEngine::ask_for(std::uint32_t slot) {
    for (const std::uint32_t other : unknown_to(slot)) {
        if (fleet_.ask(other, now_.boot, settings_.verify_timeout)) {
            out_->verify.push_back({fleet_.device(other).name});
        }
    }
}

// Its device is back, and it has not said since that it still fails.
bool AlertEngine::may_be_well(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    const DeviceState& device = fleet_.device(device_of(slot));
    return one.verify_itself && device.answered_at >= one.hold_since && !device.down &&
           one.repeated_at < one.hold_since;
}

base::BootTime AlertEngine::verification_ends(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    if (device_of(slot) == kNone) return one.verify_until;
    return may_be_well(slot) ? one.hold_since + settings_.reconfirm : one.verify_until;
}

bool AlertEngine::verified(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    const std::uint32_t device = device_of(slot);
    if (one.verify_itself && fleet_.device(device).answered_at < one.hold_since) return false;
    if (may_be_well(slot)) return false;
    return std::ranges::all_of(fleet_.ancestors(device), [&](std::uint32_t other) {
        return fleet_.known_since(other, one.hold_since);
    });
}

bool AlertEngine::advance_hold(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    if (!is_open(one.alert) || !one.raised || !one.missing_answer) return false;
    if (one.hold == Hold::kVerifying) {
        const bool known = verified(slot);
        if (!known && now_.boot < verification_ends(slot)) return false;
        one.alert.unverified = !known;
        one.hold = Hold::kSettling;
        one.settle_until = now_.boot + settings_.settle;
        mark(slot, known ? "verified" : "unverified");
    }
    return one.hold == Hold::kSettling && one.settle_until <= now_.boot;
}

void AlertEngine::decide_deferred() {
    std::vector<std::uint32_t> ready;
    for (const std::uint32_t slot : std::exchange(deferred_, {})) {
        if (!std::exchange(alerts_[slot].deferred, false)) continue;  // it is over since
        if (advance_hold(slot)) {
            ready.push_back(slot);
        } else if (is_open(alerts_[slot].alert)) {
            arm(slot);
        }
    }
    if (ready.empty()) return;
    const bool before = observer_.impaired();
    const auto verdict = observer_.judge(now_.boot, fleet_, settings_, out_->verify);
    if (verdict == ObserverWatch::Verdict::kImpaired && !before) {
        begin_impairment();
        // There is no sample any more that others could wait for.
        ready.clear();
        for (const auto& [number, slot] : held_) {
            if (advance_hold(slot)) ready.push_back(slot);
        }
    }
    alerts_.sort(ready);
    for (const std::uint32_t slot : ready) {
        AlertSlot& one = alerts_[slot];
        if (verdict != ObserverWatch::Verdict::kWait && one.hold != Hold::kDecided) {
            one.hold = Hold::kDecided;
            one.verify_itself = false;
            held_.erase({one.alert.number, slot});
            mark(slot, "confirmed");  // also if it stays what and where it was
            place(slot, "confirmed");
        }
        arm(slot);
    }
}

void AlertEngine::place(std::uint32_t slot, std::string_view cause) {
    AlertSlot& one = alerts_[slot];
    model::Alert& alert = one.alert;
    const std::uint32_t device = device_of(slot);
    const SuppressedBy before = alert.suppressed_by;
    SuppressedBy by = SuppressedBy::kNothing;
    std::uint32_t incident = IncidentBook::kNone;
    if (one.missing_answer && device != kNone) {
        if (observer_.impaired()) {
            by = SuppressedBy::kObserver;
            incident = incidents_.of_observer();
        } else if (const auto root = fleet_.root_of(device)) {
            by = SuppressedBy::kParent;
            incident = incident_of_device(*root, alert.severity);
        }
    }
    if (by == SuppressedBy::kNothing) {
        const FlapHistory* history = histories_.find(alert.fingerprint);
        const bool told_enough = history != nullptr && history->recent(now_.boot, settings_.flap) >=
                                                           settings_.flap.tellings;
        if (alert.flapping && told_enough) by = SuppressedBy::kFlapping;
        incident = own_incident(slot);
    }
    const bool consequence = by == SuppressedBy::kParent || by == SuppressedBy::kObserver;
    const model::Severity severity_before = incidents_[incident].incident.severity;
    join(slot, incident, consequence);
    count_suppressed(slot, consequence);
    const AlertState state = alert.acknowledged             ? AlertState::kAcknowledged
                             : by == SuppressedBy::kNothing ? AlertState::kActive
                                                            : AlertState::kSuppressed;
    // What only flapped so far and is steady now is news as well, unless it was told before.
    const bool news = alert.state == AlertState::kPending || before == SuppressedBy::kParent ||
                      before == SuppressedBy::kObserver || !incidents_[incident].incident.told;
    const bool activated = by == SuppressedBy::kNothing && news;
    if (alert.state != state || before != by) {
        alert.state = state;
        alert.suppressed_by = by;
        mark(slot, one.change == ChangeKind::kCreated ? one.cause
                   : by == SuppressedBy::kNothing     ? cause
                                                      : "suppressed");
    }
    if (by == SuppressedBy::kNothing && alert.active_since == base::WallTime{}) {
        alert.active_since = now_.wall;
    }
    if (activated) tell_activation(slot, severity_before);
}

void AlertEngine::believed(std::uint32_t device, FleetMap::Believed belief) {
    if (belief == FleetMap::Believed::kDown) take_over(device);
    // Also if it was believed up before: an answer says that it is not behind what went down.
    if (!fleet_.device(device).down) release_children(device);
    if (!held_.empty()) answered(device);
}

void AlertEngine::answered(std::uint32_t device) {
    for (const std::uint32_t other : fleet_.below(device)) {
        for (const std::uint32_t slot : missing_alerts_of(other)) {
            if (alerts_[slot].hold == Hold::kVerifying) defer(slot);
        }
    }
}

void AlertEngine::take_over(std::uint32_t device) {
    const std::uint32_t failures = incidents_.of_device(fleet_.device(device).name);
    if (failures != IncidentBook::kNone &&
        incidents_[failures].incident.cause == model::CauseKind::kAlert) {
        incidents_[failures].incident.cause = model::CauseKind::kDevice;
        incidents_.mark(failures, "device down");
    }
    for (const std::uint32_t other : fleet_.below(device)) {
        const auto root = fleet_.root_of(other);
        if (!root) continue;
        for (const std::uint32_t slot : missing_alerts_of(other)) {
            AlertSlot& one = alerts_[slot];
            if (one.hold != Hold::kDecided || one.incident == IncidentBook::kNone) continue;
            const bool recent = now_.boot - one.hold_since <= settings_.takeover;
            const bool suppressed = one.alert.suppressed_by == SuppressedBy::kParent;
            if (one.alert.suppressed_by == SuppressedBy::kObserver) continue;
            if (!suppressed && !recent) continue;
            if (incidents_[one.incident].incident.device == fleet_.device(*root).name) continue;
            begin_hold(slot, false);
        }
    }
}

void AlertEngine::release_children(std::uint32_t device) {
    for (const std::uint32_t other : fleet_.below(device)) {
        for (const std::uint32_t slot : missing_alerts_of(other)) {
            AlertSlot& one = alerts_[slot];
            if (one.alert.suppressed_by != SuppressedBy::kParent || one.hold != Hold::kDecided)
                continue;
            const auto root = fleet_.root_of(other);
            const std::string& blamed = incidents_[one.incident].incident.device;
            if (root && fleet_.device(*root).name == blamed) continue;
            begin_hold(slot, !root);
        }
    }
}

void AlertEngine::recheck_doubtful() {
    while (!fleet_.doubtful().empty()) {
        const auto [since, device] = *fleet_.doubtful().begin();
        if (since + settings_.recheck > now_.boot) return;
        if (!fleet_.ask(device, now_.boot, settings_.recheck)) return;
        out_->verify.push_back({fleet_.device(device).name});
    }
}

void AlertEngine::watch_observer() {
    if (observer_.ends(now_.boot, fleet_, settings_, out_->verify)) end_impairment();
    if (observer_.impaired() || !observer_.sample_ready(now_.boot, fleet_)) return;
    for (const auto& [number, slot] : held_) {
        if (alerts_[slot].hold == Hold::kSettling) defer(slot);
    }
}

void AlertEngine::begin_impairment() {
    std::uint32_t incident = incidents_.of_observer();
    if (incident == IncidentBook::kNone) {
        incident = open_incident(model::CauseKind::kObserver, {}, "observer impaired",
                                 model::Severity::kCritical, false);
    }
    IncidentSlot& one = incidents_[incident];
    one.kept = true;
    if (!std::exchange(one.incident.told, true)) incidents_.tell(incident, Telling::kProblem);
    add_note(incident, "pollux", observer_.why(), false);
    // What was told just before was most likely this already.
    const base::Duration recent = std::max(settings_.takeover, settings_.observer.window);
    std::vector<std::uint32_t> slots;
    for (const auto& [since, device] : fleet_.failing()) {
        if (now_.boot - since > recent) continue;
        for (const std::uint32_t slot : missing_alerts_of(device)) {
            if (alerts_[slot].hold == Hold::kDecided) slots.push_back(slot);
        }
    }
    alerts_.sort(slots);
    for (const std::uint32_t slot : slots) {
        place(slot, "suppressed");
        arm(slot);
    }
}

void AlertEngine::end_impairment() {
    const std::uint32_t incident = incidents_.of_observer();
    if (incident == IncidentBook::kNone) return;
    incidents_[incident].kept = false;
    incidents_.mark(incident, "answers again");
    std::vector<std::uint32_t> slots = incidents_[incident].alerts;
    alerts_.sort(slots);
    for (const std::uint32_t slot : slots) {
        if (alerts_[slot].raised) begin_hold(slot, true);
    }
}

}  // namespace pollux::alert
