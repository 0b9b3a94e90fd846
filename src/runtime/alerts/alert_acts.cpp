// What people do at the desk of alerts, and what they ask.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/alerts/alert_work.hpp"

namespace pollux::runtime {
namespace {

// In words, for the entry of the audit trail.
std::string summary(const std::vector<alert::ActResult>& results) {
    std::size_t done = 0;
    for (const alert::ActResult& one : results) done += one.status == alert::ActStatus::kDone;
    return fmt::format("{} of {} done", done, results.size());
}

}  // namespace

void AlertDesk::Work::act(alert::Act act, std::optional<model::AuditEntry> entry, ActDone done) {
    if (auto room = ledger_.room_for_acts(); entry && !room) {
        return done(std::unexpected(room.error()));
    }
    turn();  // what came before is decided before
    act.ticket = next_ticket_++;
    const std::string who = act.who;
    step({std::move(act)}, who);
    std::vector<alert::ActResult> results = std::exchange(out_.results, {});
    if (entry) {
        const bool any = std::ranges::any_of(results, [](const alert::ActResult& one) {
            return one.status == alert::ActStatus::kDone;
        });
        // One act that was done needs no count: what it was about is the word of who asked for it.
        if (results.size() != 1 || !any) entry->after = summary(results);
        if (!any) entry->result = model::AuditResult::kFailed;
    }
    ledger_.add_act(std::move(entry), [done = std::move(done), results = std::move(results)](
                                          const base::Status& status) mutable {
        if (status) {
            done(std::move(results));
        } else {
            done(std::unexpected(status.error()));
        }
    });
    ledger_.commit();
    wait_until_next();
}

void AlertDesk::Work::external(std::vector<alert::External> alerts,
                               std::optional<model::AuditEntry> entry, Done done) {
    if (auto room = ledger_.room_for_acts(); entry && !room) {
        return done(std::unexpected(room.error()));
    }
    turn();
    Inputs inputs;
    for (alert::External& one : alerts) inputs.emplace_back(std::move(one));
    step(inputs, entry ? entry->principal : std::string());
    ledger_.add_act(std::move(entry), std::move(done));
    ledger_.commit();
    wait_until_next();
}

void AlertDesk::Work::test_receiver(const std::string& receiver,
                                    std::optional<model::AuditEntry> entry, TestDone done) {
    if (auto room = ledger_.room_for_acts(); entry && !room) {
        return done(std::unexpected(room.error()));
    }
    auto made = planner_.test(receiver, net::wall_now());
    if (!made) {
        done(std::unexpected(made.error()));
        return;
    }
    std::vector<std::string> ids;
    for (model::Notification& row : *made) {
        ids.push_back(row.id);
        outbox_.insert_or_assign(row.id, row);
        ledger_.add(std::move(row), true, true);
    }
    ledger_.add_act(std::move(entry), [done = std::move(done),
                                       ids = std::move(ids)](const base::Status& status) mutable {
        if (status) {
            done(std::move(ids));
        } else {
            done(std::unexpected(status.error()));
        }
    });
    ledger_.commit();
}

void AlertDesk::Work::settle(const std::string& notification, model::DeliveryState next,
                             std::optional<model::AuditEntry> entry, Done done) {
    if (auto room = ledger_.room_for_acts(); entry && !room) {
        return done(std::unexpected(room.error()));
    }
    auto found = store_.alert_reader().notification(notification);
    if (!found) {
        done(std::unexpected(found.error()));
        return;
    }
    if (!*found) {
        done(base::config_error("notification.unknown",
                                fmt::format("there is no notification {}", notification)));
        return;
    }
    model::Notification row = std::move(**found);
    if (row.state != model::DeliveryState::kFailed) {
        done(base::config_error(
            "notification.state",
            fmt::format("notification {} is {}: only one that was given up is {}", notification,
                        to_string(row.state),
                        next == model::DeliveryState::kWaiting ? "tried again" : "dismissed")));
        return;
    }
    row.state = next;
    const bool again = next == model::DeliveryState::kWaiting;
    if (again) {
        row.not_before = net::wall_now();
        row.attempts = 0;
        outbox_.insert_or_assign(row.id, row);
    }
    ledger_.add(std::move(row), again);
    ledger_.add_act(std::move(entry), std::move(done));
    ledger_.commit();
}

std::string AlertDesk::Work::explain_route(const model::AlertLabels& labels,
                                           model::Severity severity) const {
    alert::MatchLabels match;
    match.values = labels;
    if (const auto group = labels.find("group"); group != labels.end()) {
        match.groups.push_back(group->second);
    }
    return planner_.router().explain(match, severity, net::wall_now());
}

std::vector<model::Alert> AlertDesk::Work::open_alerts() const {
    std::vector<model::Alert> alerts;
    alerts.reserve(open_.size());
    for (const auto& [id, alert] : open_) alerts.push_back(alert);
    return alerts;
}

std::vector<model::Alert> AlertDesk::Work::audible_alerts() const {
    const auto silences = planner_.silences().in_force(net::wall_now());
    std::vector<model::Alert> alerts;
    for (const auto& [id, alert] : open_) {
        const bool told = alert.state == model::AlertState::kActive ||
                          alert.state == model::AlertState::kAcknowledged;
        const bool silent = !silences.empty() && silences.hold(alert::labels_of(alert));
        if (told && !silent) alerts.push_back(alert);
    }
    return alerts;
}

AlertTally AlertDesk::Work::tally(const AlertSight& visible) const {
    AlertTally tally;
    tally.impaired = engine_.stats().impaired;
    const auto silences = planner_.silences().in_force(net::wall_now());
    for (const auto& [id, alert] : open_) {
        if (visible && !visible(alert)) continue;
        const bool acknowledged = alert.state == model::AlertState::kAcknowledged;
        const bool suppressed = alert.state == model::AlertState::kSuppressed;
        const bool active = alert.state == model::AlertState::kActive;
        if (!alert.incident.empty()) {
            IncidentTally& incident = tally.incidents[alert.incident];
            if (acknowledged) ++incident.acknowledged;
            if (suppressed) ++incident.suppressed;
            if (active) ++incident.active;
        }
        if (suppressed) ++tally.suppressed;
        if (!acknowledged && !active) continue;
        ++tally.open;
        if (!silences.empty() && silences.hold(alert::labels_of(alert))) ++tally.silenced;
        if (alert.target.empty()) continue;
        TargetAlerts& target = tally.targets[alert.target];
        target.worst = std::max(target.worst, alert.severity);
        ++target.open;
        if (acknowledged) ++target.acknowledged;
    }
    return tally;
}

AlertStanding AlertDesk::Work::standing_of(const model::Alert& alert) const {
    AlertStanding standing;
    standing.flap_percent = engine_.flap_percent(alert.fingerprint);
    if (!is_open(alert)) return standing;
    if (auto hold = planner_.silences().holding(alert::labels_of(alert), net::wall_now())) {
        standing.silenced_by = std::move(hold->ids);
    }
    return standing;
}

WorkCounts AlertDesk::Work::done() const {
    WorkCounts work;
    work.active = ledger_.waiting();
    work.completed =
        std::accumulate(counts_.created.begin(), counts_.created.end(), counts_.resolved);
    work.failed = engine_.stats().refused;
    work.memory_bytes = engine_.memory_bytes();
    return work;
}

AlertCounts AlertDesk::Work::counts() const {
    AlertCounts counts = counts_;
    for (const auto& [id, alert] : open_) {
        switch (alert.state) {
            case model::AlertState::kPending: ++counts.pending; break;
            case model::AlertState::kSuppressed: ++counts.suppressed; break;
            default: ++counts.open[static_cast<std::size_t>(alert.severity)]; break;
        }
    }
    const alert::AlertStats stats = engine_.stats();
    counts.incidents = stats.open_incidents;
    counts.refused = stats.refused;
    counts.impaired = stats.impaired;
    counts.uncommitted = ledger_.waiting();
    counts.outbox = outbox_.size();
    counts.deliveries = deliveries_.channels();
    for (const auto& [id, waiting] : outbox_) {
        const auto channel = counts.deliveries.find({waiting.receiver, waiting.channel});
        if (channel != counts.deliveries.end()) ++channel->second.waiting;
    }
    counts.failing = ledger_.failing();
    return counts;
}

}  // namespace pollux::runtime
