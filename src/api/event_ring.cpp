#include "api/event_ring.hpp"

#include <array>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

constexpr std::array<std::string_view, kEventTypes> kNames = {"task_state_changed", "poll_result",
                                                              "scheduler_stats",    "system_status",
                                                              "addon_status",       "job_changed"};

}  // namespace

std::string_view to_string(EventType type) { return kNames[static_cast<std::size_t>(type)]; }

EventRing::EventRing(std::uint32_t epoch, EventRingLimits limits)
    : limits_(limits), first_((static_cast<std::uint64_t>(epoch) << 32U) + 1), next_(first_) {}

bool EventRing::replaces(EventType type) {
    return type == EventType::kPollResult || type == EventType::kSchedulerStats ||
           type == EventType::kSystemStatus;
}

std::uint64_t EventRing::add(EventType type, std::string key, base::WallTime at,
                             std::string_view data) {
    auto event = std::make_shared<Event>();
    event->number = next_++;
    event->type = type;
    document::JsonWriter json(event->text);
    json.object().field("type", to_string(type)).field("seq", event->number).field("at", at);
    json.text_field("key", key).raw_field("data", data).end_object();
    if (replaces(type)) latest_[{type, key}] = event->number;
    event->key = std::move(key);
    bytes_ += event->text.size();
    events_.push_back(event);
    while (events_.size() > 1 && (events_.size() > limits_.events || bytes_ > limits_.bytes)) {
        const Event& gone = *events_.front();
        bytes_ -= gone.text.size();
        const auto known = latest_.find({gone.type, gone.key});
        if (known != latest_.end() && known->second == gone.number) latest_.erase(known);
        events_.pop_front();
    }
    return event->number;
}

bool EventRing::can_resume(std::uint64_t number) const {
    return number + 1 >= oldest() && number < next_;
}

EventRing::Next EventRing::after(std::uint64_t number) const {
    if (!can_resume(number)) return {Found::kLost, nullptr};
    for (std::uint64_t at = number + 1; at < next_; ++at) {
        const auto& event = events_[static_cast<std::size_t>(at - oldest())];
        if (replaces(event->type)) {
            const auto known = latest_.find({event->type, event->key});
            if (known != latest_.end() && known->second != event->number) continue;
        }
        return {Found::kEvent, event};
    }
    return {};
}

}  // namespace pollux::api
