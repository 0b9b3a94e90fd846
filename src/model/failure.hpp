// What went wrong with one attempt, and what may be done about it. Plain functions over values.
//
// The class decides how the failure ladder goes on: a retryable failure is asked again soon, the
// others are confirmed once and then wait for a person. Where the facts leave room for doubt the
// answer is "retryable": a wrong "permanent" makes us blind for minutes, a wrong "transient" costs
// a few attempts whose distance grows anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::model {

enum class FailureKind : std::uint8_t {
    kNone,
    kConnection,
    kTimeout,
    kDns,
    kAuth,
    kCertificate,
    kValidation,
    kNotFound,
    kConfiguration,
    kApi,
    kInternal,
    kCancelled,
    kUnknown,
};

struct FailureFacts {
    FailureKind kind = FailureKind::kUnknown;
    int http_status = 0;  // 0: there was no HTTP answer
    std::string_view message;
};

inline constexpr std::size_t kAuthTextLimit = 2048;
inline constexpr std::size_t kErrorContextLimit = 128;
inline constexpr std::size_t kErrorMessageLimit = 512;

// An HTTP error status decides alone; without one the kind does. The message is only read where
// neither of them says anything about the cause.
base::ErrorClass classify(const FailureFacts& facts);

// Whether the same attempt may succeed later without a person.
bool is_retryable(base::ErrorClass error_class);

// Whether a message speaks of refused credentials: one of the usual phrases, or the status 401 or
// 403 standing alone. Looks at the first kAuthTextLimit bytes.
bool is_auth_error_text(std::string_view text);

// Stable lower-case name, as it is logged, stored and used as a metric label.
std::string_view to_string(FailureKind kind);

// "<op> failed on <instance>[/<node>]: <message>" for people. Parts are cut to the limits above
// (bytes, never inside a UTF-8 character) and control characters become a space, so that a peer
// can neither flood nor forge a log line.
std::string bounded_error_text(std::string_view op, std::string_view instance,
                               std::string_view node, std::string_view message);

}  // namespace pollux::model
