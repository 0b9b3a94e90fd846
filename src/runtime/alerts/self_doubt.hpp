// Reasons not to trust what we see: our threads do not answer, our default route is gone, names are
// not found out. Gathers them into one report for the alert engine. No clock of its own; not
// thread-safe.
//
// Invariants
// 1. Something bad is told at once; that all is well only when everything has been looked at in
//    this life. An impairment that an earlier life told therefore ends when it is over, and not
//    because we were restarted.
// 2. A route that was never there is not missed, nor is any where every target is on this machine.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "alert/input.hpp"
#include "base/time.hpp"

namespace pollux::runtime {

// How many names of devices there are, and of how many no address was found at the last poll.
struct NameCounts {
    std::size_t all = 0;
    std::size_t failing = 0;
    std::size_t failing_lately = 0;  // began within the last minutes
};

class SelfDoubt {
  public:
    static constexpr base::Duration kRouteChange = std::chrono::seconds(5);  // before it counts
    static constexpr std::size_t kFewestNames = 3;

    SelfDoubt() = default;
    // `impaired`: an earlier life said so.
    explicit SelfDoubt(bool impaired) : route_known_(impaired), names_fail_(impaired) {}

    void see_loops(std::string why);  // empty: all answer
    void see_route(base::BootTime now, bool needed, bool there);
    void see_names(const NameCounts& names);

    // What to tell, if it is something else than before.
    std::optional<alert::ObserverReport> take();

  private:
    enum Source : std::size_t { kLoops, kRoute, kNames, kSources };

    std::array<std::optional<std::string>, kSources> reasons_;  // empty text: well
    std::optional<std::string> said_;
    bool route_known_ = false;    // there is one, or was
    bool route_missing_ = false;  // as it is told
    std::optional<base::BootTime> route_other_since_;
    bool names_fail_ = false;
};

}  // namespace pollux::runtime
