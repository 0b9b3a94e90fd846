// The step of the engine, and what is written at its end.
#include <algorithm>
#include <utility>

#include "alert/alert_engine.hpp"
#include "base/uuid.hpp"

namespace pollux::alert {
namespace {

// Below this the states of a history would be counted without end.
constexpr base::Duration kShortestSlot = std::chrono::seconds(1);

}  // namespace

AlertEngine::AlertEngine(AlertSettings settings, AlertSeed seed)
    : key_(seed.key),
      next_number_(seed.first_number),
      fleet_(seed.key),
      alerts_(seed.key),
      histories_(seed.key, settings.max_histories) {
    set_settings(settings);
}

void AlertEngine::set_settings(AlertSettings settings) {
    settings_ = settings;
    settings_.flap.slot = std::max(settings_.flap.slot, kShortestSlot);
}

void AlertEngine::step(base::Instant now, std::span<const Input> inputs, Output& out) {
    out.clear();
    now_ = now;
    out_ = &out;
    if (std::exchange(reconcile_first_, false)) reconcile();
    for (const std::uint32_t slot : alerts_.take_due(now.boot)) {
        if (is_open(alerts_[slot].alert)) review(slot);
    }
    flush_alerts();
    for (turn_ = 0; turn_ < inputs.size(); ++turn_) {
        if (turn_ % kAhead == 0) look_ahead(inputs.subspan(turn_));
        std::visit([this](const auto& one) { apply(one); }, inputs[turn_]);
        flush_alerts();
    }
    recheck_doubtful();
    watch_observer();
    decide_deferred();
    flush_alerts();
    rearm_forgotten();
    incidents_.flush(now.wall, out.incidents);
    write_memory();
    out.wake_at = std::min(alerts_.next_due(), observer_.wake_at());
    if (!fleet_.doubtful().empty()) {
        out.wake_at = std::min(out.wake_at, fleet_.doubtful().begin()->first + settings_.recheck);
    }
    out_ = nullptr;
}

void AlertEngine::mark(std::uint32_t slot, std::string_view cause) {
    AlertSlot& one = alerts_[slot];
    one.cause = cause;
    if (one.changed) return;
    one.changed = true;
    changed_.push_back(slot);
}

void AlertEngine::flush_alerts() {
    const TimeCodec times(now_);
    for (const std::uint32_t slot : changed_) {
        AlertSlot& one = alerts_[slot];
        one.changed = false;
        const ChangeKind kind = std::exchange(one.change, ChangeKind::kUpdated);
        if (kind != ChangeKind::kCreated) ++one.alert.version;
        one.alert.memory = is_open(one.alert) ? one.encode_memory(times) : std::string();
        if (kind == ChangeKind::kResolved || kind == ChangeKind::kRemoved) {
            out_->alerts.push_back({kind, one.cause, std::move(one.alert)});
            alerts_.release(slot);
        } else {
            arm(slot);
            AlertChange& told = out_->alerts.add();
            told.kind = kind;
            told.cause = one.cause;
            told.alert = one.alert;
        }
    }
    changed_.clear();
}

void AlertEngine::write_memory() {
    const TimeCodec times(now_);
    fleet_.write_changes(times, out_->memory);
    histories_.write_changes(times, out_->memory);
    observer_.write_change(times, out_->memory);
    incidents_.write_changes(out_->memory);
    if (std::exchange(counters_changed_, false)) {
        out_->memory.push_back({std::string(kCountersKey), encode_counters()});
    }
}

// What flaps is looked at when that is over: nobody knows that any more.
void AlertEngine::rearm_forgotten() {
    for (const std::string& fingerprint : histories_.take_forgotten()) {
        const std::uint32_t slot = alerts_.find(fingerprint);
        if (slot != kNone) arm(slot);
    }
}

std::string AlertEngine::next_id() {
    ++ids_;
    counters_changed_ = true;
    return base::make_uuid7(now_.wall, base::siphash24(key_, ids_, 1),
                            base::siphash24(key_, ids_, 2));
}

const model::Alert* AlertEngine::find_alert(std::string_view id) const {
    const std::uint32_t slot = alerts_.find_id(id);
    return slot == kNone ? nullptr : &alerts_[slot].alert;
}

const model::Alert* AlertEngine::find_by_fingerprint(std::string_view fingerprint) const {
    const std::uint32_t slot = alerts_.find(fingerprint);
    return slot == kNone ? nullptr : &alerts_[slot].alert;
}

const model::Incident* AlertEngine::find_incident(std::string_view id) const {
    const std::uint32_t slot = incidents_.find(id);
    return slot == IncidentBook::kNone ? nullptr : &incidents_[slot].incident;
}

double AlertEngine::flap_percent(std::string_view fingerprint) const {
    const FlapHistory* history = histories_.find(fingerprint);
    return history == nullptr ? 0 : history->percent(now_.boot, settings_.flap);
}

AlertStats AlertEngine::stats() const {
    AlertStats out = stats_;
    out.open_alerts = alerts_.open();
    out.open_incidents = incidents_.size();
    out.histories = histories_.size();
    out.impaired = observer_.impaired();
    return out;
}

std::size_t AlertEngine::memory_bytes() const {
    return fleet_.memory_bytes() + alerts_.memory_bytes();
}

}  // namespace pollux::alert
