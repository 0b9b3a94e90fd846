// What devices send by themselves: traps, webhooks, pushes. Each becomes signals (extract/) of the
// target it belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/oid.hpp"
#include "model/reply.hpp"

namespace pollux::model {

struct TrapMessage {
    SnmpVersion version = SnmpVersion::kV2c;
    bool inform = false;  // the sender waits for an answer
    Oid trap;             // snmpTrapOID; for v1 as RFC 3584 makes it
    Oid enterprise;
    std::uint64_t uptime_ticks = 0;
    std::string agent_address;  // v1: where it says it comes from; empty: not said
    std::vector<std::pair<Oid, SnmpValue>> varbinds;  // without sysUpTime and snmpTrapOID
};

struct WebhookMessage {
    std::string path;
    std::string content_type;  // lower case, without parameters
    std::vector<std::pair<std::string, std::string>> query;
    std::string body;
};

// "I am alive": one URL to call.
struct PushMessage {
    bool up = true;
    std::string message;
    std::optional<double> value;  // seconds or whatever the sender measures
};

struct InboundMessage {
    std::string source;  // address of the sender
    base::WallTime received;
    std::variant<TrapMessage, WebhookMessage, PushMessage> content;
};

}  // namespace pollux::model
