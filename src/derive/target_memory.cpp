#include "derive/target_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/series_key.hpp"

namespace pollux::derive {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint8_t kVersionWithoutStates = 1;
constexpr std::size_t kMaxName = 1024;
constexpr std::uint64_t kMaxPoints = 64;

enum Flag : std::uint8_t {
    kHasRaw = 1,
    kHasValue = 2,
    kHasCounted = 4,
    kWide = 8,
    kHasText = 16,
};

template <class States>
auto place_of(States& states, std::uint32_t slot, std::uint8_t ordinal) {
    return std::ranges::lower_bound(
        states, std::pair(slot, ordinal), {},
        [](const ConditionState& state) { return std::pair(state.slot, state.ordinal); });
}

}  // namespace

std::optional<double> TargetMemory::latest(std::uint32_t slot) const {
    const Series& series = series_[slot];
    return series.has_value ? std::optional(series.value) : std::nullopt;
}

bool TargetMemory::active(std::uint32_t slot, std::size_t ordinal) const {
    const auto at = place_of(states_, slot, static_cast<std::uint8_t>(ordinal));
    return at != states_.end() && at->slot == slot && at->ordinal == ordinal && at->step > 0;
}

ConditionState* TargetMemory::find_state(std::uint32_t slot, std::uint8_t ordinal) {
    const auto at = place_of(states_, slot, ordinal);
    return at != states_.end() && at->slot == slot && at->ordinal == ordinal ? &*at : nullptr;
}

ConditionState& TargetMemory::add_state(std::uint32_t slot, std::uint8_t ordinal) {
    ConditionState state;
    state.slot = slot;
    state.ordinal = ordinal;
    return *states_.insert(place_of(states_, slot, ordinal), std::move(state));
}

void TargetMemory::remove_state(std::uint32_t slot, std::uint8_t ordinal) {
    if (find_state(slot, ordinal) != nullptr) states_.erase(place_of(states_, slot, ordinal));
}

std::uint32_t TargetMemory::find(std::uint16_t metric, std::string_view row) const {
    return index_.find(series_key(metric, row), [&](std::uint32_t slot) {
        return series_[slot].metric == metric && series_[slot].row == row;
    });
}

std::uint32_t TargetMemory::append(std::uint16_t metric, std::string_view row, std::uint64_t key) {
    const auto slot = static_cast<std::uint32_t>(series_.size());
    Series& series = series_.emplace_back();
    series.metric = metric;
    series.row = std::string(row);
    series.key = key;
    index_.insert(key, slot);
    return slot;
}

void TargetMemory::forget(std::uint32_t slot) {
    Series& series = series_[slot];
    index_.erase(series.key, [&](std::uint32_t other) { return other == slot; });
    std::erase_if(states_, [slot](const ConditionState& state) { return state.slot == slot; });
    const std::uint16_t metric = series.metric;
    std::string row = std::move(series.row);
    series = Series{};
    series.metric = metric;
    series.row = std::move(row);  // history may still ask what the slot was
    series.alive = false;
    ++forgotten_;
}

void TargetMemory::compact() {
    // Forgotten series have no states; the others move up by those before them.
    std::uint32_t gone = 0;
    std::size_t next = 0;
    for (std::uint32_t slot = 0; slot < size(); ++slot) {
        if (!series_[slot].alive) ++gone;
        for (; next < states_.size() && states_[next].slot == slot; ++next) {
            states_[next].slot -= gone;
        }
    }
    std::erase_if(series_, [](const Series& series) { return !series.alive; });
    series_.shrink_to_fit();
    index_.clear();
    order_.clear();
    forgotten_ = 0;
    for (std::uint32_t slot = 0; slot < size(); ++slot) index_.insert(series_[slot].key, slot);
}

std::size_t TargetMemory::memory_bytes() const {
    std::size_t bytes = sizeof(*this) + series_.capacity() * sizeof(Series) +
                        order_.capacity() * sizeof(order_[0]) + index_.memory_bytes();
    bytes += states_.capacity() * sizeof(ConditionState);
    for (const ConditionState& state : states_) bytes += state.points.capacity() * sizeof(ValueAt);
    for (const Series& series : series_) {
        if (series.row.capacity() > 15) bytes += series.row.capacity();
        if (series.text.capacity() > 15) bytes += series.text.capacity();
    }
    return bytes;
}

void TargetMemory::encode(base::ByteWriter& out) const {
    out.u8(kVersion);
    out.u64(owner_);
    out.zigzag(last_poll_.wall.us);
    out.boolean(has_poll_);
    out.boolean(has_uptime_);
    out.varint(uptime_ticks_);
    out.varint(restarts_);
    out.varint(series_.size() - forgotten_);
    std::string_view row;
    for (const Series& series : series_) {
        if (!series.alive) continue;
        out.varint(series.metric);
        // Series of one row follow one another: its name is written once.
        const bool same_row = series.row == row && !row.empty();
        out.boolean(same_row);
        if (!same_row) out.string(series.row);
        row = series.row;
        out.u8(static_cast<std::uint8_t>(
            (series.has_raw ? kHasRaw : 0) | (series.has_value ? kHasValue : 0) |
            (series.has_counted ? kHasCounted : 0) | (series.wide ? kWide : 0) |
            (series.text.empty() ? 0 : kHasText)));
        out.zigzag((last_poll_.boot - series.at).count() / 1000);
        out.varint(series.levels);
        if (series.has_raw) out.varint(series.raw);
        if (series.has_value) out.f64(series.value);
        if (series.has_counted) out.f64(series.counted);
        if (!series.text.empty()) out.string(series.text);
    }
    out.varint(states_.size());
    std::uint32_t gone = 0;
    std::uint32_t slot = 0;
    for (const ConditionState& state : states_) {
        for (; slot < state.slot; ++slot) gone += series_[slot].alive ? 0U : 1U;
        out.varint(state.slot - gone);
        encode_state(out, state);
    }
}

void TargetMemory::encode_state(base::ByteWriter& out, const ConditionState& state) const {
    const auto age = [&](base::BootTime at) { out.zigzag((last_poll_.boot - at).count() / 1000); };
    out.u8(state.ordinal);
    out.u8(state.level);
    out.u8(state.step);
    out.boolean(state.rising);
    out.varint(state.streak);
    out.f64(state.told);
    out.boolean(state.since.has_value());
    if (state.since) age(*state.since);
    out.varint(state.points.size());
    for (const ValueAt& point : state.points) {
        age(point.at);
        out.f64(point.value);
    }
}

bool TargetMemory::decode_states(base::ByteReader& in) {
    const auto age = [&] {
        return last_poll_.boot - base::Duration(base::detail::saturating_mul(in.zigzag(), 1000));
    };
    const std::uint64_t count = in.varint();
    if (!in.ok() || count > series_.size() * model::kMaxConditionsPerMetric) return false;
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const std::uint64_t slot = in.varint();
        const std::uint8_t ordinal = in.u8();
        if (!in.ok() || slot >= series_.size() || ordinal >= model::kMaxConditionsPerMetric ||
            find_state(static_cast<std::uint32_t>(slot), ordinal) != nullptr) {
            return false;
        }
        ConditionState& state = add_state(static_cast<std::uint32_t>(slot), ordinal);
        state.level = in.u8();
        state.step = in.u8();
        state.rising = in.boolean();
        state.streak = static_cast<std::uint16_t>(in.varint());
        state.told = in.f64();
        if (in.boolean()) state.since = age();
        const std::uint64_t points = in.varint();
        if (points > kMaxPoints) return false;
        for (std::uint64_t p = 0; p < points && in.ok(); ++p) {
            const base::BootTime at = age();
            state.points.push_back({at, in.f64()});
        }
    }
    return in.ok();
}

// Before there were states, the two bits of a level said all: 2 was raised.
void TargetMemory::add_old_states() {
    for (std::uint32_t slot = 0; slot < size(); ++slot) {
        for (std::uint8_t ordinal = 0; ordinal < model::kMaxConditionsPerMetric; ++ordinal) {
            if (((unsigned{series_[slot].levels} >> (2U * ordinal)) & 3U) != 2U) continue;
            ConditionState& state = add_state(slot, ordinal);
            state.level = 1;
            state.step = 1;
            state.told = series_[slot].value;
        }
    }
}

base::Result<TargetMemory> TargetMemory::decode(std::string_view bytes, base::Instant now,
                                                std::uint32_t max_series) {
    const auto refuse = [](std::string_view why) {
        return base::internal_error(
            "derive.memory", fmt::format("the memory of a target is {}; it starts anew", why));
    };
    base::ByteReader in(bytes);
    const std::uint8_t version = in.u8();
    if (in.ok() && version != kVersion && version != kVersionWithoutStates) {
        return refuse(fmt::format("of the unknown version {}", version));
    }
    TargetMemory memory(max_series);
    if (version != kVersionWithoutStates) memory.owner_ = in.u64();
    memory.last_poll_.wall.us = in.zigzag();
    memory.has_poll_ = in.boolean();
    memory.has_uptime_ = in.boolean();
    memory.uptime_ticks_ = in.varint();
    memory.restarts_ = static_cast<std::uint32_t>(in.varint());
    // Boot time begins anew with the machine: how long ago it was is told by the wall clock.
    const base::Duration ago = std::max(now.wall - memory.last_poll_.wall, base::Duration::zero());
    memory.last_poll_.boot = now.boot - ago;
    const std::uint64_t count = in.varint();
    if (!in.ok() || count > max_series) return refuse("damaged or too large");
    std::string row;
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const auto metric = static_cast<std::uint16_t>(in.varint());
        if (!in.boolean()) row = std::string(in.string(kMaxName));
        const std::uint8_t flags = in.u8();
        const std::int64_t age = in.zigzag();
        const auto levels = static_cast<std::uint16_t>(in.varint());
        if (!in.ok() || memory.find(metric, row) != kNone) return refuse("damaged");
        Series& series = memory.series_[memory.append(metric, row, series_key(metric, row))];
        series.at =
            memory.last_poll_.boot - base::Duration(base::detail::saturating_mul(age, 1000));
        series.levels = levels;
        series.has_raw = (flags & kHasRaw) != 0;
        series.has_value = (flags & kHasValue) != 0;
        series.has_counted = (flags & kHasCounted) != 0;
        series.wide = (flags & kWide) != 0;
        if (series.has_raw) series.raw = in.varint();
        if (series.has_value) series.value = in.f64();
        if (series.has_counted) series.counted = in.f64();
        if ((flags & kHasText) != 0) series.text = std::string(in.string(kMaxName));
    }
    if (version == kVersionWithoutStates) {
        memory.add_old_states();
    } else if (!memory.decode_states(in)) {
        return refuse("damaged");
    }
    if (!in.ok() || !in.at_end()) return refuse("damaged");
    return memory;
}

}  // namespace pollux::derive
