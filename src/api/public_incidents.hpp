// What everybody may read of incidents: those that somebody wrote about for everybody. Nothing is
// public by itself.
#pragma once

#include <vector>

#include "api/status_page.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "store/alert_types.hpp"

namespace pollux::api {

// Of the last two weeks, the newest first; blocks for some bounded reads. An incident that was
// merged into another is told as a part of that: it lasts as long as its alerts do.
base::Result<std::vector<PublicIncident>> public_incidents(store::AlertReader& reader,
                                                           base::WallTime now);

}  // namespace pollux::api
