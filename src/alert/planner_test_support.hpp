// A planner with its configuration, stored rows and a virtual clock, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alert/notification_planner.hpp"

namespace pollux::alert::testing {

using base::WallTime;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

inline const WallTime kStart = *base::parse_utc("2026-11-18T12:00:00Z");

inline base::Result<std::shared_ptr<const base::TimeZone>> utc_only(std::string_view name) {
    if (name == "UTC") return std::make_shared<const base::TimeZone>();
    return base::config_error("zone.unknown", "there is no such time zone");
}

inline model::Receiver receiver(std::string name, std::uint32_t per_minute = 0) {
    model::Channel channel;
    channel.name = "hook";
    channel.per_minute = per_minute;
    return {std::move(name), {channel}};
}

inline model::NotifyRoute route(std::string name, std::vector<std::string> receivers) {
    model::NotifyRoute result;
    result.name = std::move(name);
    result.receivers = std::move(receivers);
    result.repeat = base::Duration::zero();
    return result;
}

// What the rest of the program would do: keeps rows, incidents and alerts, and hands them in.
class World {
  public:
    World() { planner = make(); }

    std::vector<model::NotifyRoute> routes = {route("all", {"ops"})};
    std::vector<model::Receiver> receivers = {receiver("ops")};
    PlannerSettings settings = active();
    std::unique_ptr<NotificationPlanner> planner;
    WallTime now = kStart;
    std::vector<model::Notification> sent;  // all of them, in their order

    static PlannerSettings active() {
        PlannerSettings result;
        result.review = false;
        return result;
    }

    void configure() {
        auto router = Router::compile(routes, receivers, utc_only);
        ASSERT_TRUE(router) << router.error().message;
        planner->set_router(std::move(*router));
        planner->set_settings(settings);
    }

    // A new process with what was stored.
    void restart() {
        auto next = make();
        for (const auto& [id, silence] : silences) {
            ASSERT_TRUE(next->put_silence(silence));
        }
        std::vector<PlannerRow> stored;
        for (const auto& [key, body] : rows) stored.push_back({key, body});
        const auto wanted = NotificationPlanner::incidents_of(stored);
        ASSERT_TRUE(wanted);
        std::vector<model::Incident> known;
        std::vector<model::Alert> members;
        for (const auto& [id, incident] : incidents) {
            const bool open = incident.resolved_at == WallTime{};
            if (open || std::ranges::find(*wanted, id) != wanted->end()) known.push_back(incident);
        }
        for (const auto& [id, alert] : alerts) {
            if (!alert.incident.empty()) members.push_back(alert);
        }
        const auto status = next->restore(stored, known, members);
        ASSERT_TRUE(status) << status.error().message;
        planner = std::move(next);
        configure();
    }

    // Everything that happens until then, at the moments at which the planner asks for it.
    void run_until(WallTime end) {
        for (int i = 0; i < 100'000; ++i) {
            const WallTime wake = planner->next_wake();
            if (wake > end) break;
            now = std::max(now, wake);
            step({});
        }
        now = std::max(now, end);
    }
    void advance(base::Duration by) { run_until(now + by); }

    void step(const PlannerInput& input) {
        PlannerOutput out;
        planner->step(now, input, out);
        for (PlannerRow& row : out.rows) rows[row.key] = std::move(row.body);
        for (const std::string& key : out.gone) rows.erase(key);
        for (const model::Silence& silence : out.begun) silences[silence.id] = silence;
        for (model::Notification& one : out.notifications) sent.push_back(std::move(one));
    }

    // An incident with one alert, given in one step.
    std::string open(const std::string& device, model::Severity severity = model::Severity::kMajor,
                     const model::AlertLabels& labels = {}) {
        const std::string id = "incident-" + std::to_string(++made_);
        model::Alert alert;
        alert.id = "alert-" + std::to_string(made_);
        alert.number = made_;
        alert.fingerprint = "print-" + device;
        alert.previous = last_of_[device];
        alert.type = "down";
        alert.device = device;
        alert.target = "ping::" + device;
        alert.title = device + " is down";
        alert.severity = severity;
        alert.labels = labels;
        alert.state = model::AlertState::kActive;
        alert.incident = id;
        alert.first_seen = alert.last_seen = now;
        last_of_[device] = alert.id;
        model::Incident incident;
        incident.id = id;
        incident.root = alert.id;
        incident.device = device;
        incident.title = alert.title;
        incident.severity = severity;
        incident.opened_at = now;
        incidents[id] = incident;
        alerts[alert.id] = alert;
        give(id);
        return id;
    }

    model::Alert& root(const std::string& incident) { return alerts[incidents[incident].root]; }

    void give(const std::string& incident) {
        PlannerInput input;
        input.incidents.push_back(incidents[incident]);
        input.alerts.push_back(root(incident));
        step(input);
    }
    void set_severity(const std::string& incident, model::Severity severity) {
        incidents[incident].severity = severity;
        root(incident).severity = severity;
        change(incident);
    }
    void acknowledge(const std::string& incident) {
        root(incident).state = model::AlertState::kAcknowledged;
        root(incident).acknowledged.emplace();
        change(incident);
    }
    void end_acknowledgement(const std::string& incident) {
        root(incident).state = model::AlertState::kActive;
        root(incident).acknowledged.reset();
        change(incident);
    }
    void resolve(const std::string& incident) {
        root(incident).state = model::AlertState::kResolved;
        root(incident).resolved_at = now;
        incidents[incident].resolved_at = now;
        change(incident);
    }

    // The first turns out to be a consequence of the second.
    void merge(const std::string& incident, const std::string& into) {
        incidents[incident].resolved_at = now;
        incidents[incident].merged_into = into;
        ++incidents[incident].version;
        ++incidents[into].version;
        model::Alert& alert = root(incident);
        alert.incident = into;
        alert.state = model::AlertState::kSuppressed;
        ++alert.version;
        PlannerInput input;
        input.incidents = {incidents[into], incidents[incident]};
        input.alerts = {alert};
        step(input);
    }

    void silence(const std::string& id, const std::string& device, base::Duration length) {
        model::Silence one;
        one.id = id;
        one.matchers = {{"device", model::MatchOperator::kEqual, device}};
        one.from = now;
        one.until = now + length;
        silences[id] = one;
        ASSERT_TRUE(planner->put_silence(one));
    }

    // "problem ops", "recovery ops", ...
    std::vector<std::string> told() const {
        std::vector<std::string> result;
        for (const model::Notification& one : sent) {
            result.push_back(std::string(to_string(one.kind)) + ' ' + one.receiver);
        }
        return result;
    }

    std::map<std::string, std::string> rows;
    std::map<std::string, model::Incident> incidents;
    std::map<std::string, model::Alert> alerts;
    std::map<std::string, model::Silence> silences;

  private:
    static std::unique_ptr<NotificationPlanner> make() {
        return std::make_unique<NotificationPlanner>(utc_only);
    }
    void change(const std::string& incident) {
        ++incidents[incident].version;
        ++root(incident).version;
        give(incident);
    }

    std::uint64_t made_ = 0;
    std::map<std::string, std::string> last_of_;
};

using Lines = std::vector<std::string>;

}  // namespace pollux::alert::testing
