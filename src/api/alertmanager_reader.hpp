// What clients of Alertmanager's API v2 send: alerts, silences and filters, read strictly and
// within bounds. Unknown fields are left alone, as Alertmanager does: its clients are newer and
// older than we are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alert/input.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/notification.hpp"

namespace pollux::api {

inline constexpr std::size_t kMostPostedAlerts = 5000;
inline constexpr std::size_t kMostPostedBytes = 4U << 20U;
// An alert without an end is over when it was not repeated for so long, as Alertmanager has it.
inline constexpr base::Duration kPostedAlertLife = std::chrono::minutes(5);

// [{"labels":{…},"annotations":{…},"startsAt":…,"endsAt":…}]. Errors alertmanager.alert.
base::Result<std::vector<alert::External>> read_posted_alerts(std::string_view body,
                                                              base::WallTime now);

// One silence: matchers, times, who and why. An id: one that is to be changed. Errors
// alertmanager.silence.
base::Result<model::Silence> read_posted_silence(std::string_view body, base::WallTime now);

// The `filter` parameters of a query: matchers in Alertmanager's syntax, all of which must hold.
base::Result<std::vector<model::LabelMatcher>> read_filters(
    const std::vector<std::string_view>& filters);

}  // namespace pollux::api
