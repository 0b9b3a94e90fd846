#include "alert/incident_book.hpp"

#include <algorithm>

namespace pollux::alert {

std::uint32_t IncidentBook::add(model::Incident incident, bool of_failures) {
    const std::uint32_t slot = slots_.allocate();
    by_id_.emplace(incident.id, slot);
    if (of_failures) by_device_.emplace(incident.device, slot);
    if (incident.cause == model::CauseKind::kObserver) observer_ = slot;
    slots_[slot].incident = std::move(incident);
    slots_[slot].of_failures = of_failures;
    return slot;
}

std::uint32_t IncidentBook::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? kNone : found->second;
}

std::uint32_t IncidentBook::of_device(std::string_view device) const {
    const auto found = by_device_.find(device);
    return found == by_device_.end() ? kNone : found->second;
}

void IncidentBook::claim_device(std::uint32_t slot) {
    if (slots_[slot].of_failures || slots_[slot].incident.device.empty()) return;
    slots_[slot].of_failures = by_device_.emplace(slots_[slot].incident.device, slot).second;
}

void IncidentBook::mark(std::uint32_t slot, std::string_view cause) {
    IncidentSlot& incident = slots_[slot];
    if (!incident.changed) {
        incident.changed = true;
        changed_.push_back(slot);
    }
    incident.cause = cause;
}

void IncidentBook::tell(std::uint32_t slot, Telling telling) {
    IncidentSlot& incident = slots_[slot];
    const bool first = incident.telling == Telling::kNothing;
    if (first || telling == Telling::kProblem) incident.telling = telling;
}

void IncidentBook::flush(base::WallTime now, std::vector<IncidentChange>& out) {
    for (const std::uint32_t slot : changed_) {
        IncidentSlot& one = slots_[slot];
        one.changed = false;
        const bool over = one.alerts.empty() && !one.kept;
        if (!one.created) ++one.incident.version;
        if (one.created || !over) {
            const ChangeKind kind = one.created ? ChangeKind::kCreated : ChangeKind::kUpdated;
            out.push_back({kind, one.cause, one.telling, one.incident});
        }
        if (!over) {
            one.created = false;
            one.telling = Telling::kNothing;
            continue;
        }
        if (one.created) ++one.incident.version;
        one.incident.resolved_at = now;
        const bool tell = one.incident.told && one.incident.merged_into.empty();
        out.push_back({ChangeKind::kResolved, one.incident.merged_into.empty() ? "over" : "merged",
                       tell ? Telling::kRecovery : Telling::kNothing, one.incident});
        by_id_.erase(one.incident.id);
        if (one.of_failures) by_device_.erase(one.incident.device);
        if (observer_ == slot) observer_ = kNone;
        slots_.release(slot);
    }
    changed_.clear();
}

std::vector<std::uint32_t> IncidentBook::in_order() const {
    std::vector<std::uint32_t> out;
    for (const auto& [id, slot] : by_id_) out.push_back(slot);
    std::ranges::sort(out, {}, [&](std::uint32_t slot) { return slots_[slot].incident.number; });
    return out;
}

}  // namespace pollux::alert
