// The alert engine: observations in, alerts and incidents out. Deterministic: no clock, thread,
// randomness or I/O. Single-threaded; start reading here.
//
// Invariants
//  1. One open alert per fingerprint. Only the target that raised it resolves it. What is resolved
//     stays resolved: a recurrence is a new alert that names its `previous`.
//  2. A repetition changes the count, message, fields and severity; never an acknowledgement,
//  unless
//     that one was not sticky and the severity rose. A clear of nothing changes nothing.
//  3. Each change of an alert by one input, or by time in one step, is exactly one AlertChange.
//  4. An alert is pending until its `for` is over; it stays open for `keep_firing_for` after its
//     clear. What raises it without a pause counts as one.
//  5. Missing data resolves nothing: alerts of a target that does not answer are marked stale,
//  until
//     it does.
//  6. An alert about a missing answer becomes active only after each monitored device on the way to
//     it was asked and has answered since, or `verify_timeout` is over (then it is `unverified`),
//     and `settle` after that. A question goes to a device once, however many alerts wait for it.
//  7. While a device on the way to it is down, such an alert is suppressed and belongs to the
//     incident of the topmost one. When that recovers, the alert is verified again, with its own
//     device: it resolves silently inside that incident, or becomes active with one of its own.
//  8. While we ourselves are impaired, no such alert becomes active: all belong to one incident.
//  9. While a fingerprint flaps its alert stays open, whatever it says; at most `flap.tellings`
//     messages about it are told within any `flap.cool_down`.
// 10. An open alert that is not pending belongs to exactly one open incident; an incident without
//     open alerts is resolved. The failures of one device share one, and so do alerts of one target
//     and type that are raised within `gather`.
// 11. Alerts whose target, addon or type is gone or disabled are resolved as reconciled.
// 12. Everything is bounded by AlertSettings. What is refused is counted.
// 13. The rows of all changes (alerts, incidents, memory) are the whole state: an engine restored
//     from them gives the same outputs afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/alert_fleet.hpp"
#include "alert/alert_settings.hpp"
#include "alert/alert_table.hpp"
#include "alert/fleet_map.hpp"
#include "alert/history_book.hpp"
#include "alert/incident_book.hpp"
#include "alert/input.hpp"
#include "alert/observer_watch.hpp"
#include "alert/output.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::alert {

// Counts since the start, and what is now.
struct AlertStats {
    std::uint64_t observations = 0;
    std::uint64_t refused = 0;          // no room for another alert
    std::uint64_t unknown_targets = 0;  // observations of targets that are not in the fleet
    std::uint64_t disabled = 0;         // observations of what is disabled
    std::uint64_t foreign_clears = 0;   // of alerts that another target raised
    std::uint64_t shared = 0;           // failures told by the alert of another target
    std::uint64_t damaged_rows = 0;     // could not be read at the restore, and were left out
    std::size_t open_alerts = 0;
    std::size_t open_incidents = 0;
    std::size_t histories = 0;
    bool impaired = false;
};

class AlertEngine {
  public:
    explicit AlertEngine(AlertSettings settings, AlertSeed seed);

    // Time never goes back. `out` is cleared first.
    void step(base::Instant now, std::span<const Input> inputs, Output& out);

    // Open alerts and incidents and the last bytes of each memory key.
    struct Rows {
        std::vector<model::Alert> alerts;
        std::vector<model::Incident> incidents;
        std::vector<MemoryRow> memory;
    };
    // Once, before the first step, with the fleet as it is now: what it does not have any more is
    // resolved by the first step. Damaged rows are counted and left out.
    void restore(base::Instant now, std::shared_ptr<const AlertFleet> fleet, Rows rows);
    // After that, where those whom the earlier process asked will not answer any more: who is to be
    // asked now. What waits for the answers has its time anew.
    std::vector<Verify> ask_again(base::Instant now);
    // All of it, as the changes so far would have left it.
    Rows rows(base::Instant now) const;

    // Takes effect with what happens next.
    void set_settings(AlertSettings settings);

    // nullptr: not open. Until the next step.
    const model::Alert* find_alert(std::string_view id) const;
    const model::Alert* find_by_fingerprint(std::string_view fingerprint) const;
    const model::Incident* find_incident(std::string_view id) const;
    // How much a fingerprint changed lately, in percent; nothing is known: 0.
    double flap_percent(std::string_view fingerprint) const;
    AlertStats stats() const;
    std::size_t memory_bytes() const;  // without the texts of alerts

  private:
    static constexpr std::uint32_t kNone = AlertSlot::kNone;
    static constexpr std::string_view kCountersKey = "counters";

    // One raise, wherever it comes from.
    struct Raise {
        model::AlertSource source = model::AlertSource::kPoll;
        std::uint32_t target = kNone;
        std::string fingerprint;
        std::string_view addon;
        std::string_view type;
        std::string_view subject;
        std::string_view address;  // empty: the target's
        model::Severity severity = model::Severity::kWarning;
        std::string_view category;
        std::string_view title;
        std::string_view message;
        std::string_view rule;
        const std::vector<std::pair<std::string, std::string>>* fields = nullptr;
        const model::AlertLabels* labels = nullptr;  // of the alert itself
        std::uint64_t occurrences = 1;
        base::WallTime at;
        bool missing_answer = false;
        base::Duration hold{};
    };

    // What an observation is about. Good until the fleet changes.
    struct Sighting {
        const Observed* of = nullptr;
        std::uint32_t target = kNone;
        std::string fingerprint;  // empty: its target is not in the fleet
    };
    static constexpr std::size_t kAhead = 16;

    // engine_inputs.cpp
    Sighting sight(const Observed& input) const;
    void look_ahead(std::span<const Input> inputs);
    void apply(const Observed& input);
    void apply(const TargetHealth& input);
    void apply(const DeviceVerified& input);
    void apply(const FleetChanged& input);
    void apply(const Act& input);
    void apply(const External& input);
    void apply(const ObserverReport& input);
    void recover(std::uint32_t target);
    void fail(std::uint32_t target, const TargetHealth& input);

    // engine.cpp: the step, what is written at its end
    void mark(std::uint32_t slot, std::string_view cause);
    void flush_alerts();
    void rearm_forgotten();
    void write_memory();
    std::string next_id();

    // engine_alerts.cpp: the life of one alert
    std::uint32_t raise(const Raise& what);
    std::uint32_t create(const Raise& what);
    void repeat(std::uint32_t slot, const Raise& what);
    void describe(model::Alert& alert, const Raise& what) const;
    void lower(std::uint32_t slot, model::ResolvedBy by, base::Duration keep);
    void review(std::uint32_t slot);
    bool review_flapping(std::uint32_t slot);
    void resolve(std::uint32_t slot, model::ResolvedBy by, std::string_view who,
                 std::string_view cause);
    void end_acknowledgement(std::uint32_t slot, std::string_view cause);
    void set_stale(std::uint32_t target, bool stale);
    // When it is to be looked at: follows from what is durable alone, whenever it is asked.
    base::BootTime due_of(std::uint32_t slot) const;
    void arm(std::uint32_t slot);
    base::WallTime seen_at(base::WallTime at) const;

    // engine_causes.cpp: verification, suppression, observer
    void defer(std::uint32_t slot);
    void decide_deferred();
    bool advance_hold(std::uint32_t slot);  // whether it is ready to be decided
    void begin_hold(std::uint32_t slot, bool itself);
    bool verified(std::uint32_t slot) const;
    bool may_be_well(std::uint32_t slot) const;
    base::BootTime verification_ends(std::uint32_t slot) const;
    std::vector<std::uint32_t> unknown_to(std::uint32_t slot) const;
    void ask_for(std::uint32_t slot);
    void place(std::uint32_t slot, std::string_view cause);
    void believed(std::uint32_t device, FleetMap::Believed belief);
    void answered(std::uint32_t device);
    void take_over(std::uint32_t device);
    void release_children(std::uint32_t device);
    void recheck_doubtful();
    void watch_observer();
    void begin_impairment();
    void end_impairment();
    std::vector<std::uint32_t> missing_alerts_of(std::uint32_t device) const;
    std::uint32_t device_of(std::uint32_t slot) const;

    // engine_incidents.cpp
    std::uint32_t open_incident(model::CauseKind cause, std::string device, std::string title,
                                model::Severity severity, bool of_failures);
    std::uint32_t incident_of_device(std::uint32_t device, model::Severity severity);
    std::uint32_t own_incident(std::uint32_t slot);
    // That of another alert of its target and type, if it began just now.
    std::uint32_t incident_of_kin(std::uint32_t slot) const;
    // Leaves the one it is in; `merge`: that one had the same cause.
    void join(std::uint32_t slot, std::uint32_t incident, bool merge);
    void leave(std::uint32_t slot, std::string_view merged_into);
    void count_suppressed(std::uint32_t slot, bool suppressed);
    void raise_severity(std::uint32_t slot);
    void tell_activation(std::uint32_t slot, model::Severity before);
    void add_note(std::uint32_t incident, const std::string& who, const std::string& text,
                  bool shown);

    // engine_acts.cpp
    void act_on(std::uint32_t slot, const Act& act);
    void acknowledge(std::uint32_t slot, const Act& act);
    void answer(const Act& act, std::string_view id, ActStatus status, std::string message = {});

    // engine_fleet.cpp, engine_restore.cpp
    const TypeFacts* type_facts(std::uint32_t target, std::string_view type) const;
    // What holds for one alert of a type; of a target that is not known, nothing but itself.
    struct Terms {
        bool wanted = true;
        std::optional<model::Severity> severity;
        base::Duration hold{};
        base::Duration keep_firing_for{};
        bool missing_answer = false;
    };
    Terms terms_of(std::uint32_t target, std::string_view type, std::string_view subject) const;
    // Its identity is no longer what its target gives it; a new address is taken over.
    bool is_outdated(std::uint32_t slot);
    void reconcile();
    void refresh_facts(std::uint32_t slot);
    void attach(std::uint32_t slot, std::uint32_t target);
    void detach(std::uint32_t slot);
    void restore_alert(model::Alert alert, const TimeCodec& times);
    void restore_incidents(std::vector<model::Incident> incidents);
    bool restore_memory(const MemoryRow& row, const TimeCodec& times);
    std::string encode_counters() const;
    std::string fingerprint_of(std::uint32_t target, std::string_view type,
                               std::string_view subject, std::string_view address) const;

    AlertSettings settings_;
    base::SipKey key_;
    std::uint64_t next_number_;
    std::uint64_t next_incident_ = 1;
    std::uint64_t ids_ = 0;
    bool counters_changed_ = false;
    bool reconcile_first_ = false;  // after a restore

    FleetMap fleet_;
    AlertTable alerts_;
    IncidentBook incidents_;
    HistoryBook histories_;
    ObserverWatch observer_;
    // Alerts about missing answers that are not decided, by number.
    std::set<std::pair<std::uint64_t, std::uint32_t>> held_;
    AlertStats stats_;

    // Of the current step.
    base::Instant now_;
    Output* out_ = nullptr;
    std::size_t turn_ = 0;  // the input that is worked on
    std::array<Sighting, kAhead> ahead_;
    std::vector<std::uint32_t> changed_;
    std::vector<std::uint32_t> deferred_;
};

}  // namespace pollux::alert
