// For tests: a fleet in a few words, an engine in virtual time, and a store that keeps what the
// engine says, checking it on the way.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alert/alert_engine.hpp"

namespace pollux::alert {

using namespace std::chrono_literals;

inline TargetFacts target_on(const std::string& device, const std::string& addon = "snmp") {
    TargetFacts out;
    out.key = addon + "::" + device;
    out.id = "id-" + addon + "-" + device;
    out.device = device;
    out.address = "192.0.2." + device;
    out.addon = addon;
    out.labels = {{"site", "lab"}};
    out.groups = {"all"};
    return out;
}

inline std::shared_ptr<const AlertTypes> types_of(std::vector<TypeFacts> types,
                                                  bool closed = false) {
    std::ranges::sort(types, {}, &TypeFacts::type);
    return std::make_shared<const AlertTypes>(AlertTypes{std::move(types), closed});
}

// Targets "snmp::<name>", one per device.
inline AlertFleet fleet_of(const std::vector<std::string>& devices,
                           std::vector<DeviceFacts> topology = {}) {
    AlertFleet out;
    for (const std::string& name : devices) out.targets.push_back(target_on(name));
    out.devices = std::move(topology);
    return out;
}

inline Observed observed(const std::string& target, const std::string& type,
                         ObservedStep step = ObservedStep::kRaised,
                         const std::string& subject = "") {
    Observed out;
    out.target = target;
    out.signal.type = type;
    out.signal.subject = subject;
    out.signal.message = type + " at " + target;
    out.step = step;
    return out;
}

inline TargetHealth up(const std::string& device) {
    TargetHealth out;
    out.target = "snmp::" + device;
    return out;
}

inline TargetHealth down(const std::string& device) {
    TargetHealth out = up(device);
    out.health = Health::kDown;
    out.confirmed = true;
    out.failures = 3;
    out.code = "snmp.timeout";
    out.message = "no answer";
    return out;
}

inline TargetHealth suspect(const std::string& device) {
    TargetHealth out = up(device);
    out.health = Health::kSuspect;
    out.failures = 1;
    return out;
}

class EngineDriver {
  public:
    static constexpr base::Instant kStart{base::BootTime{3'600'000'000'000},
                                          base::WallTime{1'700'000'000'000'000}};

    explicit EngineDriver(AlertFleet fleet = {}, AlertSettings settings = {})
        : settings_(settings), engine_(make()) {
        load(std::move(fleet));
    }

    void load(AlertFleet fleet) {
        fleet_ = std::make_shared<const AlertFleet>(std::move(fleet));
        give({FleetChanged{fleet_}});
    }

    // One step now.
    const Output& give(std::vector<Input> inputs) {
        engine_->step(now_, inputs, out_);
        take();
        return out_;
    }

    // Time passes; the engine is woken when it asked for it.
    void pass(base::Duration time) {
        const base::BootTime until = now_.boot + time;
        for (int steps = 0; out_.wake_at <= until; ++steps) {
            ASSERT_LT(steps, 10'000) << "asks to be woken without end";
            advance_to(std::max(out_.wake_at, now_.boot));
            give({});
        }
        advance_to(until);
    }

    // Time passes without a step, as on a machine that is busy.
    void idle(base::Duration time) { advance_to(now_.boot + time); }

    // As after kill -9: only what was written is left.
    void restart() {
        AlertEngine::Rows rows;
        for (const auto& [id, alert] : alerts_) {
            if (is_open(alert)) rows.alerts.push_back(alert);
        }
        for (const auto& [id, incident] : incidents_) {
            if (incident.resolved_at == base::WallTime{}) rows.incidents.push_back(incident);
        }
        for (const auto& [key, bytes] : memory_) rows.memory.push_back({key, bytes});
        engine_ = make();
        engine_->restore(now_, fleet_, std::move(rows));
        EXPECT_EQ(engine_->stats().damaged_rows, 0U);
    }

    // The same, where whoever was asked will not answer any more.
    void restart_deaf() {
        restart();
        for (const Verify& one : engine_->ask_again(now_)) verified.push_back(one.device);
    }

    // The same, and the fleet was edited meanwhile.
    void restart_with(AlertFleet fleet) {
        fleet_ = std::make_shared<const AlertFleet>(std::move(fleet));
        restart();
    }

    AlertEngine& engine() { return *engine_; }
    const Output& out() const { return out_; }
    base::Instant now() const { return now_; }
    const AlertFleet& fleet() const { return *fleet_; }

    // Alerts ever made, by number.
    std::vector<model::Alert> alerts() const {
        std::vector<model::Alert> out;
        for (const auto& [id, alert] : alerts_) out.push_back(alert);
        std::ranges::sort(out, {}, &model::Alert::number);
        return out;
    }
    std::vector<model::Incident> incidents() const {
        std::vector<model::Incident> out;
        for (const auto& [id, incident] : incidents_) out.push_back(incident);
        std::ranges::sort(out, {}, &model::Incident::number);
        return out;
    }
    // The newest alert about this device, or of this type.
    model::Alert last(const std::string& of) const {
        model::Alert out;
        for (const model::Alert& alert : alerts()) {
            if (alert.device == of || alert.type == of) out = alert;
        }
        EXPECT_NE(out.number, 0U) << "no alert of " << of;
        return out;
    }
    model::Incident incident_of(const std::string& of) const {
        const auto found = incidents_.find(last(of).incident);
        return found == incidents_.end() ? model::Incident{} : found->second;
    }

    std::vector<std::string> verified;                  // every Verify so far
    std::vector<std::pair<Telling, std::string>> told;  // with the incident's title
    std::vector<base::BootTime> told_at;
    std::vector<std::pair<ChangeKind, std::string>> alert_events;  // with the cause
    std::size_t alert_changes_of(const std::string& id) const {
        const auto found = changes_.find(id);
        return found == changes_.end() ? 0 : found->second;
    }

  private:
    std::unique_ptr<AlertEngine> make() const {
        return std::make_unique<AlertEngine>(settings_, AlertSeed{{7, 11}, 1});
    }

    void advance_to(base::BootTime boot) {
        now_.wall += boot - now_.boot;
        now_.boot = boot;
    }

    void take() {
        for (const AlertChange& change : out_.alerts) {
            ++changes_[change.alert.id];
            alert_events.emplace_back(change.kind, change.cause);
            const auto known = alerts_.find(change.alert.id);
            ASSERT_EQ(known == alerts_.end(), change.kind == ChangeKind::kCreated);
            if (known != alerts_.end()) {
                ASSERT_TRUE(is_open(known->second)) << "a resolved alert was changed";
                ASSERT_EQ(change.alert.version, known->second.version + 1);
            }
            if (change.kind == ChangeKind::kRemoved) {
                alerts_.erase(change.alert.id);
            } else {
                alerts_[change.alert.id] = change.alert;
            }
        }
        for (const IncidentChange& change : out_.incidents) {
            incidents_[change.incident.id] = change.incident;
            if (change.telling == Telling::kNothing) continue;
            told.emplace_back(change.telling, change.incident.title);
            told_at.push_back(now_.boot);
        }
        for (const Verify& one : out_.verify) verified.push_back(one.device);
        for (const MemoryRow& row : out_.memory) {
            if (row.bytes.empty()) {
                memory_.erase(row.key);
            } else {
                memory_[row.key] = row.bytes;
            }
        }
        check();
    }

    // What must hold after every step, seen from outside.
    void check() const {
        std::map<std::string, int> open;
        for (const auto& [id, alert] : alerts_) {
            if (!is_open(alert)) continue;
            ASSERT_EQ(++open[alert.fingerprint], 1) << "two open alerts of one fingerprint";
            const bool pending = alert.state == model::AlertState::kPending;
            ASSERT_EQ(alert.incident.empty(), pending) << alert.title;
            if (pending) continue;
            const auto incident = incidents_.find(alert.incident);
            ASSERT_NE(incident, incidents_.end());
            ASSERT_EQ(incident->second.resolved_at, base::WallTime{}) << alert.title;
        }
    }

    AlertSettings settings_;
    base::Instant now_ = kStart;
    std::shared_ptr<const AlertFleet> fleet_;
    std::unique_ptr<AlertEngine> engine_;
    Output out_;
    std::map<std::string, model::Alert> alerts_;
    std::map<std::string, model::Incident> incidents_;
    std::map<std::string, std::string> memory_;
    std::map<std::string, std::size_t> changes_;
};

}  // namespace pollux::alert
