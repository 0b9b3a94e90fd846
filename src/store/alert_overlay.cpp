#include "store/alert_overlay.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "store/alert_rules.hpp"

namespace pollux::store {
namespace {

// What a page looked at, as numbers without the ends.
template <class Query, class Row>
std::pair<std::uint64_t, std::uint64_t> span_of(const Query& query, const Page<Row>& page) {
    if (page.next == 0) return {query.after, query.before};
    return query.oldest_first ? std::pair(query.after, page.next + 1)
                              : std::pair(page.next - 1, query.before);
}

// Replaces the rows of a committed page by those that wait, and adds those that belong into it.
template <class Row, class Query>
void lay_over(Page<Row>& page, const Query& query,
              const std::map<std::string, Row, std::less<>>& rows,
              const std::set<std::string, std::less<>>& removed) {
    const auto [after, before] = span_of(query, page);
    std::erase_if(page.rows, [&](const Row& row) {
        return rows.contains(row.id) || removed.contains(row.id);
    });
    for (const auto& [id, row] : rows) {
        if (row.number > after && row.number < before && matches(query, row)) {
            page.rows.push_back(row);
        }
    }
    std::ranges::sort(page.rows, {}, &Row::number);
    if (!query.oldest_first) std::ranges::reverse(page.rows);
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, kMostAlertsPerQuery);
    if (page.rows.size() <= limit) return;
    page.rows.resize(limit);
    page.next = page.rows.back().number;
}

}  // namespace

base::Result<Page<model::Alert>> OverlaidAlerts::alerts(const AlertQuery& query) {
    auto page = under_.alerts(query);
    if (page && over_) lay_over(*page, query, over_->alerts, over_->removed_alerts);
    return page;
}

base::Result<Page<model::Incident>> OverlaidAlerts::incidents(const IncidentQuery& query) {
    auto page = under_.incidents(query);
    if (page && over_) lay_over(*page, query, over_->incidents, over_->removed_incidents);
    return page;
}

base::Result<std::optional<model::Alert>> OverlaidAlerts::alert(std::string_view id) {
    if (over_) {
        const auto found = over_->alerts.find(id);
        if (found != over_->alerts.end()) return std::optional(found->second);
        if (over_->removed_alerts.contains(id)) return std::optional<model::Alert>();
    }
    return under_.alert(id);
}

base::Result<std::optional<model::Incident>> OverlaidAlerts::incident(std::string_view id) {
    if (over_) {
        const auto found = over_->incidents.find(id);
        if (found != over_->incidents.end()) return std::optional(found->second);
        if (over_->removed_incidents.contains(id)) return std::optional<model::Incident>();
    }
    return under_.incident(id);
}

base::Result<std::vector<AlertCount>> OverlaidAlerts::alert_counts() {
    auto committed = under_.alert_counts();
    if (!committed || !over_) return committed;
    using What = std::tuple<model::AlertState, model::Severity, std::string>;
    std::map<What, std::int64_t> counts;
    const auto add = [&](const model::Alert& alert, std::int64_t more) {
        counts[{alert.state, alert.severity, alert.addon}] += more;
    };
    for (const AlertCount& one : *committed) {
        counts[{one.state, one.severity, one.addon}] += static_cast<std::int64_t>(one.count);
    }
    const auto take_back = [&](const std::string& id) -> base::Status {
        auto old = under_.alert(id);
        if (!old) return std::unexpected(old.error());
        if (*old) add(**old, -1);
        return {};
    };
    for (const auto& [id, alert] : over_->alerts) {
        if (auto taken = take_back(id); !taken) return std::unexpected(taken.error());
        add(alert, 1);
    }
    for (const std::string& id : over_->removed_alerts) {
        if (over_->alerts.contains(id)) continue;
        if (auto taken = take_back(id); !taken) return std::unexpected(taken.error());
    }
    std::vector<AlertCount> result;
    for (const auto& [what, count] : counts) {
        if (count <= 0) continue;
        result.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what),
                          static_cast<std::uint64_t>(count)});
    }
    return result;
}

base::Result<Page<model::AlertEvent>> OverlaidAlerts::events(const AlertEventQuery& query) {
    auto page = under_.events(query);
    if (!page || !over_ || !query.oldest_first || page->next != 0) return page;
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, kMostAlertsPerQuery);
    for (const model::AlertEvent& event : over_->events) {
        if (event.number <= query.after || event.number >= query.before) continue;
        if (!matches(query, event)) continue;
        if (page->rows.size() >= limit) {
            page->next = page->rows.back().number;
            break;
        }
        page->rows.push_back(event);
    }
    return page;
}

}  // namespace pollux::store
