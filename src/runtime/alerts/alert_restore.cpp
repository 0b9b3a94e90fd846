// The start of the desk: what was, and what came while nobody took it in.
#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/alerts/alert_work.hpp"
#include "runtime/inbound/message_text.hpp"

namespace pollux::runtime {

base::Status AlertDesk::Work::restore(const std::vector<SignalNews>& present) {
    const base::Instant now = net::instant_now();
    AlertLoad& load = options_.load;
    alert::AlertEngine::Rows rows;
    for (const store::MemoryRow& row : load.memory) {
        if (row.key.starts_with(kEngineMemory)) {
            rows.memory.push_back({row.key.substr(kEngineMemory.size()), row.bytes});
        } else if (row.key.starts_with(kBegunSilence)) {
            base::WallTime& at = begun_[row.key.substr(kBegunSilence.size())];
            std::from_chars(row.bytes.data(), row.bytes.data() + row.bytes.size(), at.us);
        }
    }
    for (const model::Alert& alert : load.alerts) {
        timeline_.know(alert);
        open_.emplace(alert.id, alert);
    }
    for (const model::Incident& incident : load.incidents) timeline_.know(incident);
    for (model::Notification& waiting : load.notifications) {
        const std::string id = waiting.id;
        outbox_.emplace(id, std::move(waiting));
    }
    rows.alerts = load.alerts;
    rows.incidents = load.incidents;
    set_policy(options_.policy);
    if (auto status = restore_planner(); !status) {
        log_.error("what was planned to be told could not be read: it is planned anew",
                   {{"error", status.error().message}});
    }
    set_image(options_.image);
    fleet_changed_ = false;  // it goes with the restore
    engine_.restore(now, image_.fleet, std::move(rows));
    const auto polls = load.cursors.find(kPollCursor);
    const auto messages = load.cursors.find(kMessageCursor);
    if (polls == load.cursors.end() || messages == load.cursors.end()) {
        // The first time: what is raised now, and from here on every row.
        for (const SignalNews& news : present) add_signals(news);
        store::ObservationQuery query;
        query.newest_first = true;
        query.limit = 1;
        auto newest = store_.observations(query);
        if (!newest) return std::unexpected(newest.error());
        polls_seen_ = messages_seen_ = newest->empty() ? 0 : newest->front().id;
        ledger_.set_cursor(std::string(kPollCursor), polls_seen_);
        ledger_.set_cursor(std::string(kMessageCursor), messages_seen_);
        return {};
    }
    polls_seen_ = polls->second;
    messages_seen_ = messages->second;
    return replay();
}

// Rows that were stored and not taken in before the last life ended.
base::Status AlertDesk::Work::replay() {
    store::ObservationQuery query;
    query.after = std::min(polls_seen_, messages_seen_);
    query.limit = store::kMostObservationsPerQuery;
    for (;;) {
        auto rows = store_.observations(query);
        if (!rows) return std::unexpected(rows.error());
        for (const store::Observation& row : *rows) {
            query.after = row.id;
            SignalNews news;
            news.row = row.id;
            news.message = model::is_inbound(row.kind);
            news.key = row.key;
            news.target_id = row.target_id;
            news.source = row.source;
            news.at = row.received;
            for (model::Signal& signal :
                 read_signals(row.signals).value_or(std::vector<model::Signal>{})) {
                const auto step =
                    signal.clear ? derive::SignalStep::kCleared : derive::SignalStep::kRaised;
                news.changes.push_back({step, std::move(signal), 1});
            }
            add_signals(news);
        }
        if (rows->size() < query.limit) return {};
    }
}

base::Status AlertDesk::Work::restore_planner() {
    std::vector<alert::PlannerRow> rows;
    for (const store::MemoryRow& row : options_.load.memory) {
        if (!row.key.starts_with(kPlannerMemory)) continue;
        rows.push_back({row.key.substr(kPlannerMemory.size()), row.bytes});
    }
    auto named = alert::NotificationPlanner::incidents_of(rows);
    if (!named) return std::unexpected(named.error());
    std::vector<model::Incident> incidents = options_.load.incidents;
    std::vector<model::Alert> alerts = options_.load.alerts;
    store::AlertReader& reader = store_.alert_reader();
    for (const std::string& id : *named) {
        if (std::ranges::find(incidents, id, &model::Incident::id) != incidents.end()) continue;
        auto found = reader.incident(id);
        if (!found) return std::unexpected(found.error());
        if (*found) incidents.push_back(std::move(**found));
    }
    // Alerts of these that are over too: people may still have to be told what it was.
    std::set<std::string, std::less<>> have;
    for (const model::Alert& alert : alerts) have.insert(alert.id);
    for (const model::Incident& incident : incidents) {
        store::AlertQuery query;
        query.incident = incident.id;
        query.states = {model::AlertState::kResolved};
        auto page = reader.alerts(query);
        if (!page) return std::unexpected(page.error());
        for (model::Alert& alert : page->rows) {
            if (have.insert(alert.id).second) alerts.push_back(std::move(alert));
        }
        // Its root may have ended as part of another one.
        if (incident.root.empty() || !have.insert(incident.root).second) continue;
        auto root = reader.alert(incident.root);
        if (!root) return std::unexpected(root.error());
        if (*root) alerts.push_back(std::move(**root));
    }
    return planner_.restore(rows, incidents, alerts);
}

}  // namespace pollux::runtime
