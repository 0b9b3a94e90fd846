// The counters that Reports carry (RFC 3414 5, RFC 3412 5, RFC 3413 3): why an engine did not take
// a message.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/oid.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

enum class ReportKind : std::uint8_t {
    kUnsupportedLevel,
    kNotInTimeWindow,
    kUnknownUser,
    kUnknownEngine,
    kWrongDigest,
    kDecryptionError,
    kUnknownSecurityModel,
    kInvalidMessage,
    kUnknownPduHandler,
    kUnavailableContext,
    kUnknownContext,
    kOther,
};
inline constexpr std::size_t kReportKinds = 12;

// "wrong_digest", as metrics label it and codes end.
std::string_view to_string(ReportKind kind);

// What a Report's first variable says.
ReportKind report_kind(const PduView& report);

// The variable of a kind, without kOther.
model::Oid report_oid(ReportKind kind);

}  // namespace pollux::protocol::snmp
