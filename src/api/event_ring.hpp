// The newest events, numbered, for everybody who follows them. A follower is only a number: where
// it is in the ring. Owned by one thread.
//
// Invariants
// 1. Numbers rise by one with each event and never repeat, also over restarts: the epoch of the
//    process is in their upper bits.
// 2. Memory is bounded by count and by bytes; the oldest go first. A follower that stands before
//    the oldest is told to start over (kLost).
// 3. Of events that replace each other (the same type and key: poll results, statistics) only the
//    newest is kept: a follower that is behind gets that one, and transitions stay for longer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/selector.hpp"
#include "base/time.hpp"

namespace pollux::api {

enum class EventType : std::uint8_t {
    kTaskStateChanged,
    kPollResult,
    kSchedulerStats,
    kSystemStatus,
    kAddonStatus,
    kJobChanged,
    kAlertCreated,
    kAlertUpdated,
    kAlertResolved,
    kIncidentChanged,
};
inline constexpr std::size_t kEventTypes = 10;
std::string_view to_string(EventType type);
std::optional<EventType> parse_event_type(std::string_view name);

// About an alert or an incident, and not about the fleet: who may see it is decided by what it says
// itself.
bool is_about_alerts(EventType type);

// What an event about an alert says for filters and grants.
struct EventScope {
    access::Labels labels;
    std::vector<std::string> groups;  // of the device
};

struct Event {
    std::uint64_t number = 0;
    EventType type = EventType::kTaskStateChanged;
    // Of the task, job or addon, of the target of an alert, or an incident; empty: about the whole,
    // or an alert of no target.
    std::string key;
    // Of alerts and incidents; null: only for those who may see everything.
    std::shared_ptr<const EventScope> scope;
    std::string frame;      // the message as a WebSocket sends it: one encoding for everybody
    std::size_t begin = 0;  // of the text in the frame
    std::string brief;      // of results: a row for who takes them together; see event_digest.hpp

    // The whole message as JSON.
    std::string_view text() const { return std::string_view(frame).substr(begin); }
};

struct EventRingLimits {
    std::size_t events = 20'000;
    std::size_t numbers = 200'000;  // those of replaced events included
    std::size_t bytes = 32U << 20U;
};

class EventRing {
  public:
    explicit EventRing(std::uint32_t epoch, EventRingLimits limits = {});

    // `data` is a JSON value.
    std::shared_ptr<const Event> add(EventType type, std::string key, base::WallTime at,
                                     std::string_view data,
                                     std::shared_ptr<const EventScope> scope = nullptr,
                                     std::string brief = {});
    // Events were lost before they came here: every follower is to start over.
    void forget();

    std::uint32_t epoch() const { return epoch_; }
    std::uint64_t newest() const { return next_ - 1; }  // before the first event: none yet
    std::uint64_t oldest() const { return next_ - events_.size(); }
    std::size_t size() const { return kept_; }
    std::size_t bytes() const { return bytes_; }

    enum class Found : std::uint8_t { kEvent, kNothing, kLost };
    struct Next {
        Found found = Found::kNothing;
        std::shared_ptr<const Event> event;
    };
    // The first event after `number` that no newer one replaced. kLost: some after it are gone.
    Next after(std::uint64_t number) const;

    // Whether a follower that has seen up to `number` misses nothing by going on from there.
    bool can_resume(std::uint64_t number) const;

  private:
    static bool replaces(EventType type);
    void drop_oldest();
    void take_out(std::shared_ptr<const Event>& event);
    static std::size_t bytes_of(const Event& event) {
        return event.frame.size() + event.brief.size();
    }

    std::uint32_t epoch_;
    EventRingLimits limits_;
    std::uint64_t next_;
    std::size_t kept_ = 0;
    std::size_t bytes_ = 0;
    std::deque<std::shared_ptr<const Event>> events_;  // null: replaced
    std::map<std::pair<EventType, std::string>, std::uint64_t> latest_;
};

}  // namespace pollux::api
