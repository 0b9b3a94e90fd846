#include "api/history_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

using document::Node;

constexpr std::size_t kMaxSeries = 200;  // of one answer
constexpr std::size_t kMaxPoints = 20'000;
constexpr base::Duration kRecent = std::chrono::hours(48);

Node describe(const store::SeriesDefinition& series) {
    Node node = Node::map();
    node.set("metric", Node::text(series.metric));
    node.set("row", Node::text(series.row));
    std::string unit = series.unit;
    if (series.type == store::SeriesType::kRate)
        unit += unit.empty() ? "per second" : " per second";
    node.set("unit", Node::text(std::move(unit)));
    return node;
}

Node number(double value) { return std::isfinite(value) ? Node::number(value) : Node(); }

Node describe(const store::HistoryPoint& point) {
    Node node = Node::map();
    node.set("at", Node::text(base::format_utc(point.at)));
    node.set("count", Node::unsigned_integer(point.count));
    node.set("min", number(point.min));
    node.set("mean", number(point.mean()));
    node.set("max", number(point.max));
    node.set("last", number(point.last));
    return node;
}

std::string_view tier_name(store::HistoryTier tier) {
    switch (tier) {
        case store::HistoryTier::kRaw: return "samples";
        case store::HistoryTier::kMinute: return "minutes";
        case store::HistoryTier::kHour: return "hours";
    }
    return "samples";
}

base::Status add_points(store::History& history, const store::SeriesDefinition& series,
                        const HistoryWish& wish, Node& into) {
    store::HistoryQuery query;
    query.series = series.id;
    query.from = wish.from;
    query.to = wish.to;
    query.step = wish.step;
    query.limit = kMaxPoints;
    const auto answer = history.query(query);
    if (!answer) return std::unexpected(answer.error());
    Node points = Node::sequence();
    for (const store::HistoryPoint& point : answer->points) points.push(describe(point));
    into.set("from", Node::text(std::string(tier_name(answer->tier))));
    into.set("truncated", Node::boolean(answer->truncated));
    into.set("points", std::move(points));
    return {};
}

// The newest value, for the list of series.
void add_newest(store::History& history, const store::SeriesDefinition& series, base::WallTime now,
                Node& into) {
    store::HistoryQuery query;
    query.series = series.id;
    query.from = now - kRecent;
    query.to = now + std::chrono::minutes(1);
    query.step = std::chrono::minutes(1);
    query.limit = kMaxPoints;
    const auto answer = history.query(query);
    if (!answer || answer->points.empty()) return;
    into.set("at", Node::text(base::format_utc(answer->points.back().at)));
    into.set("last", number(answer->points.back().last));
}

// Nothing wished is everything.
bool wished(const std::vector<std::string>& wishes, const std::string& name) {
    return wishes.empty() || std::ranges::find(wishes, name) != wishes.end();
}

base::Status no_such_metric(const HistoryWish& wish,
                            const std::vector<store::SeriesDefinition>& all) {
    std::set<std::string_view> metrics;
    std::set<std::string_view> rows;
    for (const auto& series : all) {
        metrics.insert(series.metric);
        if (wished(wish.metrics, series.metric)) rows.insert(series.row);
    }
    const bool row = !rows.empty();
    const std::vector<std::string_view> there(row ? rows.begin() : metrics.begin(),
                                              row ? rows.end() : metrics.end());
    return base::config_error(
        "history.unknown_metric",
        there.empty() ? fmt::format("the history has nothing of {} yet", base::quoted(wish.key))
                      : fmt::format("{} has no {} {} in the history; there are {}",
                                    base::quoted(wish.key), row ? "row" : "metric",
                                    base::quoted(fmt::format(
                                        "{}", fmt::join(row ? wish.rows : wish.metrics, ", "))),
                                    document::word_list(there)));
}

}  // namespace

base::Result<std::string> history_page(store::History* history, const runtime::FleetView& view,
                                       const HistoryWish& wish) {
    if (history == nullptr) {
        return base::config_error("history.off", "this server keeps no history");
    }
    const auto& plans = view.image->plans;
    const auto plan = plans.find(wish.key);
    if (view.image->inbound->find(wish.key)) {
        return base::config_error(
            "history.inbound",
            fmt::format(
                "{} is heard, not polled, and has no history: `pollux messages --target {}` "
                "shows what came",
                base::quoted(wish.key), wish.key));
    }
    if (plan == plans.end()) {
        return base::config_error(
            "history.unknown_target",
            fmt::format("no target {}; `pollux top` shows their keys", base::quoted(wish.key)));
    }
    auto all = history->series_of(plan->second->target_id);
    if (!all) return std::unexpected(all.error());
    std::ranges::sort(*all, {}, [](const store::SeriesDefinition& series) {
        return std::tie(series.metric, series.row);
    });
    Node list = Node::sequence();
    bool more = false;
    for (const store::SeriesDefinition& series : *all) {
        if (!wished(wish.metrics, series.metric) || !wished(wish.rows, series.row)) continue;
        if (list.items().size() >= kMaxSeries) {
            more = true;
            break;
        }
        Node entry = describe(series);
        if (wish.metrics.empty()) {
            add_newest(*history, series, wish.to, entry);
        } else if (const auto added = add_points(*history, series, wish, entry); !added) {
            return std::unexpected(added.error());
        }
        list.push(std::move(entry));
    }
    if (list.items().empty()) {
        const base::Status missing = no_such_metric(wish, *all);
        return std::unexpected(missing.error());
    }
    Node page = Node::map();
    page.set("key", Node::text(wish.key));
    page.set("more", Node::boolean(more));
    page.set("series", std::move(list));
    return document::to_json(page);
}

}  // namespace pollux::api
