// What happened to the messages of devices, for the metrics and for people. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"

namespace pollux::runtime {

enum class InboundKind : std::uint8_t { kTrap, kInform, kWebhook, kPush };
inline constexpr std::array<std::string_view, 4> kInboundKindNames = {"trap", "inform", "webhook",
                                                                      "push"};

enum class InboundResult : std::uint8_t {
    kStored,
    kDuplicate,      // an inform that came again: answered, not stored again
    kUnknownSender,  // no device or no addon for it
    kRefused,        // another community, user or token, or a message of v3 that proves nothing
    kMalformed,
    kLimited,  // more than its sender, or all together, may say
    kQueueFull,
    kStoreFailed,  // not stored, and not kept
    kBadRequest,   // over HTTP: no such path, another method, too large
};
inline constexpr std::array<std::string_view, 9> kInboundResultNames = {
    "stored",       "duplicate",  "unknown_sender", "refused",    "malformed",
    "rate_limited", "queue_full", "store_failed",   "bad_request"};

struct InboundCounts {
    std::array<std::array<std::uint64_t, kInboundResultNames.size()>, kInboundKindNames.size()>
        messages{};
    std::array<std::uint64_t, 3> signals{};       // raised, updated, cleared
    std::array<std::uint64_t, 3> push_targets{};  // unknown, up, down
    std::uint64_t confirms_asked = 0;
    std::uint64_t confirms_held = 0;
    std::size_t waiting = 0;  // to be stored
    std::size_t unknown_senders = 0;
    std::uint64_t datagrams_dropped = 0;  // by the kernel: they came faster than they were read
    base::Duration longest_turn{};

    void add(InboundKind kind, InboundResult result) {
        ++messages[static_cast<std::size_t>(kind)][static_cast<std::size_t>(result)];
    }
    std::uint64_t of(InboundKind kind, InboundResult result) const {
        return messages[static_cast<std::size_t>(kind)][static_cast<std::size_t>(result)];
    }
};

}  // namespace pollux::runtime
