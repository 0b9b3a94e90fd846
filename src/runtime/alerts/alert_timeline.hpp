// The timeline of alerts and incidents: which steps of their life a change was. Remembers of each
// open one only what is compared. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "alert/output.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/alert_event.hpp"

namespace pollux::runtime {

class AlertTimeline {
  public:
    // first: above the number of every event that was ever stored.
    explicit AlertTimeline(std::uint64_t first) : next_(first) {}

    // What was loaded: no event.
    void know(const model::Alert& alert);
    void know(const model::Incident& incident);

    // `by`: the principal whose act it was; empty: the engine's own decision.
    std::vector<model::AlertEvent> of(const alert::AlertChange& change, const std::string& by,
                                      base::WallTime now);
    std::vector<model::AlertEvent> of(const alert::IncidentChange& change, const std::string& by,
                                      base::WallTime now);

  private:
    struct KnownAlert {
        model::AlertState state = model::AlertState::kPending;
        model::Severity severity = model::Severity::kInfo;
        std::string incident;
        bool acknowledged = false;
        bool flapping = false;
        bool stale = false;
    };
    struct KnownIncident {
        model::Severity severity = model::Severity::kInfo;
        std::string root;
        std::size_t notes = 0;
    };
    static KnownAlert facts_of(const model::Alert& alert);
    static KnownIncident facts_of(const model::Incident& incident);

    std::uint64_t next_;
    std::map<std::string, KnownAlert, std::less<>> alerts_;
    std::map<std::string, KnownIncident, std::less<>> incidents_;
};

}  // namespace pollux::runtime
