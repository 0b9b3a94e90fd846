// What the audit trail keeps of a decision: who wanted what of which object, whether it was done,
// and how the object was before and after.
//
// An entry is what the caller knows. Its number and its place in the chain are given by the store
// when it commits (store/audit/), together with the act itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::model {

// Stored by number: never reused.
enum class AuditResult : std::uint8_t {
    kAllowed,  // it was done
    kRefused,  // not allowed to this principal
    kFailed,   // allowed, but could not be done
};

struct AuditEntry {
    base::WallTime at;
    std::string principal;  // "user:alice", "token:ci", "local:uid=0", "anonymous"
    std::string address;    // of the client, "127.0.0.1"; empty for local commands
    std::string action;     // stable dotted name: "breaker.reset", "dlq.retry", "user.create"
    std::string object;     // key or name: "pve::pve-node1"
    AuditResult result = AuditResult::kAllowed;
    std::string reason;  // as the person gave it
    std::string before;  // short text or canonical JSON, no secrets
    std::string after;
    std::string request_id;
    bool operator==(const AuditEntry&) const = default;
};

// Bytes of UTF-8 that are kept of each field.
struct AuditLimits {
    std::size_t principal = 200;
    std::size_t address = 64;
    std::size_t action = 64;
    std::size_t object = 300;
    std::size_t reason = 500;
    std::size_t before = 2000;
    std::size_t after = 2000;
    std::size_t request_id = 64;
};
inline constexpr AuditLimits kAuditLimits;

// Stands at the end of a field that was longer than its limit.
inline constexpr std::string_view kAuditCutMark = "…[cut]";

// The entry as it is stored: every field valid UTF-8 and within its limit. One that was too long is
// cut between two characters and marked.
AuditEntry bounded(AuditEntry entry);

// "allowed", "refused", "failed".
std::string_view to_string(AuditResult result);

}  // namespace pollux::model
