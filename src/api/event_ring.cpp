#include "api/event_ring.hpp"

#include <array>

#include "document/json_writer.hpp"
#include "net/websocket_frames.hpp"

namespace pollux::api {
namespace {

constexpr std::array<std::string_view, kEventTypes> kNames = {
    "task_state_changed", "poll_result",   "scheduler_stats", "system_status",  "addon_status",
    "job_changed",        "alert_created", "alert_updated",   "alert_resolved", "incident_changed"};

}  // namespace

std::string_view to_string(EventType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<EventType> parse_event_type(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) return static_cast<EventType>(i);
    }
    return std::nullopt;
}

bool is_about_alerts(EventType type) {
    return type == EventType::kAlertCreated || type == EventType::kAlertUpdated ||
           type == EventType::kAlertResolved || type == EventType::kIncidentChanged;
}

EventRing::EventRing(std::uint32_t epoch, EventRingLimits limits)
    : epoch_(epoch), limits_(limits), next_((static_cast<std::uint64_t>(epoch) << 32U) + 1) {}

bool EventRing::replaces(EventType type) {
    return type == EventType::kPollResult || type == EventType::kSchedulerStats ||
           type == EventType::kSystemStatus || type == EventType::kAddonStatus;
}

std::shared_ptr<const Event> EventRing::add(EventType type, std::string key, base::WallTime at,
                                            std::string_view data,
                                            std::shared_ptr<const EventScope> scope,
                                            std::string brief) {
    auto event = std::make_shared<Event>();
    event->number = next_++;
    event->type = type;
    event->scope = std::move(scope);
    event->brief = std::move(brief);
    std::string text;
    document::JsonWriter json(text);
    json.object().field("type", to_string(type)).field("seq", event->number).field("at", at);
    json.text_field("key", key).raw_field("data", data).end_object();
    net::append_frame(event->frame, net::WebSocketOpcode::kText, text);
    event->frame.shrink_to_fit();
    event->begin = event->frame.size() - text.size();
    event->key = std::move(key);
    bytes_ += bytes_of(*event);
    ++kept_;
    events_.push_back(event);
    if (replaces(type)) {
        const auto [known, first] = latest_.try_emplace({type, event->key}, event->number);
        if (!first) {
            take_out(events_[static_cast<std::size_t>(known->second - oldest())]);
            known->second = event->number;
        }
    }
    while (events_.size() > 1 &&
           (kept_ > limits_.events || bytes_ > limits_.bytes || events_.size() > limits_.numbers)) {
        drop_oldest();
    }
    return event;
}

void EventRing::take_out(std::shared_ptr<const Event>& event) {
    bytes_ -= bytes_of(*event);
    --kept_;
    event.reset();
}

void EventRing::drop_oldest() {
    if (events_.front()) {
        const Event& gone = *events_.front();
        if (replaces(gone.type)) latest_.erase({gone.type, gone.key});
        take_out(events_.front());
    }
    events_.pop_front();
}

void EventRing::forget() {
    events_.clear();
    latest_.clear();
    kept_ = 0;
    bytes_ = 0;
    ++next_;  // so that nobody stands behind the newest
}

bool EventRing::can_resume(std::uint64_t number) const {
    return number + 1 >= oldest() && number < next_;
}

EventRing::Next EventRing::after(std::uint64_t number) const {
    if (!can_resume(number)) return {Found::kLost, nullptr};
    for (std::size_t at = static_cast<std::size_t>(number + 1 - oldest()); at < events_.size();
         ++at) {
        if (events_[at]) return {Found::kEvent, events_[at]};
    }
    return {};
}

}  // namespace pollux::api
