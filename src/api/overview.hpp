// GET /api/overview: how it is going, on one page. How many are well, how fresh the data is, and
// what needs somebody, the worst first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "access/principal.hpp"
#include "api/fleet_snapshot.hpp"
#include "model/alert.hpp"
#include "runtime/core_loop.hpp"

namespace pollux::api {

struct PollRates {
    double per_second = 0;                // of the last minute
    std::optional<double> success_ratio;  // of the last five minutes; nothing: no poll ended
};

// Beside what the snapshot has.
struct OverviewFacts {
    PollRates rates;
    std::size_t jobs_running = 0;
    std::size_t jobs_failed = 0;  // in 24 hours
    // Open ones, as far as they are seen; they belong to a list that others look at too.
    std::vector<const model::Incident*> incidents;
    bool store_well = true;
    bool review = false;  // nobody is told of alerts yet
};

// Of everything that is polled; on the core's thread.
PollRates rates_of_all(const runtime::CoreLoop::View& core);
// Of the targets of the snapshot.
PollRates rates_of(const runtime::CoreLoop::View& core, const FleetSnapshot& fleet);

// Those of all open ones that somebody may see. The list outlives the answer.
std::vector<const model::Incident*> incidents_seen_by(const access::Principal& principal,
                                                      const runtime::FleetView& view,
                                                      const std::vector<model::Incident>& open);

struct Attention {
    std::string kind;  // incident, dead_letter, breaker, stale, observer, store, review
    std::string title;
    std::string why;
    model::Severity severity = model::Severity::kInfo;
    base::WallTime since;  // zero: not known
    std::string key;       // of a target, or the id of an incident; empty: of neither
    std::size_t count = 1;
};

inline constexpr std::size_t kMostAttention = 20;

// The worst first, at most kMostAttention. Targets with one kind of trouble are one line for each
// addon.
std::vector<Attention> attention_of(const FleetSnapshot& fleet, const OverviewFacts& facts);

std::string overview_page(const FleetSnapshot& fleet, const OverviewFacts& facts);

}  // namespace pollux::api
