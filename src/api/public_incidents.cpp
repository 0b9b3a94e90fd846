#include "api/public_incidents.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

namespace pollux::api {
namespace {

using model::Incident;

constexpr base::Duration kIncidentsOf = std::chrono::hours(24 * 14);
constexpr std::size_t kMostIncidents = 50;
constexpr std::size_t kMostPages = 10;  // of a search, each of at most kMostAlertsScanned rows
constexpr std::size_t kMostHops = 8;    // from one incident to the one it was merged into

// Incidents with a note for everybody.
base::Result<std::vector<Incident>> written_about(store::AlertReader& reader, base::WallTime now) {
    store::IncidentQuery query;
    query.from = now - kIncidentsOf;
    query.visible = [](const Incident& incident) {
        return std::ranges::any_of(incident.notes, &model::IncidentNote::shown);
    };
    std::vector<Incident> all;
    for (std::size_t page = 0; page < kMostPages && all.size() < kMostIncidents; ++page) {
        query.limit = kMostIncidents - all.size();
        auto found = reader.incidents(query);
        if (!found) return std::unexpected(found.error());
        std::ranges::move(found->rows, std::back_inserter(all));
        if (found->next == 0) break;
        query.before = found->next;
    }
    return all;
}

class Teller {
  public:
    explicit Teller(store::AlertReader& reader) : reader_(reader) {}

    base::Status tell(Incident incident) {
        PublicIncident part;
        part.started = incident.opened_at;
        for (const model::IncidentNote& note : incident.notes) {
            if (note.shown) part.notes.push_back({note.at, note.text});
        }
        // Its alerts moved on, not its notes: groups and end are where the alerts are now.
        for (std::size_t hop = 0;; ++hop) {
            const auto groups = groups_of(incident);
            if (!groups) return std::unexpected(groups.error());
            part.groups.insert(part.groups.end(), (*groups)->begin(), (*groups)->end());
            if (incident.merged_into.empty() || hop == kMostHops) break;
            auto next = reader_.incident(incident.merged_into);
            if (!next) return std::unexpected(next.error());
            if (!*next) break;  // retention took it: the end of this one is the last that is known
            incident = std::move(**next);
        }
        part.ended = incident.resolved_at;
        add(incident.id, std::move(part));
        return {};
    }

    std::vector<PublicIncident> take() {
        for (PublicIncident& one : told_) {
            std::ranges::stable_sort(one.notes, {}, &PublicNote::at);
            std::ranges::sort(one.groups);
            const auto twice = std::ranges::unique(one.groups);
            one.groups.erase(twice.begin(), twice.end());
        }
        return std::move(told_);
    }

  private:
    using Groups = std::vector<std::string>;

    // Several that became one are one disruption.
    void add(const std::string& last, PublicIncident part) {
        const auto [place, fresh] = places_.emplace(last, told_.size());
        if (fresh) return told_.push_back(std::move(part));
        PublicIncident& whole = told_[place->second];
        whole.started = std::min(whole.started, part.started);
        std::ranges::move(part.notes, std::back_inserter(whole.notes));
        std::ranges::move(part.groups, std::back_inserter(whole.groups));
    }

    base::Result<const Groups*> groups_of(const Incident& incident) {
        const auto [place, fresh] = groups_.try_emplace(incident.id);
        Groups& groups = place->second;
        if (!fresh) return &groups;
        const auto take = [&](const model::Alert& alert) {
            groups.insert(groups.end(), alert.groups.begin(), alert.groups.end());
        };
        // The cause first: with many alerts it is one of the oldest, or not even among them.
        const auto root = reader_.alert(incident.root);
        if (!root) return std::unexpected(root.error());
        if (*root) take(**root);
        store::AlertQuery query;
        query.incident = incident.id;
        query.oldest_first = true;
        query.limit = store::kMostAlertsPerQuery;
        const auto alerts = reader_.alerts(query);
        if (!alerts) return std::unexpected(alerts.error());
        std::ranges::for_each(alerts->rows, take);
        std::ranges::sort(groups);
        const auto twice = std::ranges::unique(groups);
        groups.erase(twice.begin(), twice.end());
        return &groups;
    }

    store::AlertReader& reader_;
    std::vector<PublicIncident> told_;
    std::map<std::string, std::size_t> places_;  // in told_, by the id of the last one
    std::map<std::string, Groups> groups_;       // by the id of an incident
};

}  // namespace

base::Result<std::vector<PublicIncident>> public_incidents(store::AlertReader& reader,
                                                           base::WallTime now) {
    auto found = written_about(reader, now);
    if (!found) return std::unexpected(found.error());
    Teller teller(reader);
    for (Incident& incident : *found) {
        if (auto told = teller.tell(std::move(incident)); !told) {
            return std::unexpected(told.error());
        }
    }
    return teller.take();
}

}  // namespace pollux::api
