// The values that every inbound message has, in the order they are read. Private to this folder.
#pragma once

#include <array>
#include <string_view>

namespace pollux::extract {

// Traps: who sent it, which one, whose, and the uptime in hundredths of a second.
inline constexpr std::array<std::string_view, 4> kTrapValues = {"source", "trap_oid", "enterprise",
                                                                "uptime"};
inline constexpr std::array<std::string_view, 4> kPushValues = {"source", "up", "message", "value"};
// Webhooks: read as if they were headers, beside query.NAME.
inline constexpr std::array<std::string_view, 2> kWebhookValues = {"source", "webhook_path"};
inline constexpr std::string_view kQueryPrefix = "query.";

}  // namespace pollux::extract
