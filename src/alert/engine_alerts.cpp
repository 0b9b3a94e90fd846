// The life of one alert: raised, repeated, cleared, resolved; time and flapping.
#include <algorithm>
#include <utility>

#include "alert/alert_engine.hpp"
#include "alert/fingerprint.hpp"
#include "base/text.hpp"

namespace pollux::alert {

using model::AlertState;
using model::ResolvedBy;
using model::SuppressedBy;

namespace {

constexpr base::WallTime kNoTime{};

// The alert itself is in front of people, or was: not only the consequence of something else.
bool stands_alone(const model::Alert& alert) {
    return alert.active_since != kNoTime && (alert.suppressed_by == SuppressedBy::kNothing ||
                                             alert.suppressed_by == SuppressedBy::kFlapping);
}

std::string_view cause_of(ResolvedBy by) {
    return by == ResolvedBy::kClear ? "cleared" : "recovered";
}

}  // namespace

base::WallTime AlertEngine::seen_at(base::WallTime at) const {
    return at == kNoTime ? now_.wall : at;
}

void AlertEngine::describe(model::Alert& alert, const Raise& what) const {
    alert.severity = what.severity;
    alert.message = base::utf8_prefix(what.message, settings_.max_text_bytes);
    alert.rule = base::utf8_prefix(what.rule, settings_.max_name_bytes);
    alert.stale = false;
    const std::size_t given = what.fields == nullptr ? 0 : what.fields->size();
    alert.fields.resize(std::min(given, settings_.max_fields));
    for (std::size_t i = 0; i < alert.fields.size(); ++i) {
        const auto& [name, value] = (*what.fields)[i];
        alert.fields[i].first = base::utf8_prefix(name, settings_.max_name_bytes);
        alert.fields[i].second = base::utf8_prefix(value, settings_.max_name_bytes);
    }
}

std::uint32_t AlertEngine::raise(const Raise& what) {
    const std::uint32_t slot = alerts_.find(what.fingerprint);
    if (slot == kNone) return create(what);
    repeat(slot, what);
    return slot;
}

std::uint32_t AlertEngine::create(const Raise& what) {
    if (alerts_.open() >= settings_.max_open) {
        ++stats_.refused;
        return kNone;
    }
    FlapHistory& history = histories_.touch(what.fingerprint);
    history.change(now_.boot, settings_.flap);
    model::Alert alert;
    alert.id = next_id();
    alert.number = next_number_++;
    alert.fingerprint = what.fingerprint;
    alert.source = what.source;
    alert.addon = what.addon;
    alert.type = base::utf8_prefix(what.type, settings_.max_name_bytes);
    alert.subject = base::utf8_prefix(what.subject, settings_.max_name_bytes);
    alert.category = base::utf8_prefix(what.category, settings_.max_name_bytes);
    alert.title =
        base::utf8_prefix(what.title.empty() ? what.type : what.title, settings_.max_title_bytes);
    alert.address = base::utf8_prefix(what.address, settings_.max_name_bytes);
    if (what.labels != nullptr) alert.labels = *what.labels;
    alert.first_seen = alert.last_seen = seen_at(what.at);
    alert.previous = history.previous;
    alert.flapping = history.flapping();
    describe(alert, what);
    const std::uint32_t slot = alerts_.add(std::move(alert));
    AlertSlot& one = alerts_[slot];
    one.missing_answer = what.missing_answer;
    one.address_of_target = what.address.empty();
    one.said_before = what.occurrences == 0 ? 0 : what.occurrences - 1;
    one.pending_until = now_.boot + what.hold;
    one.repeated_at = now_.boot;
    if (what.target != kNone) attach(slot, what.target);
    one.change = ChangeKind::kCreated;
    mark(slot, "raised");
    review(slot);
    return slot;
}

void AlertEngine::repeat(std::uint32_t slot, const Raise& what) {
    AlertSlot& one = alerts_[slot];
    model::Alert& alert = one.alert;
    const bool worse = what.severity > alert.severity;
    if (what.severity != alert.severity && !what.title.empty()) {
        alert.title = base::utf8_prefix(what.title, settings_.max_title_bytes);
    }
    describe(alert, what);
    const std::uint64_t said =
        what.occurrences > one.said_before ? what.occurrences - one.said_before : 0;
    alert.occurrences = std::max(alert.occurrences + 1, said);
    alert.last_seen = std::max(alert.last_seen, seen_at(what.at));
    one.repeated_at = now_.boot;
    if (one.hold == Hold::kVerifying) defer(slot);
    mark(slot, one.raised ? "repeated" : "raised again");
    if (worse) {
        if (alert.acknowledged && !alert.acknowledged->sticky) {
            end_acknowledgement(slot, "acknowledgement ended");
        }
        raise_severity(slot);
    }
    if (one.missing_answer != what.missing_answer) {
        // It answers now, with an error; or it no longer even answers. The cause is another one.
        one.missing_answer = what.missing_answer;
        one.hold = Hold::kNone;
        held_.erase({alert.number, slot});
        if (!what.missing_answer && alert.state != AlertState::kPending) place(slot, "answers");
    }
    if (!one.raised) {
        one.raised = true;
        one.keep_until = base::BootTime::max();
        if (alert.state == AlertState::kPending) one.pending_until = now_.boot + what.hold;
        if (one.missing_answer) one.hold = Hold::kNone;  // what is above it may have changed
        FlapHistory& history = histories_.touch(alert.fingerprint);
        history.change(now_.boot, settings_.flap);
        alert.flapping = alert.flapping || history.flapping();
        review(slot);
    } else if (one.hold == Hold::kNone &&
               (one.missing_answer || alert.state == AlertState::kPending)) {
        review(slot);
    }
}

void AlertEngine::lower(std::uint32_t slot, ResolvedBy by, base::Duration keep) {
    AlertSlot& one = alerts_[slot];
    if (!one.raised) return;
    one.raised = false;
    one.cleared_by = by;
    one.keep_until = one.alert.state == AlertState::kPending ? now_.boot : now_.boot + keep;
    one.hold = one.hold == Hold::kDecided ? Hold::kDecided : Hold::kNone;
    held_.erase({one.alert.number, slot});
    one.alert.stale = false;
    FlapHistory& history = histories_.touch(one.alert.fingerprint);
    history.change(now_.boot, settings_.flap);
    // The recovery would be the last message that is allowed: better say it once it is steady.
    if (stands_alone(one.alert) &&
        history.recent(now_.boot, settings_.flap) + 1 >= settings_.flap.tellings) {
        history.begin_flapping();
    }
    if (history.flapping()) {
        one.alert.flapping = true;
        if (one.alert.state == AlertState::kActive) {
            one.alert.state = AlertState::kSuppressed;
            one.alert.suppressed_by = SuppressedBy::kFlapping;
        }
    }
    mark(slot, "clearing");
    review(slot);
}

bool AlertEngine::review_flapping(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    if (!one.alert.flapping) return false;
    const FlapHistory* history = histories_.find(one.alert.fingerprint);
    if (history != nullptr && history->flaps(now_.boot, settings_.flap)) return true;
    one.alert.flapping = false;
    mark(slot, "steady");
    if (one.alert.suppressed_by == SuppressedBy::kFlapping && one.raised) place(slot, "steady");
    return false;
}

void AlertEngine::review(std::uint32_t slot) {
    AlertSlot& one = alerts_[slot];
    if (one.alert.acknowledged && one.acknowledged_until <= now_.boot) {
        end_acknowledgement(slot, "acknowledgement ended");
    }
    if (one.expires_at <= now_.boot) {
        resolve(slot, ResolvedBy::kExpired, {}, "expired");
        return;
    }
    const bool flaps = review_flapping(slot);
    if (!one.raised) {
        if (!flaps && one.keep_until <= now_.boot) {
            resolve(slot, one.cleared_by, {}, cause_of(one.cleared_by));
            return;
        }
    } else if (one.pending_until <= now_.boot) {
        if (one.missing_answer && one.alert.device.empty()) one.missing_answer = false;
        if (one.missing_answer && one.hold != Hold::kDecided) {
            if (one.hold == Hold::kNone) begin_hold(slot, false);
            defer(slot);
        } else if (one.alert.state == AlertState::kPending) {
            place(slot, "confirmed");
        }
    }
    arm(slot);
}

base::BootTime AlertEngine::due_of(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    base::BootTime due = one.expires_at;
    if (one.alert.acknowledged) due = std::min(due, one.acknowledged_until);
    if (one.alert.flapping) {
        const FlapHistory* history = histories_.find(one.alert.fingerprint);
        due = std::min(
            due, history == nullptr ? base::BootTime::min() : history->steady_at(settings_.flap));
    } else if (!one.raised) {
        due = std::min(due, one.keep_until);
    }
    if (!one.raised) return due;
    switch (one.hold) {
        case Hold::kNone:
            return one.alert.state == AlertState::kPending ? std::min(due, one.pending_until) : due;
        case Hold::kVerifying: return std::min(due, verification_ends(slot));
        case Hold::kSettling:
            return std::min(due, one.settle_until > observer_.waiting_since()
                                     ? one.settle_until
                                     : observer_.sample_until());
        case Hold::kDecided: break;
    }
    return due;
}

void AlertEngine::arm(std::uint32_t slot) { alerts_.arm(slot, due_of(slot)); }

void AlertEngine::resolve(std::uint32_t slot, ResolvedBy by, std::string_view who,
                          std::string_view cause) {
    AlertSlot& one = alerts_[slot];
    FlapHistory& history = histories_.touch(one.alert.fingerprint);
    history.previous = one.alert.id;
    if (stands_alone(one.alert)) history.tell(now_.boot, settings_.flap);
    one.alert.state = AlertState::kResolved;
    one.alert.resolved_by = by;
    one.alert.resolved_who = who;
    one.alert.resolved_at = now_.wall;
    one.alert.flapping = false;
    held_.erase({one.alert.number, slot});
    leave(slot, {});
    detach(slot);
    alerts_.close(slot);
    mark(slot, cause);
    one.change = ChangeKind::kResolved;
}

void AlertEngine::end_acknowledgement(std::uint32_t slot, std::string_view cause) {
    AlertSlot& one = alerts_[slot];
    one.alert.acknowledged.reset();
    one.acknowledged_until = base::BootTime::max();
    const bool alone = one.alert.suppressed_by == SuppressedBy::kNothing;
    one.alert.state = alone ? AlertState::kActive : AlertState::kSuppressed;
    mark(slot, cause);
}

void AlertEngine::set_stale(std::uint32_t target, bool stale) {
    std::vector<std::uint32_t> slots = fleet_.target(target).alerts;
    alerts_.sort(slots);
    for (const std::uint32_t slot : slots) {
        model::Alert& alert = alerts_[slot].alert;
        if (alert.source != model::AlertSource::kPoll || alert.stale == stale) continue;
        alert.stale = stale;
        mark(slot, stale ? "stale" : "fresh");
    }
}

}  // namespace pollux::alert
