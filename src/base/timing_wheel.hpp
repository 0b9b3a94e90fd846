// A hierarchical timing wheel: 4 levels of 256 slots, one tick per millisecond.
//
// Not thread-safe. An entry is 8 bytes and cannot be removed: the owner remembers the tick that
// arm() returned and, when an entry fires, ignores it unless it still waits for exactly that tick.
// So cancelling and moving cost nothing, and cascading streams memory without touching owners.
//
// Invariants
// 1. Outside advance() every entry in a slot has now_tick_ < tick < now_tick_ + 2^32, which makes
//    the low 32 bits of a tick unambiguous.
// 2. Level = the highest byte in which an entry's tick differs from the cursor, slot = that byte.
//    So all of level n comes before all of level n + 1; only level 3 wraps around.
// 3. A slot is emptied into lower levels at the moment the cursor enters it, before anything is
//    armed there directly: within a tick, entries keep the order in which they were armed.
// 4. A slot's bit in the bitmap is set if and only if the slot has entries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/time.hpp"

namespace pollux::base {

class TimingWheel {
  public:
    explicit TimingWheel(BootTime origin);

    // The first tick that is not before `time`; 0 for times before boot.
    static std::uint64_t tick_at_or_after(BootTime time);

    // Arms an entry and returns the low 32 bits of its tick, which advance() passes to fire().
    // Never early: the tick is rounded up. A due time that is not after now fires at the next
    // advance(); one further away than 2^32 - 1 ticks (49 days) fires there, and the owner, seeing
    // that it is early, arms again. May be called from fire().
    std::uint32_t arm(std::uint32_t id, BootTime due);

    // Fires all entries whose tick is not after `now`, ordered by tick and then by arm(). What
    // fire() itself arms for now or earlier waits for the next advance(), so this always ends. A
    // `now` that goes back counts as the latest one. fire(id, tick_low) may return whether the
    // entry was live; false takes back one note_stale(). It must not throw.
    // upcoming(id) is called for an entry a few before it fires, so that its owner can prefetch.
    template <class Fire, class Upcoming>
    void advance(BootTime now, Fire&& fire, Upcoming&& upcoming);
    template <class Fire>
    void advance(BootTime now, Fire&& fire) {
        advance(now, fire, [](std::uint32_t) {});
    }

    // When advance() will next have something to do: the tick of the next entry, or up to the
    // length of a slot earlier, when a slot must be redistributed. BootTime::max() if there are no
    // entries.
    BootTime next_event() const;

    // Entries, dead ones included.
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    // The owner says that it no longer waits for one of its entries.
    void note_stale() { ++stale_; }

    // Whether dead entries outnumber live ones by enough for compact() to pay.
    bool wants_compaction() const;

    // Drops all entries for which is_live(id, tick_low) is false. Not from fire().
    template <class IsLive>
    void compact(IsLive&& is_live);

    // Visits entries as advance() would fire them until visit(id, tick_low) returns false. Sorts a
    // slot of the higher levels at a time, so the first few are cheap. Not from fire().
    template <class Visit>
    void visit_in_order(Visit&& visit) const;

    std::size_t memory_bytes() const;

  private:
    struct Entry {
        std::uint32_t id;
        std::uint32_t tick_low;
    };
    static_assert(sizeof(Entry) == 8);
    using Entries = std::vector<Entry>;

    static constexpr std::size_t kLevels = 4;
    static constexpr std::size_t kSlots = 256;
    static constexpr std::size_t kWordsPerLevel = kSlots / 64;
    static constexpr std::uint64_t kNoTick = ~std::uint64_t{0};

    struct Level {
        std::array<std::uint64_t, kWordsPerLevel> occupied{};
        std::array<Entries, kSlots> slots;
    };

    // The next slot in the order of time, and the tick at which it begins.
    struct Position {
        std::uint64_t tick = kNoTick;
        std::size_t level = 0;
        std::size_t slot = 0;
    };

    static BootTime time_of_tick(std::uint64_t tick);
    static std::uint64_t tick_at_or_before(BootTime time);

    std::uint64_t full_tick(std::uint32_t tick_low) const;
    void place(Entry entry);
    Entries take_slot(std::size_t level, std::size_t slot);
    void cascade(const Position& position);
    // The first slot at or after `position.tick` in which to look for entries, or kNoTick.
    Position first_position() const;
    Position position_after(const Position& position) const;
    Position find_in_level(std::size_t level, std::size_t from) const;
    // Moves the cursor to the next tick with entries, not after `last`, and takes them out.
    bool take_next_tick(std::uint64_t last, Entries& due);
    void begin_advance(std::uint64_t target);
    void end_advance();
    void recycle(Entries&& entries);
    Entries sorted_by_tick(const Entries& entries) const;

    template <class Fire, class Upcoming>
    void fire_all(const Entries& entries, Fire& fire, Upcoming& upcoming);
    template <class IsLive>
    std::size_t drop_dead(Entries& entries, IsLive& is_live);

    std::array<Level, kLevels> levels_;
    Entries ready_;                // due when armed; tick is now_tick_
    Entries incoming_;             // armed by fire(), placed when advance() ends
    std::vector<Entries> spares_;  // empty buffers for slots that fill again
    std::size_t spare_entries_ = 0;
    std::uint64_t cursor_;    // all slots up to this tick are empty; now_tick_ outside advance()
    std::uint64_t now_tick_;  // floor of the latest `now`
    std::size_t size_ = 0;
    std::size_t stale_ = 0;
    bool advancing_ = false;
};

template <class Fire, class Upcoming>
void TimingWheel::fire_all(const Entries& entries, Fire& fire, Upcoming& upcoming) {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < std::min(kAhead, entries.size()); ++i) upcoming(entries[i].id);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i + kAhead < entries.size()) upcoming(entries[i + kAhead].id);
        const Entry entry = entries[i];
        --size_;
        using Answer = std::invoke_result_t<Fire&, std::uint32_t, std::uint32_t>;
        if constexpr (std::is_same_v<Answer, bool>) {
            const bool was_live = fire(entry.id, entry.tick_low);
            if (!was_live && stale_ > 0) --stale_;
        } else {
            fire(entry.id, entry.tick_low);
        }
    }
}

template <class Fire, class Upcoming>
void TimingWheel::advance(BootTime now, Fire&& fire, Upcoming&& upcoming) {
    begin_advance(tick_at_or_before(now));
    Entries due = std::exchange(ready_, {});
    fire_all(due, fire, upcoming);
    recycle(std::move(due));
    while (take_next_tick(now_tick_, due)) {
        fire_all(due, fire, upcoming);
        recycle(std::move(due));
    }
    end_advance();
}

template <class IsLive>
std::size_t TimingWheel::drop_dead(Entries& entries, IsLive& is_live) {
    const std::size_t dropped = std::erase_if(
        entries, [&](const Entry& entry) { return !is_live(entry.id, entry.tick_low); });
    if (dropped > entries.size()) entries.shrink_to_fit();
    return dropped;
}

template <class IsLive>
void TimingWheel::compact(IsLive&& is_live) {
    POLLUX_CHECK(!advancing_);
    size_ -= drop_dead(ready_, is_live);
    for (Position at = first_position(); at.tick != kNoTick; at = position_after(at)) {
        Entries& entries = levels_[at.level].slots[at.slot];
        size_ -= drop_dead(entries, is_live);
        if (entries.empty()) recycle(take_slot(at.level, at.slot));
    }
    stale_ = 0;
}

template <class Visit>
void TimingWheel::visit_in_order(Visit&& visit) const {
    POLLUX_CHECK(!advancing_);
    for (const Entry entry : ready_) {
        if (!visit(entry.id, entry.tick_low)) return;
    }
    for (Position at = first_position(); at.tick != kNoTick; at = position_after(at)) {
        const Entries& entries = levels_[at.level].slots[at.slot];
        for (const Entry entry : at.level == 0 ? entries : sorted_by_tick(entries)) {
            if (!visit(entry.id, entry.tick_low)) return;
        }
    }
}

}  // namespace pollux::base
