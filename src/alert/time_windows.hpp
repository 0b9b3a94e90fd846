// Recurring times in a time zone: maintenance, quiet hours, hours of duty.
//
// A window begins when clocks of its zone show a time that its cron expression names, and ends when
// they show that time plus its duration: quiet hours from 22:00 for 9 hours end at 07:00 in every
// night. A time that clocks leave out begins when they jump; one that they show twice begins with
// the first and ends with the last. Windows that overlap or touch count as one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cron.hpp"
#include "base/result.hpp"
#include "base/time_zone.hpp"
#include "model/notification.hpp"

namespace pollux::alert {

inline constexpr base::Duration kShortestWindow = std::chrono::minutes(1);
inline constexpr base::Duration kLongestWindow = std::chrono::hours(31 * 24);

// Zones live in files: whoever may read them hands them in. Error zone.unknown.
using ZoneLookup =
    std::function<base::Result<std::shared_ptr<const base::TimeZone>>(std::string_view)>;

class Window {
  public:
    // Errors cron.invalid, zone.unknown, window.duration.
    static base::Result<Window> compile(const model::CronWindow& window, const ZoneLookup& zones);

    // The window in which `now` lies; nothing: in none. Its end is looked for over kLongestWindow:
    // what has none by then is looked at again then.
    std::optional<model::TimeRange> covering(base::WallTime now) const;

  private:
    std::optional<std::int64_t> latest_start(base::WallTime now) const;  // local seconds
    base::WallTime end_of(std::int64_t start) const;

    base::Cron cron_;
    base::Duration duration_{};
    std::shared_ptr<const base::TimeZone> zone_;
};

// Several windows: inside any of them is inside.
class Windows {
  public:
    static base::Result<Windows> compile(const std::vector<model::CronWindow>& windows,
                                         const ZoneLookup& zones);

    bool empty() const { return windows_.empty(); }
    // When the time that covers `now` ends; nothing: `now` is in no window.
    std::optional<base::WallTime> covered_until(base::WallTime now) const;

  private:
    std::vector<Window> windows_;
};

}  // namespace pollux::alert
