#include "derive/condition_keeper.hpp"

#include <bit>

#include "derive/series_key.hpp"

namespace pollux::derive {

using model::ConditionKind;
using model::Level;

namespace {

// Two bits of a series per condition.
constexpr unsigned kNothing = 0;     // never decided
constexpr unsigned kClear = 1;       // and nothing to remember
constexpr unsigned kHasState = 2;    // see TargetMemory::states_
constexpr unsigned kBeganWrong = 3;  // never clear yet, and that is waited for (after_clear)

// Parts of Observation::alarms.
enum Alarm : std::uint64_t { kAlarmActive, kAlarmOpen, kAlarmOver };

// So many points of a window are kept: its edges are that exact.
constexpr int kWindowParts = 12;

}  // namespace

ConditionKeeper::ConditionKeeper(const model::Addon& addon, const model::AlertPolicy& policy,
                                 base::Instant now, TargetMemory& memory, model::Observation& out,
                                 std::uint64_t& digest)
    : addon_(addon), now_(now), memory_(memory), out_(out), digest_(digest) {
    if (policy.types.empty()) return;
    rules_.resize(addon.conditions.size());
    for (std::size_t i = 0; i < addon.conditions.size(); ++i) {
        const auto found = policy.types.find(addon.conditions[i].name);
        if (found != policy.types.end()) rules_[i] = &found->second;
    }
}

void ConditionKeeper::take(const model::MetricDef& metric, std::uint32_t slot,
                           const FreshValue& fresh) {
    for (std::size_t i = 0; i < metric.conditions.size(); ++i) {
        decide({metric.conditions[i], static_cast<std::uint8_t>(i), slot}, fresh);
    }
}

void ConditionKeeper::miss(const model::MetricDef& metric, std::uint32_t slot, bool seen) {
    for (std::size_t i = 0; i < metric.conditions.size(); ++i) {
        const Place at{metric.conditions[i], static_cast<std::uint8_t>(i), slot};
        if (!limits_at(at).enabled) {
            disable(at);
        } else if (addon_.conditions[at.condition].kind == ConditionKind::kAbsent) {
            look_for_absence(at, seen);
        } else {
            leave_open(at);
        }
    }
}

void ConditionKeeper::lose(const model::MetricDef& metric, std::uint32_t slot) {
    for (std::size_t i = 0; i < metric.conditions.size(); ++i) {
        const Place at{metric.conditions[i], static_cast<std::uint8_t>(i), slot};
        const ConditionState* state = state_at(at);
        if (state == nullptr || state->step == 0) continue;
        out_.lost.push_back({at.condition, state->step, memory_.series_[slot].row});
        add_alarm(at, kAlarmOver, state->step);
    }
}

ConditionLimits ConditionKeeper::limits_at(const Place& at) const {
    const model::AlertRule* rule = rules_.empty() ? nullptr : rules_[at.condition];
    return limits_of(addon_.conditions[at.condition], rule, memory_.series_[at.slot].row);
}

void ConditionKeeper::decide(const Place& at, const FreshValue& fresh) {
    const model::ConditionDef& condition = addon_.conditions[at.condition];
    const ConditionLimits limits = limits_at(at);
    if (!limits.enabled) return disable(at);
    const auto either = [](bool triggered) {
        return triggered ? Judgement{Level::kTriggered, 1} : Judgement{Level::kClear, 0};
    };
    double value = fresh.number;
    switch (condition.kind) {
        case ConditionKind::kAbsent: return look_for_absence(at, true);
        case ConditionKind::kChanged: return settle(at, either(fresh.changed), value);
        case ConditionKind::kRate: {
            const auto moved = rate(at, fresh);
            if (!moved) return leave_open(at);
            value = *moved;
            break;
        }
        case ConditionKind::kValue: break;
    }
    if (!condition.word.empty()) {
        const bool equal = fresh.word == condition.word;
        return settle(at, either(equal == (condition.comparison == model::Comparison::kEqual)),
                      value);
    }
    const ConditionState* state = state_at(at);
    settle(at, judge(condition, limits, value, state == nullptr ? std::uint8_t{0} : state->level),
           value);
}

// An alert that is open nevertheless, because this memory was lost, stays as it is.
bool ConditionKeeper::began_wrong(const Place& at, Judgement judgement, double value) {
    const unsigned bits = bits_at(at);
    if (judgement.step == 0 || (bits != kNothing && bits != kBeganWrong)) return false;
    set_bits(at, kBeganWrong);
    add_alarm(at, kAlarmOpen, 0);
    report(at,
           {.condition = at.condition, .level = judgement.level, .slot = at.slot, .value = value},
           1U + std::uint64_t{judgement.step});
    return true;
}

// The good way: clear, and nothing to remember.
void ConditionKeeper::settle(const Place& at, Judgement judgement, double value) {
    if (addon_.conditions[at.condition].after_clear && began_wrong(at, judgement, value)) return;
    ConditionState* state = state_at(at);
    model::ConditionLevel level{
        .condition = at.condition, .level = judgement.level, .slot = at.slot, .value = value};
    if (state == nullptr && judgement.step == 0) {
        set_bits(at, kClear);
        if (judgement.level != Level::kClear) add_alarm(at, kAlarmOpen, 0);
        return report(at, level, 1);
    }
    if (state == nullptr) {
        set_bits(at, kHasState);
        state = &memory_.add_state(at.slot, at.ordinal);
    }
    const model::ConditionDef& condition = addon_.conditions[at.condition];
    const std::uint8_t was = state->step;
    const bool rising = judgement.step > was;
    state->level = judgement.step;
    if (judgement.step == was || rising != state->rising) state->streak = 0;
    state->rising = rising;
    if (judgement.step != was &&
        ++state->streak >= (rising ? condition.failures : condition.recoveries)) {
        state->step = judgement.step;
        state->streak = 0;
    }
    const double moved = value > state->told ? value - state->told : state->told - value;
    const bool far = condition.min_delta > 0 && moved >= condition.min_delta;
    level.news = state->step != was || far;
    if (level.news) state->told = value;
    level.active = state->step > 0;
    level.step = state->step;
    level.told = state->told;
    level.ended = state->step == 0 ? was : std::uint8_t{0};
    if (level.active) {
        // Another bad word is news too.
        const std::uint64_t what = condition.word.empty()
                                       ? std::bit_cast<std::uint64_t>(state->told + 0.0)
                                       : base::siphash24(kDigestKey, memory_.series_[at.slot].text);
        add_alarm(at, kAlarmActive + (std::uint64_t{state->step} << 8U), what);
    }
    if (level.ended > 0) add_alarm(at, kAlarmOver, level.ended);
    if (is_open(level)) add_alarm(at, kAlarmOpen, 0);
    const std::uint64_t meaning = 1U + std::uint64_t{judgement.step};
    if (state->is_empty()) {
        memory_.remove_state(at.slot, at.ordinal);
        set_bits(at, kClear);
    }
    report(at, level, meaning);
}

// No value: it stays what it was.
void ConditionKeeper::leave_open(const Place& at) {
    const ConditionState* state = state_at(at);
    model::ConditionLevel level{.condition = at.condition, .slot = at.slot};
    if (state != nullptr) {
        level.step = state->step;
        level.active = state->step > 0;
        level.told = state->told;
    }
    add_alarm(at, kAlarmOpen, level.step);
    report(at, level, 0);
}

void ConditionKeeper::disable(const Place& at) {
    model::ConditionLevel level{.condition = at.condition, .slot = at.slot};
    if (const ConditionState* state = state_at(at)) {
        level.ended = state->step;
        memory_.remove_state(at.slot, at.ordinal);
    }
    set_bits(at, kNothing);
    level.disabled = true;
    if (level.ended > 0) add_alarm(at, kAlarmOver, level.ended);
    report(at, level, 0);
}

void ConditionKeeper::look_for_absence(const Place& at, bool seen) {
    ConditionState* state = state_at(at);
    if (seen) {
        if (state != nullptr) state->since.reset();
        return settle(at, {Level::kClear, 0}, 0);
    }
    if (state == nullptr) {
        set_bits(at, kHasState);
        state = &memory_.add_state(at.slot, at.ordinal);
    }
    if (!state->since) state->since = now_.boot;
    const base::Duration gone = now_.boot - *state->since;
    const bool long_gone = gone >= addon_.conditions[at.condition].absent;
    settle(at, long_gone ? Judgement{Level::kTriggered, 1} : Judgement{Level::kBetween, 0},
           base::to_seconds(gone));
}

// Per unit of time, between two polls or over the window; nothing while there is too little to say.
std::optional<double> ConditionKeeper::rate(const Place& at, const FreshValue& fresh) {
    const model::ConditionDef& condition = addon_.conditions[at.condition];
    const auto between = [&](const ValueAt& from) -> std::optional<double> {
        const base::Duration elapsed = now_.boot - from.at;
        if (elapsed <= base::Duration::zero() ||
            elapsed > TargetMemory::kLongestGap + condition.window) {
            return std::nullopt;
        }
        return (fresh.number - from.value) / base::to_seconds(elapsed) *
               base::to_seconds(condition.rate_unit);
    };
    if (condition.window == base::Duration::zero()) {
        return fresh.before ? between(*fresh.before) : std::nullopt;
    }
    ConditionState* state = state_at(at);
    if (state == nullptr) {
        set_bits(at, kHasState);
        state = &memory_.add_state(at.slot, at.ordinal);
    }
    auto& points = state->points;
    while (points.size() > 1 && now_.boot - points[1].at >= condition.window) {
        points.erase(points.begin());
    }
    std::optional<double> moved;
    if (!points.empty() && now_.boot - points.front().at >= condition.window) {
        moved = between(points.front());
        if (!moved) points.clear();
    }
    if (points.empty() || now_.boot - points.back().at >= condition.window / kWindowParts) {
        points.push_back({now_.boot, fresh.number});
    }
    return moved;
}

void ConditionKeeper::report(const Place& at, const model::ConditionLevel& level,
                             std::uint64_t meaning) {
    out_.conditions.push_back(level);
    digest_ += base::siphash24(kDigestKey, kPartLevel + (std::uint64_t{at.condition} << 8U),
                               memory_.series_[at.slot].key, meaning);
}

void ConditionKeeper::add_alarm(const Place& at, std::uint64_t what, std::uint64_t value) {
    out_.alarms += base::siphash24(kDigestKey, what + (std::uint64_t{at.condition} << 16U),
                                   memory_.series_[at.slot].key, value);
}

void ConditionKeeper::set_bits(const Place& at, unsigned bits) {
    std::uint16_t& levels = memory_.series_[at.slot].levels;
    const unsigned shift = 2U * at.ordinal;
    levels = static_cast<std::uint16_t>((levels & ~(3U << shift)) | (bits << shift));
}

unsigned ConditionKeeper::bits_at(const Place& at) const {
    return (unsigned{memory_.series_[at.slot].levels} >> (2U * at.ordinal)) & 3U;
}

ConditionState* ConditionKeeper::state_at(const Place& at) {
    return bits_at(at) == kHasState ? memory_.find_state(at.slot, at.ordinal) : nullptr;
}

}  // namespace pollux::derive
