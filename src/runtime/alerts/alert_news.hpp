// What happened to alerts and incidents, on its way to who shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "alert/output.hpp"
#include "base/time.hpp"

namespace pollux::runtime {

// So many news were left out, because the store failed for too long: whoever follows must look
// anew.
struct NewsLost {
    std::uint64_t count = 0;
};

// Told after the commit; or, when the store fails for kProvisionalAfter, before it as provisional
// and once more after it. The alert's (incident's) id and version say that it is the same.
struct AlertNews {
    std::variant<alert::AlertChange, alert::IncidentChange, NewsLost> change;
    base::WallTime at;
    bool provisional = false;
};

using AlertSink = std::function<void(const std::vector<AlertNews>&)>;

}  // namespace pollux::runtime
