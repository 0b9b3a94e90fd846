// What the history holds of a target, as JSON: its series, or the points of some of them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "runtime/fleet_view.hpp"
#include "store/history/history.hpp"

namespace pollux::api {

struct HistoryWish {
    std::string key;                   // of a target or of one of its tasks
    std::vector<std::string> metrics;  // none: only which series there are
    std::vector<std::string> rows;     // none: all rows
    base::WallTime from;
    base::WallTime to;
    base::Duration step{};  // zero: every sample
};

// Codes: history.unknown_target, history.unknown_metric (both with what there is; only if there is
// nothing of all that was wished), history.off.
// Blocks for some reads. A null history: none is kept.
base::Result<std::string> history_page(store::History* history, const runtime::FleetView& view,
                                       const HistoryWish& wish);

}  // namespace pollux::api
