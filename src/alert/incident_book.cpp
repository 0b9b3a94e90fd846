#include "alert/incident_book.hpp"

#include <algorithm>
#include <utility>

#include "base/siphash.hpp"

namespace pollux::alert {
namespace {

// Ids are made by us: nobody can choose them so that they collide.
std::uint64_t hash_of(std::string_view id) {
    return base::siphash24(base::SipKey{0x696e636964656e74, 0x626f6f6b}, id);
}

}  // namespace

std::uint32_t IncidentBook::add(model::Incident incident, bool of_failures) {
    const std::uint32_t slot = slots_.allocate();
    by_id_.insert(hash_of(incident.id), slot);
    const bool claims = of_failures && by_device_.emplace(incident.device, slot).second;
    if (claims) changed_devices_.push_back(incident.device);
    if (incident.cause == model::CauseKind::kObserver) observer_ = slot;
    slots_[slot].incident = std::move(incident);
    slots_[slot].of_failures = claims;
    return slot;
}

std::uint32_t IncidentBook::find(std::string_view id) const {
    return by_id_.find(hash_of(id), has_id(id));
}

std::uint32_t IncidentBook::of_device(std::string_view device) const {
    const auto found = by_device_.find(device);
    return found == by_device_.end() ? kNone : found->second;
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
            out.emplace_back(kind, one.cause, one.telling, one.incident);
        }
        if (!over) {
            one.created = false;
            one.telling = Telling::kNothing;
            continue;
        }
        if (one.created) ++one.incident.version;
        one.incident.resolved_at = now;
        by_id_.erase(hash_of(one.incident.id), has_id(one.incident.id));
        if (one.of_failures) {
            by_device_.erase(one.incident.device);
            changed_devices_.push_back(one.incident.device);
        }
        if (observer_ == slot) observer_ = kNone;
        const Telling telling = one.incident.told ? Telling::kRecovery : Telling::kNothing;
        const std::string_view cause = one.incident.merged_into.empty() ? "over" : "merged";
        out.emplace_back(ChangeKind::kResolved, cause, telling, std::move(one.incident));
        slots_.release(slot);
    }
    changed_.clear();
}

void IncidentBook::write_changes(std::vector<MemoryRow>& out) {
    std::ranges::sort(changed_devices_);
    const auto twice = std::ranges::unique(changed_devices_);
    changed_devices_.erase(twice.begin(), twice.end());
    for (const std::string& device : changed_devices_) {
        const std::uint32_t slot = of_device(device);
        out.push_back({std::string(kPrefix) + device,
                       slot == kNone ? std::string() : slots_[slot].incident.id});
    }
    changed_devices_.clear();
}

void IncidentBook::write_all(std::vector<MemoryRow>& out) const {
    for (const auto& [device, slot] : by_device_) {
        out.push_back({std::string(kPrefix) + device, slots_[slot].incident.id});
    }
}

void IncidentBook::restore_failures(std::string_view device, std::string_view id) {
    restored_.insert_or_assign(std::string(device), std::string(id));
}

std::uint32_t IncidentBook::restore(model::Incident incident) {
    const auto named = restored_.find(incident.device);
    const bool of_failures = incident.cause == model::CauseKind::kDevice ||
                             (named != restored_.end() && named->second == incident.id);
    const std::uint32_t slot = add(std::move(incident), of_failures);
    changed_devices_.clear();  // it is written
    return slot;
}

std::vector<std::uint32_t> IncidentBook::in_order() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t slot = 0; slot < slots_.capacity(); ++slot) {
        if (slots_.is_live(slot)) out.push_back(slot);
    }
    std::ranges::sort(out, {}, [&](std::uint32_t slot) { return slots_[slot].incident.number; });
    return out;
}

}  // namespace pollux::alert
