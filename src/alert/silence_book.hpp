// All silences, and which of them hold an alert at a moment. Pure: time is handed in.
//
// Not thread-safe. Invariants
// 1. A silence that is over holds nothing; it stays visible until forget() drops it.
// 2. A flexible silence begins once, with the first alert that it matches between `from` and
//    `until`, and is over `duration` later, or at `until` if none came.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_labels.hpp"
#include "alert/matchers.hpp"
#include "alert/time_windows.hpp"
#include "base/result.hpp"
#include "model/notification.hpp"

namespace pollux::alert {

inline constexpr std::size_t kMostSilences = 10'000;  // that are not over

enum class SilenceState : std::uint8_t {
    kPending,  // will hold: later, in its next window, with the first alert
    kActive,
    kExpired,
};
std::string_view to_string(SilenceState state);

class SilenceBook {
  public:
    explicit SilenceBook(ZoneLookup zones) : zones_(std::move(zones)) {}

    // Adds it, or replaces the one of the same id. Errors matcher.invalid, cron.invalid,
    // zone.unknown, window.duration, silence.invalid (no matcher that leaves anything out, an end
    // before its beginning, too many).
    base::Status put(model::Silence silence);
    // Ends it now; it stays in the history. False: unknown, or over already.
    bool end(std::string_view id, base::WallTime now);
    void remove(std::string_view id) { entries_.erase(std::string(id)); }
    // Drops what has been over for longer than `keep`; the ids of these.
    std::vector<std::string> forget(base::WallTime now, base::Duration keep);
    static bool over(const model::Silence& silence, base::WallTime now);

    std::size_t size() const { return entries_.size(); }
    const model::Silence* find(std::string_view id) const;
    std::vector<model::Silence> all() const;  // by id
    SilenceState state(const model::Silence& silence, base::WallTime now) const;

    struct Hold {
        base::WallTime until;          // when the last of them ends
        std::vector<std::string> ids;  // sorted
    };
    // Nothing: no silence holds it.
    std::optional<Hold> holding(const MatchLabels& labels, base::WallTime now) const;

    // Those that hold something at a moment: found once, asked for many alerts. Valid until the
    // book changes.
    class InForce {
      public:
        bool empty() const { return matchers_.empty(); }
        bool hold(const MatchLabels& labels) const;

      private:
        friend class SilenceBook;
        std::vector<const Matchers*> matchers_;
    };
    InForce in_force(base::WallTime now) const;

    // An alert is there: flexible silences that match it begin. Those that did, to be stored.
    std::vector<model::Silence> begin(const MatchLabels& labels, base::WallTime now);

  private:
    struct Entry {
        model::Silence silence;
        Matchers matchers;
        std::optional<Window> window;
    };
    static std::optional<base::WallTime> active_until(const Entry& entry, base::WallTime now);

    ZoneLookup zones_;
    std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace pollux::alert
