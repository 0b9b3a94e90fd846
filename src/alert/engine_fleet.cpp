// The fleet changes: alerts follow their targets, and end with them.
#include <algorithm>
#include <utility>

#include "alert/alert_engine.hpp"

namespace pollux::alert {

using model::AlertSource;

AlertEngine::Terms AlertEngine::terms_of(std::uint32_t target, std::string_view type,
                                         std::string_view subject) const {
    Terms out;
    if (target == kNone) return out;
    const TargetFacts& facts = *fleet_.target(target).facts;
    const TypeFacts* known = type_facts(target, type);
    if (known == nullptr) {
        const bool closed = facts.types != nullptr && facts.types->closed;
        out.wanted = facts.enabled && (!closed || type == facts.failure_type);
        return out;
    }
    model::AlertOverride row;
    for (const auto& [pattern, values] : known->rows) {
        if (!subject.empty() && model::fits_pattern(subject, pattern)) fill_from(row, values);
    }
    out.wanted = facts.enabled && row.enabled.value_or(known->enabled);
    out.severity = row.severity ? row.severity : known->severity;
    out.hold = row.sustained.value_or(known->hold);
    out.keep_firing_for = row.keep_firing_for.value_or(known->keep_firing_for);
    out.missing_answer = known->missing_answer;
    return out;
}

void AlertEngine::attach(std::uint32_t slot, std::uint32_t target) {
    TargetState& state = fleet_.target(target);
    AlertSlot& one = alerts_[slot];
    one.target = target;
    one.place_at_target = static_cast<std::uint32_t>(state.alerts.size());
    state.alerts.push_back(slot);
    refresh_facts(slot);
}

void AlertEngine::detach(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    if (one.target == kNone) return;
    auto& alerts = fleet_.target(one.target).alerts;
    const std::uint32_t moved = alerts.back();
    alerts[one.place_at_target] = moved;
    alerts_[moved].place_at_target = one.place_at_target;
    alerts.pop_back();
    one.target = kNone;
}

void AlertEngine::refresh_facts(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    model::Alert& alert = one.alert;
    const TargetFacts& facts = *fleet_.target(one.target).facts;
    const std::string& address = one.address_of_target ? facts.address : alert.address;
    if (alert.target == facts.key && alert.target_id == facts.id && alert.device == facts.device &&
        alert.address == address && alert.labels == facts.labels && alert.groups == facts.groups) {
        return;
    }
    alert.target = facts.key;
    alert.target_id = facts.id;
    alert.device = facts.device;
    alert.address = std::string(address);
    alert.labels = facts.labels;
    alert.groups = facts.groups;
    mark(slot, "changed");
}

void AlertEngine::apply(const FleetChanged& input) {
    ahead_.fill({});
    fleet_.load(input.fleet);
    for (const std::uint32_t slot : alerts_.in_order()) alerts_[slot].target = kNone;
    reconcile();
}

void AlertEngine::reconcile() {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t slot : alerts_.in_order()) {
        AlertSlot& one = alerts_[slot];
        if (one.alert.target_id.empty()) continue;
        if (one.target == kNone) {
            const std::uint32_t target = fleet_.target_by_id(one.alert.target_id);
            if (target != kNone) attach(slot, target);
        } else {
            refresh_facts(slot);
        }
        const bool wanted =
            one.target != kNone && terms_of(one.target, one.alert.type, one.alert.subject).wanted;
        if (!wanted || is_outdated(slot)) {
            resolve(slot, model::ResolvedBy::kReconciled, {}, "reconciled");
        } else {
            kept.push_back(slot);
        }
    }
    // What explained them may be gone, too.
    for (const std::uint32_t slot : kept) {
        AlertSlot& one = alerts_[slot];
        if (one.alert.suppressed_by != model::SuppressedBy::kParent || one.hold != Hold::kDecided ||
            !one.raised) {
            continue;
        }
        const auto root = fleet_.root_of(device_of(slot));
        const std::string& blamed = incidents_[one.incident].incident.device;
        if (!root || fleet_.device(*root).name != blamed) begin_hold(slot, !root);
    }
    for (const std::uint32_t slot : kept) arm(slot);  // its device may be another one
}

bool AlertEngine::is_outdated(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    const TargetFacts& facts = *fleet_.target(one.target).facts;
    if (one.alert.source == AlertSource::kHealth && one.alert.type != facts.failure_type)
        return true;
    const std::string_view named =
        one.address_of_target ? std::string_view() : std::string_view(one.alert.address);
    std::string now = fingerprint_of(one.target, one.alert.type, one.alert.subject, named);
    if (now == one.alert.fingerprint) return false;
    if (alerts_.find(now) != kNone) return true;  // another open alert has become the same
    histories_.rename(one.alert.fingerprint, now);
    alerts_.change_fingerprint(slot, std::move(now));
    mark(slot, "changed");
    return false;
}

}  // namespace pollux::alert
