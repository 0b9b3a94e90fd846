// The open alerts: at stable places, found by fingerprint and by id, with one timer each.
// Single-threaded.
//
// Invariants
// 1. One alert per fingerprint and per id; numbers rise.
// 2. A slot that was closed stays readable until release(); it is found by nothing.
// 3. Timers fire in the order of their time, then of the alerts' numbers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "alert/output.hpp"
#include "alert/time_codec.hpp"
#include "base/flat_index.hpp"
#include "base/siphash.hpp"
#include "base/slab.hpp"
#include "model/alert.hpp"

namespace pollux::alert {

// How far an alert about a missing answer is on its way to being believed.
enum class Hold : std::uint8_t {
    kNone,       // not begun
    kVerifying,  // devices on the way to it are asked
    kSettling,   // they have answered; something worse may still turn up
    kDecided,
};

struct AlertSlot {
    static constexpr std::uint32_t kNone = base::FlatIndex::kNone;

    model::Alert alert;

    // Durable, as Alert::memory.
    bool raised = true;             // false: cleared, but kept for a while
    bool missing_answer = false;    // a dead device on the way explains it
    bool address_of_target = true;  // not named by the observation
    bool verify_itself = false;     // its own device is asked too
    Hold hold = Hold::kNone;
    model::ResolvedBy cleared_by = model::ResolvedBy::kNothing;
    base::BootTime hold_since = base::BootTime::min();
    base::BootTime verify_until = base::BootTime::min();
    base::BootTime settle_until = base::BootTime::min();
    base::BootTime pending_until = base::BootTime::min();
    base::BootTime keep_until = base::BootTime::max();  // after the clear
    base::BootTime expires_at = base::BootTime::max();  // of an external sender
    base::BootTime acknowledged_until = base::BootTime::max();
    base::BootTime repeated_at = base::BootTime::min();  // last time that it was said
    std::uint64_t said_before = 0;  // occurrences that the sender had counted when it was made

    // Found again after a restart.
    std::uint32_t target = kNone;
    std::uint32_t place_at_target = 0;
    std::uint32_t incident = kNone;
    std::uint32_t place_in_incident = 0;
    bool counted = false;  // among those that its incident suppresses
    base::BootTime due = base::BootTime::max();

    // Of the current step.
    ChangeKind change = ChangeKind::kUpdated;
    std::string_view cause;
    bool changed = false;
    bool deferred = false;

    std::string encode_memory(const TimeCodec& times) const;
    // False if the bytes are damaged: then all is as for a new alert that was believed.
    bool decode_memory(std::string_view bytes, const TimeCodec& times);
};

class AlertTable {
  public:
    static constexpr std::uint32_t kNone = AlertSlot::kNone;

    explicit AlertTable(base::SipKey key) : key_(key) {}

    std::uint32_t find(std::string_view fingerprint) const;
    std::uint32_t find_id(std::string_view id) const;

    // For the processor, before they are needed: with 100,000 alerts each first look at one waits
    // for memory, and many are fetched in the time of one. The slot that most likely has the
    // fingerprint.
    std::uint32_t fetch(std::string_view fingerprint) const;
    // Of a slot that fetch() gave, a moment later; it may have been released since.
    void fetch_texts(std::uint32_t slot) const;

    // The fingerprint must be free. References are invalid afterwards.
    std::uint32_t add(model::Alert alert);
    void change_fingerprint(std::uint32_t slot, std::string fingerprint);
    // No longer found, no timer.
    void close(std::uint32_t slot);
    void release(std::uint32_t slot);

    AlertSlot& operator[](std::uint32_t slot) { return slots_[slot]; }
    const AlertSlot& operator[](std::uint32_t slot) const { return slots_[slot]; }

    std::size_t open() const { return by_fingerprint_.size(); }
    // Open slots in the order of their numbers.
    std::vector<std::uint32_t> in_order() const;
    void sort(std::vector<std::uint32_t>& slots) const;  // by number

    // max(): no timer.
    void arm(std::uint32_t slot, base::BootTime due);
    base::BootTime next_due() const;
    // Those due at `now`; their timers are gone.
    std::vector<std::uint32_t> take_due(base::BootTime now);

    std::size_t memory_bytes() const;

  private:
    using Timer = std::tuple<base::BootTime, std::uint64_t, std::uint32_t>;

    Timer timer_of(std::uint32_t slot) const {
        return {slots_[slot].due, slots_[slot].alert.number, slot};
    }

    base::SipKey key_;
    base::Slab<AlertSlot> slots_;
    base::FlatIndex by_fingerprint_;
    base::FlatIndex by_id_;
    std::set<Timer> timers_;
};

}  // namespace pollux::alert
