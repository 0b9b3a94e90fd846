// All of the state as rows, and back.
#include <algorithm>
#include <utility>

#include "alert/alert_engine.hpp"
#include "base/check.hpp"

namespace pollux::alert {
namespace {

constexpr std::uint8_t kVersion = 1;

// The rest of the text if it begins so.
bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::string AlertEngine::encode_counters() const {
    base::ByteWriter out;
    out.u8(kVersion);
    out.varint(next_number_);
    out.varint(next_incident_);
    out.varint(ids_);
    return out.take();
}

AlertEngine::Rows AlertEngine::rows(base::Instant now) const {
    const TimeCodec times(now);
    Rows out;
    for (const std::uint32_t slot : alerts_.in_order()) {
        out.alerts.push_back(alerts_[slot].alert);
        out.alerts.back().memory = alerts_[slot].encode_memory(times);
    }
    for (const std::uint32_t slot : incidents_.in_order()) {
        out.incidents.push_back(incidents_[slot].incident);
    }
    fleet_.write_all(times, out.memory);
    histories_.write_all(times, out.memory);
    observer_.write_all(times, out.memory);
    incidents_.write_all(out.memory);
    out.memory.push_back({std::string(kCountersKey), encode_counters()});
    return out;
}

void AlertEngine::restore(base::Instant now, std::shared_ptr<const AlertFleet> fleet, Rows rows) {
    POLLUX_CHECK_MSG(alerts_.open() == 0 && incidents_.size() == 0,
                     "restored after the first step");
    now_ = now;
    const TimeCodec times(now);
    fleet_.load(std::move(fleet));
    for (const MemoryRow& row : rows.memory) {
        if (!restore_memory(row, times)) ++stats_.damaged_rows;
    }
    histories_.settle();
    restore_incidents(std::move(rows.incidents));
    std::ranges::sort(rows.alerts, {}, &model::Alert::number);
    for (model::Alert& alert : rows.alerts) restore_alert(std::move(alert), times);
    // An incident whose alerts are all gone ends with the first step.
    for (const std::uint32_t slot : incidents_.in_order()) {
        const IncidentSlot& one = incidents_[slot];
        if (one.alerts.empty() && !one.kept) incidents_.mark(slot, "over");
    }
    changed_.clear();
    reconcile_first_ = true;
}

std::vector<Verify> AlertEngine::ask_again(base::Instant now) {
    now_ = now;
    std::vector<Verify> ask;
    for (const auto& [number, slot] : held_) {
        AlertSlot& one = alerts_[slot];
        if (one.hold != Hold::kVerifying || one.target == kNone) continue;
        for (const std::uint32_t device : unknown_to(slot)) {
            if (fleet_.ask_again(device, now.boot)) ask.push_back({fleet_.device(device).name});
        }
        one.verify_until = now.boot + settings_.verify_timeout;
        mark(slot, "verifying");
        arm(slot);
    }
    observer_.ask_again(now.boot, fleet_, settings_, ask);
    return ask;
}

bool AlertEngine::restore_memory(const MemoryRow& row, const TimeCodec& times) {
    std::string_view rest = row.key;
    if (take_prefix(rest, FleetMap::kTargetPrefix)) {
        return fleet_.target_by_id(rest) == kNone || fleet_.restore_target(rest, row.bytes);
    }
    if (take_prefix(rest, FleetMap::kDevicePrefix)) {
        return fleet_.device_by_name(rest) == kNone ||
               fleet_.restore_device(rest, row.bytes, times);
    }
    if (take_prefix(rest, HistoryBook::kPrefix)) return histories_.restore(rest, row.bytes, times);
    if (take_prefix(rest, IncidentBook::kPrefix)) {
        incidents_.restore_failures(rest, row.bytes);
        return true;
    }
    if (row.key == ObserverWatch::kKey) return observer_.restore(row.bytes, times);
    if (row.key != kCountersKey) return false;
    base::ByteReader in(row.bytes);
    const bool known = in.u8() == kVersion;
    const std::uint64_t number = in.varint();
    const std::uint64_t incident = in.varint();
    const std::uint64_t ids = in.varint();
    if (!known || !in.ok() || !in.at_end()) return false;
    next_number_ = std::max(next_number_, number);
    next_incident_ = std::max(next_incident_, incident);
    ids_ = std::max(ids_, ids);
    return true;
}

void AlertEngine::restore_incidents(std::vector<model::Incident> incidents) {
    std::ranges::sort(incidents, {}, &model::Incident::number);
    for (model::Incident& incident : incidents) {
        if (incident.resolved_at != base::WallTime{}) continue;
        next_incident_ = std::max(next_incident_, incident.number + 1);
        const bool observer = incident.cause == model::CauseKind::kObserver;
        const std::uint32_t slot = incidents_.restore(std::move(incident));
        incidents_[slot].kept = observer && observer_.impaired();
    }
}

void AlertEngine::restore_alert(model::Alert alert, const TimeCodec& times) {
    if (!is_open(alert) || alerts_.find(alert.fingerprint) != kNone) {
        ++stats_.damaged_rows;
        return;
    }
    next_number_ = std::max(next_number_, alert.number + 1);
    const std::uint32_t slot = alerts_.add(std::move(alert));
    AlertSlot& one = alerts_[slot];
    const std::string memory = std::exchange(one.alert.memory, {});
    if (!one.decode_memory(memory, times)) ++stats_.damaged_rows;
    one.alert.memory = memory;
    const std::uint32_t target = fleet_.target_by_id(one.alert.target_id);
    if (!one.alert.target_id.empty() && target != kNone) {
        // As it was told: what changed since is an event of the first step.
        one.target = target;
        one.place_at_target = static_cast<std::uint32_t>(fleet_.target(target).alerts.size());
        fleet_.target(target).alerts.push_back(slot);
    }
    const std::uint32_t incident = incidents_.find(one.alert.incident);
    if (incident != IncidentBook::kNone) {
        one.incident = incident;
        one.place_in_incident = static_cast<std::uint32_t>(incidents_[incident].alerts.size());
        incidents_[incident].alerts.push_back(slot);
        one.counted = one.alert.suppressed_by == model::SuppressedBy::kParent ||
                      one.alert.suppressed_by == model::SuppressedBy::kObserver;
        if (one.counted) ++incidents_[incident].suppressed;
    } else if (one.alert.state != model::AlertState::kPending) {
        one.alert.state = model::AlertState::kPending;  // its incident is lost: it gets a new one
        one.hold = Hold::kNone;
    }
    if (one.raised && one.missing_answer && one.hold != Hold::kDecided && one.hold != Hold::kNone) {
        held_.insert({one.alert.number, slot});
    }
    arm(slot);
}

}  // namespace pollux::alert
