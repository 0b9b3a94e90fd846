// The open incidents and which alerts belong to each. Single-threaded.
//
// Invariants
// 1. An incident without open alerts is resolved at the end of the step, unless it is `kept` open.
// 2. At most one open incident per device is the one of its failures. Which one is part of the
//    durable state: each change is a row.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alert/output.hpp"
#include "base/flat_index.hpp"
#include "base/slab.hpp"
#include "model/alert.hpp"

namespace pollux::alert {

struct IncidentSlot {
    model::Incident incident;
    std::vector<std::uint32_t> alerts;  // open ones; in no order
    std::uint32_t suppressed = 0;       // of them
    bool of_failures = false;           // the one of its device
    bool kept = false;

    // Of the current step.
    bool created = false;
    bool changed = false;
    std::string_view cause;
    Telling telling = Telling::kNothing;
};

class IncidentBook {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    static constexpr std::string_view kPrefix = "failures:";

    std::uint32_t add(model::Incident incident, bool of_failures);
    std::uint32_t find(std::string_view id) const;
    // The open one of the failures of this device.
    std::uint32_t of_device(std::string_view device) const;
    // The open one that says that we ourselves are impaired.
    std::uint32_t of_observer() const { return observer_; }

    IncidentSlot& operator[](std::uint32_t slot) { return slots_[slot]; }
    const IncidentSlot& operator[](std::uint32_t slot) const { return slots_[slot]; }

    // Written by the next flush().
    void mark(std::uint32_t slot, std::string_view cause);
    // A telling counts only upwards within one step: a new problem is not hidden by an update.
    void tell(std::uint32_t slot, Telling telling);

    // Resolves what is over and tells what changed, in the order of the first change.
    void flush(base::WallTime now, std::vector<IncidentChange>& out);

    // What changed since the last call.
    void write_changes(std::vector<MemoryRow>& out);
    void write_all(std::vector<MemoryRow>& out) const;
    // Before the incidents themselves.
    void restore_failures(std::string_view device, std::string_view id);
    std::uint32_t restore(model::Incident incident);

    std::size_t size() const { return by_id_.size(); }
    std::vector<std::uint32_t> in_order() const;  // by number

  private:
    auto has_id(std::string_view id) const {
        return [this, id](std::uint32_t slot) { return slots_[slot].incident.id == id; };
    }

    base::Slab<IncidentSlot> slots_;
    base::FlatIndex by_id_;
    std::map<std::string, std::uint32_t, std::less<>> by_device_;
    std::map<std::string, std::string, std::less<>> restored_;  // device to incident
    std::vector<std::uint32_t> changed_;
    std::vector<std::string> changed_devices_;
    std::uint32_t observer_ = kNone;
};

}  // namespace pollux::alert
