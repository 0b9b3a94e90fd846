#include "derive/target_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/series_key.hpp"

namespace pollux::derive {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMaxName = 1024;

enum Flag : std::uint8_t {
    kHasRaw = 1,
    kHasValue = 2,
    kHasCounted = 4,
    kWide = 8,
    kHasText = 16,
};

}  // namespace

std::optional<double> TargetMemory::latest(std::uint32_t slot) const {
    const Series& series = series_[slot];
    return series.has_value ? std::optional(series.value) : std::nullopt;
}

bool TargetMemory::active(std::uint32_t slot, std::size_t ordinal) const {
    return ((unsigned{series_[slot].levels} >> (2 * ordinal)) & 3U) == 2U;
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
    const std::uint16_t metric = series.metric;
    std::string row = std::move(series.row);
    series = Series{};
    series.metric = metric;
    series.row = std::move(row);  // history may still ask what the slot was
    series.alive = false;
    ++forgotten_;
}

void TargetMemory::compact() {
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
    for (const Series& series : series_) {
        if (series.row.capacity() > 15) bytes += series.row.capacity();
        if (series.text.capacity() > 15) bytes += series.text.capacity();
    }
    return bytes;
}

void TargetMemory::encode(base::ByteWriter& out) const {
    out.u8(kVersion);
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
}

base::Result<TargetMemory> TargetMemory::decode(std::string_view bytes, base::Instant now,
                                                std::uint32_t max_series) {
    const auto refuse = [](std::string_view why) {
        return base::internal_error(
            "derive.memory", fmt::format("the memory of a target is {}; it starts anew", why));
    };
    base::ByteReader in(bytes);
    if (const auto version = in.u8(); in.ok() && version != kVersion) {
        return refuse(fmt::format("of the unknown version {}", version));
    }
    TargetMemory memory(max_series);
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
    if (!in.ok() || !in.at_end()) return refuse("damaged");
    return memory;
}

}  // namespace pollux::derive
