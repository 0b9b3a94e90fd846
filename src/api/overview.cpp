#include "api/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "api/alert_acts.hpp"
#include "api/shown_number.hpp"
#include "document/json_writer.hpp"
#include "runtime/insight_books.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using model::Severity;
using runtime::shown_seconds;
using runtime::TargetState;

constexpr base::Duration kRateWindow = std::chrono::minutes(1);
constexpr base::Duration kSuccessWindow = std::chrono::minutes(5);

std::optional<double> ratio(std::uint64_t good, std::uint64_t all) {
    if (all == 0) return std::nullopt;
    return static_cast<double>(good) / static_cast<double>(all);
}

// Targets with the same trouble and addon, as one line.
class Crowd {
  public:
    void add(std::string_view key, const FleetRow& row, base::WallTime since) {
        if (count_++ == 0) {
            key_ = key;
            problem_ = row.problem;
        }
        const bool earlier = since_ == base::WallTime{} || since < since_;
        if (since != base::WallTime{} && earlier) since_ = since;
    }
    std::size_t count() const { return count_; }
    const std::string& key() const { return key_; }
    Attention attention(std::string kind, Severity severity, std::string title,
                        std::string why) const {
        if (!problem_.empty()) why += (why.empty() ? "" : ": ") + problem_;
        return {std::move(kind), std::move(title), std::move(why), severity, since_, key_, count_};
    }

  private:
    std::size_t count_ = 0;
    std::string key_;
    std::string problem_;
    base::WallTime since_;
};

std::string named(const Crowd& crowd, std::string_view addon, std::string_view one,
                  std::string_view many) {
    return crowd.count() == 1 ? fmt::format("{} {}", crowd.key(), one)
                              : fmt::format("{} targets of {} {}", crowd.count(), addon, many);
}

struct Crowds {
    std::map<std::pair<std::string_view, model::DeadLetterReason>, Crowd> dead;
    std::map<std::string_view, Crowd> open;
    std::map<std::string_view, Crowd> stale;
};

Crowds crowds_of(const FleetSnapshot& fleet) {
    Crowds crowds;
    for (std::size_t i = 0; i < fleet.rows.size(); ++i) {
        const FleetRow& row = fleet.rows[i];
        const alert::TargetFacts& target = *fleet.frame->rows()[fleet.shown[i]].target;
        if (row.state == TargetState::kDisabled || row.state == TargetState::kUnreachable) continue;
        if (row.dead_letter != model::DeadLetterReason::kNone) {
            crowds.dead[{target.addon, row.dead_letter}].add(target.key, row,
                                                             row.dead_letter_since);
        } else if (row.breaker != model::BreakerState::kClosed) {
            // What has an alert is in its incident already.
            if (fleet.alerts.targets.contains(target.key)) continue;
            crowds.open[target.addon].add(target.key, row, row.breaker_since);
        } else if (row.state == TargetState::kStale) {
            crowds.stale[target.addon].add(target.key, row, row.since);
        }
    }
    return crowds;
}

void add_crowds(const FleetSnapshot& fleet, std::vector<Attention>& all) {
    const Crowds crowds = crowds_of(fleet);
    for (const auto& [what, crowd] : crowds.dead) {
        all.push_back(crowd.attention(
            "dead_letter", Severity::kMajor,
            named(crowd, what.first, "was set aside", "were set aside"),
            fmt::format("failed again and again ({})", model::to_string(what.second))));
    }
    for (const auto& [addon, crowd] : crowds.open) {
        all.push_back(crowd.attention("breaker", Severity::kMinor,
                                      named(crowd, addon, "is only probed", "are only probed"),
                                      "the breaker is open after repeated failures"));
    }
    for (const auto& [addon, crowd] : crowds.stale) {
        all.push_back(crowd.attention("stale", Severity::kWarning,
                                      named(crowd, addon, "has old data", "have old data"),
                                      "the data is older than its bound, and no failure is known"));
    }
}

std::string why_of(const model::Incident& incident) {
    if (incident.cause == model::CauseKind::kObserver) {
        return "Pollux itself seems to be cut off: nothing that it sees can be believed";
    }
    std::string why = incident.device.empty() ? std::string() : "device " + incident.device;
    if (incident.affected > 0) {
        why += fmt::format("{}{} other alerts follow from it", why.empty() ? "" : ", ",
                           incident.affected);
    }
    return why;
}

void add_incidents(const FleetSnapshot& fleet, const OverviewFacts& facts,
                   std::vector<Attention>& all) {
    for (const model::Incident* one : facts.incidents) {
        const model::Incident& incident = *one;
        const auto tally = fleet.alerts.incidents.find(incident.id);
        if (tally != fleet.alerts.incidents.end() && tally->second.is_acknowledged()) continue;
        all.push_back({"incident", incident.title, why_of(incident), incident.severity,
                       incident.opened_at, incident.id, std::size_t{1} + incident.affected});
    }
}

void add_ourselves(const FleetSnapshot& fleet, const OverviewFacts& facts,
                   std::vector<Attention>& all) {
    if (fleet.alerts.impaired) {
        all.push_back({"observer",
                       "Pollux seems to be cut off",
                       "so many devices failed at once that the fault is probably on our side: "
                       "check the network of this server",
                       Severity::kCritical,
                       {},
                       "",
                       1});
    }
    if (!facts.store_well) {
        all.push_back({"store",
                       "What happens cannot be stored",
                       "polling goes on and changes are kept in memory: check disk and data folder",
                       Severity::kCritical,
                       {},
                       "",
                       1});
    }
    if (facts.review) {
        all.push_back({"review",
                       "Nobody is told of alerts yet",
                       "alerts are collected for review: switch alerts_review off to send them",
                       Severity::kInfo,
                       {},
                       "",
                       1});
    }
}

struct Freshness {
    std::optional<base::Duration> median;
    std::optional<base::Duration> p95;
    std::size_t over_bound = 0;
    std::optional<double> share;
};

Freshness freshness_of(const FleetSnapshot& fleet) {
    std::vector<base::Duration> ages;
    std::size_t expected = 0;
    std::size_t fresh = 0;
    Freshness result;
    for (const FleetRow& row : fleet.rows) {
        // What sends when it wants is never late.
        if (row.state == TargetState::kDisabled || row.bound == base::Duration::zero()) continue;
        ++expected;
        if (row.last_success == base::WallTime{}) continue;
        const base::Duration age = std::max(fleet.now - row.last_success, base::Duration::zero());
        ages.push_back(age);
        ++(age > row.bound ? result.over_bound : fresh);
    }
    result.share = ratio(fresh, expected);
    if (ages.empty()) return result;
    const auto at = [&](double share) {
        const auto place = ages.begin() + static_cast<std::ptrdiff_t>(
                                              share * static_cast<double>(ages.size() - 1));
        std::ranges::nth_element(ages, place);
        return *place;
    };
    result.median = at(0.5);
    result.p95 = at(0.95);
    return result;
}

template <class Value>
void field_or_null(JsonWriter& json, std::string_view name, const std::optional<Value>& value) {
    json.key(name);
    if (!value) {
        json.null();
    } else if constexpr (std::is_same_v<Value, base::Duration>) {
        json.value(shown_seconds(*value));
    } else {
        json.value(shown(*value));
    }
}

void write_counts(JsonWriter& json, const FleetSnapshot& fleet) {
    std::array<std::size_t, runtime::kTargetStates.size()> counts{};
    for (const FleetRow& row : fleet.rows) ++counts[static_cast<std::size_t>(row.state)];
    json.key("counts").object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        json.field(runtime::kTargetStates[i], counts[i]);
    }
    json.end_object();
}

void write_freshness(JsonWriter& json, const FleetSnapshot& fleet) {
    const Freshness fresh = freshness_of(fleet);
    json.key("freshness").object();
    field_or_null(json, "median_age", fresh.median);
    field_or_null(json, "p95_age", fresh.p95);
    json.field("over_bound", fresh.over_bound);
    field_or_null(json, "fresh_share", fresh.share);
    json.end_object();
}

}  // namespace

PollRates rates_of_all(const runtime::CoreLoop::View& core) {
    const auto points = core.insight.history.points(runtime::HistorySpan::kQuarter, core.now.wall);
    const base::Duration step = runtime::SchedulerHistory::step_of(runtime::HistorySpan::kQuarter);
    PollRates rates;
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t failed = 0;
    base::Duration covered{};
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        const base::WallTime at =
            runtime::SchedulerHistory::time_of(runtime::HistorySpan::kQuarter, *point);
        if (core.now.wall - at > kSuccessWindow) break;
        finished += point->finished;
        failed += point->failed;
        if (core.now.wall - at > kRateWindow) continue;
        started += point->started;
        covered += step;
    }
    if (covered > base::Duration::zero()) {
        rates.per_second = static_cast<double>(started) / base::to_seconds(covered);
    }
    rates.success_ratio = ratio(finished - failed, finished);
    return rates;
}

PollRates rates_of(const runtime::CoreLoop::View& core, const FleetSnapshot& fleet) {
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    std::uint64_t good = 0;
    for (const std::uint32_t row : fleet.shown) {
        for (const std::string_view key : fleet.frame->rows()[row].tasks) {
            const auto* runs = core.insight.runs.of(core.engine.core().find(key).index);
            if (runs == nullptr) continue;
            // Looked at where they are: this is the core's thread, and they are many.
            for (std::size_t back = 0; back < runs->size(); ++back) {
                const runtime::RunRecord& run = runs->recent(back);
                const base::Duration ago = core.now.wall - run.started;
                if (ago > kSuccessWindow) break;
                if (ago <= kRateWindow) ++started;
                if (run.outcome == model::Outcome::kInterrupted) continue;
                ++ended;
                if (model::is_success(run.outcome)) ++good;
            }
        }
    }
    return {static_cast<double>(started) / base::to_seconds(kRateWindow), ratio(good, ended)};
}

std::vector<const model::Incident*> incidents_seen_by(const access::Principal& principal,
                                                      const runtime::FleetView& view,
                                                      const std::vector<model::Incident>& open) {
    const bool all =
        access::may_everywhere(principal, access::Permission::kRead, access::Area::kMonitoring);
    std::vector<const model::Incident*> seen;
    for (const model::Incident& incident : open) {
        if (all || may_on_incident(principal, access::Permission::kRead, view, incident)) {
            seen.push_back(&incident);
        }
    }
    return seen;
}

std::vector<Attention> attention_of(const FleetSnapshot& fleet, const OverviewFacts& facts) {
    std::vector<Attention> all;
    add_incidents(fleet, facts, all);
    add_crowds(fleet, all);
    add_ourselves(fleet, facts, all);
    std::ranges::stable_sort(all, [](const Attention& a, const Attention& b) {
        return std::tuple(b.severity, b.count, a.since) < std::tuple(a.severity, a.count, b.since);
    });
    if (all.size() > kMostAttention) all.resize(kMostAttention);
    return all;
}

std::string overview_page(const FleetSnapshot& fleet, const OverviewFacts& facts) {
    std::string page;
    JsonWriter json(page);
    json.object().field("time", fleet.now).field("seq", fleet.seq);
    write_counts(json, fleet);
    write_freshness(json, fleet);
    json.key("rates").object().field("polls_per_second", shown(facts.rates.per_second));
    field_or_null(json, "success_ratio", facts.rates.success_ratio);
    json.end_object().key("attention").array();
    for (const Attention& one : attention_of(fleet, facts)) {
        json.object().field("kind", one.kind).field("title", one.title).field("why", one.why);
        json.field("severity", model::to_string(one.severity)).time_field("since", one.since);
        json.field("key", one.key).field("count", one.count).end_object();
    }
    json.end_array();
    const auto acknowledged = std::ranges::count_if(facts.incidents, [&](const auto* incident) {
        const auto tally = fleet.alerts.incidents.find(incident->id);
        return tally != fleet.alerts.incidents.end() && tally->second.is_acknowledged();
    });
    json.key("incidents").object();
    json.field("open", facts.incidents.size());
    json.field("acknowledged", acknowledged).end_object();
    json.key("alerts").object().field("open", fleet.alerts.open);
    json.field("suppressed", fleet.alerts.suppressed).field("silenced", fleet.alerts.silenced);
    json.end_object().key("jobs").object().field("running", facts.jobs_running);
    json.field("failed_24h", facts.jobs_failed).end_object().end_object();
    return page;
}

}  // namespace pollux::api
