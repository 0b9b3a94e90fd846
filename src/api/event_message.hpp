// What followers of events say, and what they are told beside the events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/event_filter.hpp"
#include "base/result.hpp"

namespace pollux::api {

struct FollowerMessage {
    enum class Kind : std::uint8_t { kSubscribe, kUnsubscribe, kResume, kPing };
    Kind kind = Kind::kPing;
    Subscription subscription;  // of the first two
    bool gather = false;        // of a subscription: results of polls together
    std::uint64_t number = 0;   // to resume after
};

// Reads a message strictly; the error (event.message) says what is wrong with it.
base::Result<FollowerMessage> read_follower_message(const std::string& text);

// The types named, as bits; none named: all.
base::Result<std::uint32_t> event_types(const std::vector<std::string>& names);

// {"type":…,"seq":…}
std::string numbered_message(std::string_view type, std::uint64_t number);
// `status`: the present state of the server as JSON; may be empty.
std::string connected_message(std::uint64_t number, std::uint32_t epoch, std::string_view status);
// With what is subscribed to now.
std::string filter_message(std::string_view type, std::uint64_t number, const EventFilter& filter);
std::string error_message(const base::Error& error);

}  // namespace pollux::api
