// Who is told: routes choose receivers for an alert at a moment, and say why. Immutable once it is
// compiled; may be used by several threads at once.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_labels.hpp"
#include "alert/matchers.hpp"
#include "alert/time_windows.hpp"
#include "base/result.hpp"
#include "model/notification.hpp"

namespace pollux::alert {

// `label:owner` among the receivers of a route is the receiver whose name the label holds.
inline constexpr std::string_view kReceiverByLabel = "label:";

class Router {
  public:
    Router() = default;  // tells nobody
    // Errors matcher.invalid, cron.invalid, zone.unknown, window.duration, with the name of the
    // route.
    static base::Result<Router> compile(std::vector<model::NotifyRoute> routes,
                                        std::vector<model::Receiver> receivers,
                                        const ZoneLookup& zones);

    // The routes that apply, in their order.
    std::vector<const model::NotifyRoute*> choose(const MatchLabels& labels,
                                                  model::Severity severity,
                                                  base::WallTime now) const;
    // Whether a route that applies but for its hours may do so later.
    bool may_apply_later(const MatchLabels& labels, model::Severity severity,
                         base::WallTime now) const;

    // The end of the quiet hours in which `now` lies; nothing: in none.
    std::optional<base::WallTime> quiet_until(std::string_view route, base::WallTime now) const;

    const model::NotifyRoute* route(std::string_view name) const;  // null: gone
    const model::Receiver* receiver(std::string_view name) const;  // null: gone
    // Existing receivers behind the names, each once.
    std::vector<std::string> receivers(std::span<const std::string> names,
                                       const MatchLabels& labels) const;

    // In words, a line per route: `pollux route test`.
    std::string explain(const MatchLabels& labels, model::Severity severity,
                        base::WallTime now) const;

  private:
    struct Entry {
        model::NotifyRoute route;
        Matchers matchers;
        Windows only_during;
        Windows quiet;
    };
    enum class Fit : std::uint8_t { kNo, kNotNow, kYes };
    static Fit fit(const Entry& entry, const MatchLabels& labels, model::Severity severity,
                   base::WallTime now);
    static std::string why_not(const Entry& entry, const MatchLabels& labels,
                               model::Severity severity);
    std::string who(const Entry& entry, const MatchLabels& labels, base::WallTime now) const;
    const Entry* find(std::string_view route) const;

    std::vector<Entry> entries_;  // in the order of routing
    std::map<std::string, model::Receiver, std::less<>> receivers_;
};

}  // namespace pollux::alert
