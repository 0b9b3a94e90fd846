#include "runtime/alerts/self_doubt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pollux::runtime {

void SelfDoubt::see_loops(std::string why) { reasons_[kLoops] = std::move(why); }

void SelfDoubt::see_route(base::BootTime now, bool needed, bool there) {
    const bool missing = needed && !there && route_known_;
    route_known_ = route_known_ || there;
    // The first look counts at once: an earlier life may have said the same.
    if (missing == route_missing_) {
        route_other_since_.reset();
    } else if (!reasons_[kRoute]) {
        route_missing_ = missing;
    } else {
        if (!route_other_since_) route_other_since_ = now;
        if (now - *route_other_since_ >= kRouteChange) {
            route_missing_ = missing;
            route_other_since_.reset();
        }
    }
    reasons_[kRoute] =
        route_missing_ ? "the default route of this machine is gone, or its network has no carrier"
                       : "";
}

// It begins when half of the names fail together, and ends when less than a quarter does: names
// that nobody knows any more are no reason by themselves.
void SelfDoubt::see_names(const NameCounts& names) {
    if (names_fail_) {
        names_fail_ = names.failing >= kFewestNames && names.failing * 4 >= names.all;
    } else {
        names_fail_ = names.failing_lately >= kFewestNames && names.failing_lately * 2 >= names.all;
    }
    reasons_[kNames] = names_fail_
                           ? fmt::format(
                                 "for {} of {} names of devices no address is found: see to the "
                                 "name servers of this machine",
                                 names.failing, names.all)
                           : "";
}

std::optional<alert::ObserverReport> SelfDoubt::take() {
    std::string why;
    for (const auto& reason : reasons_) {
        if (!reason || reason->empty()) continue;
        if (!why.empty()) why += "; ";
        why += *reason;
    }
    const bool all_seen =
        std::ranges::all_of(reasons_, [](const auto& reason) { return reason.has_value(); });
    if (why.empty() && !all_seen) return std::nullopt;
    // Another number in the same trouble is no news.
    const bool same = said_ && said_->empty() == why.empty();
    if (same) return std::nullopt;
    said_ = why;
    return alert::ObserverReport{!why.empty(), why};
}

}  // namespace pollux::runtime
