// Which events a follower wants, and which it may see.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.hpp"
#include "api/event_ring.hpp"
#include "base/result.hpp"
#include "config/expand.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {

// Events of these types that are about one of these targets or groups. An empty list of targets and
// groups: about anything. What is about the whole (statistics, status) goes by its type alone.
struct Subscription {
    static constexpr std::uint32_t kAllTypes = (1U << kEventTypes) - 1;

    std::uint32_t types = kAllTypes;   // a bit for each EventType
    std::vector<std::string> targets;  // keys of tasks or targets; `*` stands for anything
    std::vector<std::string> groups;   // of the device
    bool operator==(const Subscription&) const = default;

    bool has(EventType type) const { return (types & bit(type)) != 0; }
    static constexpr std::uint32_t bit(EventType type) {
        return 1U << static_cast<std::uint32_t>(type);
    }
    // `target`: of the event's key, null if there is none.
    bool matches(const Event& event, const config::TargetPlanInput* target) const;
};

// What one follower asked for: an event that any of its subscriptions matches. Bounded.
class EventFilter {
  public:
    static constexpr std::size_t kMostSubscriptions = 50;
    static constexpr std::size_t kMostNames = 500;  // targets and groups of all subscriptions
    static constexpr std::size_t kMostBytes = 32 * 1024;

    bool empty() const { return subscriptions_.empty(); }
    bool wants(EventType type) const;
    bool matches(const Event& event, const config::TargetPlanInput* target) const;

    // The same one twice is one. An error (event.subscriptions): more than is kept.
    base::Status add(Subscription subscription);
    // Takes the types and the names out of all subscriptions; those with nothing left are gone. One
    // without types and names takes out everything.
    void remove(const Subscription& what);
    void write(document::JsonWriter& json) const;  // as a list

  private:
    std::vector<Subscription> subscriptions_;
};

// What a principal may see. Many followers with the same grants share one: it remembers its last
// answer.
class EventSight {
  public:
    explicit EventSight(access::Principal principal);

    // `fleet` is a number that changes with the fleet.
    bool sees(const Event& event, const config::TargetPlanInput* target, std::uint64_t fleet);

    // The same text means the same sight.
    static std::string signature(const access::Principal& principal);

  private:
    bool decide(const Event& event, const config::TargetPlanInput* target) const;

    access::Principal principal_;
    bool everything_ = false;
    std::uint64_t last_number_ = 0;
    std::uint64_t last_fleet_ = 0;
    bool last_answer_ = false;
};

}  // namespace pollux::api
