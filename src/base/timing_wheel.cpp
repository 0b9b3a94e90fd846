#include "base/timing_wheel.hpp"

#include <algorithm>
#include <bit>

namespace pollux::base {
namespace {

constexpr std::uint64_t kNanosPerTick = 1'000'000;
constexpr std::uint64_t kHorizon = 0xFFFFFFFFULL;  // the furthest tick, relative to now
constexpr std::size_t kTopLevel = 3;

// Only small buffers are kept: a large one under a few entries would waste more than it saves.
constexpr std::size_t kLargestSpare = 512;
constexpr std::size_t kMostSpareEntries = 131'072;
constexpr std::size_t kLargestIncoming = 8'192;

constexpr std::size_t kStaleAllowance = 4'096;

constexpr unsigned level_shift(std::size_t level) { return static_cast<unsigned>(8 * level); }

constexpr std::size_t slot_of(std::uint64_t tick, std::size_t level) {
    return static_cast<std::size_t>((tick >> level_shift(level)) & 0xFF);
}

}  // namespace

TimingWheel::TimingWheel(BootTime origin)
    : cursor_(tick_at_or_before(origin)), now_tick_(cursor_) {}

std::uint64_t TimingWheel::tick_at_or_after(BootTime time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ceil_ms(time)));
}

std::uint64_t TimingWheel::tick_at_or_before(BootTime time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.ns)) / kNanosPerTick;
}

BootTime TimingWheel::time_of_tick(std::uint64_t tick) {
    return BootTime{} + saturating_mul(Duration{kNanosPerTick}, static_cast<std::int64_t>(tick));
}

std::uint64_t TimingWheel::full_tick(std::uint32_t tick_low) const {
    return cursor_ + (tick_low - static_cast<std::uint32_t>(cursor_));
}

std::uint32_t TimingWheel::arm(std::uint32_t id, BootTime due) {
    const std::uint64_t tick = std::clamp(tick_at_or_after(due), now_tick_, now_tick_ + kHorizon);
    const Entry entry{id, static_cast<std::uint32_t>(tick)};
    ++size_;
    if (tick == now_tick_) {
        ready_.push_back(entry);
    } else if (advancing_) {
        incoming_.push_back(entry);
    } else {
        place(entry);
    }
    return entry.tick_low;
}

void TimingWheel::place(Entry entry) {
    const std::uint64_t tick = full_tick(entry.tick_low);
    const auto differing_bits = static_cast<std::size_t>(std::bit_width(tick ^ cursor_));
    const std::size_t level =
        differing_bits == 0 ? 0 : std::min(kTopLevel, (differing_bits - 1) / 8);
    const std::size_t slot = slot_of(tick, level);
    Entries& entries = levels_[level].slots[slot];
    if (entries.capacity() == 0 && !spares_.empty()) {
        entries = std::move(spares_.back());
        spares_.pop_back();
        spare_entries_ -= entries.capacity();
    }
    entries.push_back(entry);
    levels_[level].occupied[slot / 64] |= std::uint64_t{1} << (slot % 64);
}

TimingWheel::Entries TimingWheel::take_slot(std::size_t level, std::size_t slot) {
    levels_[level].occupied[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    return std::exchange(levels_[level].slots[slot], {});
}

void TimingWheel::cascade(const Position& position) {
    Entries entries = take_slot(position.level, position.slot);
    for (const Entry entry : entries) place(entry);
    recycle(std::move(entries));
}

TimingWheel::Position TimingWheel::find_in_level(std::size_t level, std::size_t from) const {
    const std::array<std::uint64_t, kWordsPerLevel>& occupied = levels_[level].occupied;
    for (std::size_t slot = from; slot < kSlots; slot = (slot / 64 + 1) * 64) {
        const std::uint64_t rest = occupied[slot / 64] >> (slot % 64);
        if (rest == 0) continue;
        const std::size_t found = slot + static_cast<std::size_t>(std::countr_zero(rest));
        const unsigned shift = level_shift(level);
        // The cursor's tick with this level's byte replaced and the lower ones cleared.
        const std::uint64_t above = cursor_ >> shift >> 8 << 8;
        return {(above | found) << shift, level, found};
    }
    return {};
}

TimingWheel::Position TimingWheel::first_position() const {
    return position_after({cursor_, 0, slot_of(cursor_, 0)});
}

TimingWheel::Position TimingWheel::position_after(const Position& position) const {
    constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;
    const std::size_t top = slot_of(cursor_, kTopLevel);
    const bool wrapped = position.level == kTopLevel && position.slot <= top;
    if (!wrapped) {
        for (std::size_t level = position.level; level < kLevels; ++level) {
            const std::size_t last =
                level == position.level ? position.slot : slot_of(cursor_, level);
            const Position found = find_in_level(level, last + 1);
            if (found.tick != kNoTick) return found;
        }
    }
    // Level 3 holds ticks up to a whole turn ahead: its first slots come after its last ones.
    Position found = find_in_level(kTopLevel, wrapped ? position.slot + 1 : 0);
    if (found.tick == kNoTick || found.slot > top) return {};
    found.tick += kTurn;
    return found;
}

bool TimingWheel::take_next_tick(std::uint64_t last, Entries& due) {
    for (;;) {
        const Position next = first_position();
        if (next.tick > last) return false;
        cursor_ = next.tick;
        // Entries for the first tick of a higher slot come down into the cursor's own slot.
        if (next.level > 0) cascade(next);
        const std::size_t slot = slot_of(cursor_, 0);
        if (levels_[0].slots[slot].empty()) continue;
        due = take_slot(0, slot);
        return true;
    }
}

void TimingWheel::begin_advance(std::uint64_t target) {
    POLLUX_CHECK_MSG(!advancing_, "advance() was called from fire()");
    advancing_ = true;
    now_tick_ = std::max(now_tick_, target);
}

void TimingWheel::end_advance() {
    cursor_ = now_tick_;
    advancing_ = false;
    for (const Entry entry : incoming_) place(entry);
    incoming_.clear();
    if (incoming_.capacity() > kLargestIncoming) incoming_ = {};
    stale_ = std::min(stale_, size_);
}

BootTime TimingWheel::next_event() const {
    if (!ready_.empty()) return time_of_tick(now_tick_);
    const Position next = first_position();
    return next.tick == kNoTick ? BootTime::max() : time_of_tick(next.tick);
}

bool TimingWheel::wants_compaction() const {
    const std::size_t dead = std::min(stale_, size_);
    return dead > size_ - dead + kStaleAllowance;
}

void TimingWheel::recycle(Entries&& entries) {
    Entries buffer = std::move(entries);
    entries = {};
    if (buffer.capacity() == 0 || buffer.capacity() > kLargestSpare) return;
    if (spare_entries_ + buffer.capacity() > kMostSpareEntries) return;
    buffer.clear();
    spare_entries_ += buffer.capacity();
    spares_.push_back(std::move(buffer));
}

TimingWheel::Entries TimingWheel::sorted_by_tick(const Entries& entries) const {
    // The distance to the cursor above the position: one key that keeps the order within a tick.
    std::vector<std::uint64_t> keys(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        keys[i] = (full_tick(entries[i].tick_low) - cursor_) << 32 | i;
    }
    std::sort(keys.begin(), keys.end());
    Entries sorted;
    sorted.reserve(entries.size());
    for (const std::uint64_t key : keys) sorted.push_back(entries[key & 0xFFFFFFFF]);
    return sorted;
}

std::size_t TimingWheel::memory_bytes() const {
    std::size_t entries = ready_.capacity() + incoming_.capacity() + spare_entries_;
    for (const Level& level : levels_) {
        for (const Entries& slot : level.slots) entries += slot.capacity();
    }
    return sizeof(*this) + entries * sizeof(Entry) + spares_.capacity() * sizeof(Entries);
}

}  // namespace pollux::base
