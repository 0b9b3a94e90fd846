// The newest events, numbered, for everybody who follows them. A follower is only a number: where
// it is in the ring. Owned by one thread.
//
// Invariants
// 1. Numbers rise by one with each event and never repeat, also over restarts: the epoch of the
//    process is in their upper bits.
// 2. Memory is bounded by count and by bytes; the oldest go first. A follower that stands before
//    the oldest is told to start over (kLost).
// 3. Of events that replace each other (the same type and key: poll results, statistics) a follower
//    that is behind gets only the newest.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"

namespace pollux::api {

enum class EventType : std::uint8_t {
    kTaskStateChanged,
    kPollResult,
    kSchedulerStats,
    kSystemStatus,
    kAddonStatus,
    kJobChanged,
};
inline constexpr std::size_t kEventTypes = 6;
std::string_view to_string(EventType type);

struct Event {
    std::uint64_t number = 0;
    EventType type = EventType::kTaskStateChanged;
    std::string key;   // of the task, job or addon; empty: about the whole
    std::string text;  // the whole message as JSON
};

struct EventRingLimits {
    std::size_t events = 20'000;
    std::size_t bytes = 32U << 20U;
};

class EventRing {
  public:
    explicit EventRing(std::uint32_t epoch, EventRingLimits limits = {});

    // Returns the number. `data` is a JSON value.
    std::uint64_t add(EventType type, std::string key, base::WallTime at, std::string_view data);

    std::uint64_t newest() const { return next_ - 1; }  // first() - 1: none yet
    std::uint64_t oldest() const { return next_ - events_.size(); }
    std::size_t size() const { return events_.size(); }
    std::size_t bytes() const { return bytes_; }

    enum class Found : std::uint8_t { kEvent, kNothing, kLost };
    struct Next {
        Found found = Found::kNothing;
        std::shared_ptr<const Event> event;
    };
    // The first event after `number` that no newer one replaces. kLost: some after it are gone.
    Next after(std::uint64_t number) const;

    // Whether a follower that has seen up to `number` misses nothing by going on from there.
    bool can_resume(std::uint64_t number) const;

  private:
    static bool replaces(EventType type);

    EventRingLimits limits_;
    std::uint64_t first_;
    std::uint64_t next_;
    std::size_t bytes_ = 0;
    std::deque<std::shared_ptr<const Event>> events_;
    std::map<std::pair<EventType, std::string>, std::uint64_t> latest_;
};

}  // namespace pollux::api
