// Facts of an exchange beside its body: times, status, certificate, loss. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.hpp"
#include "model/addon.hpp"
#include "model/reply.hpp"
#include "model/value.hpp"

namespace pollux::extract {

enum class Fact : std::uint8_t {
    // times in seconds, and what came
    kLatency,
    kDnsTime,
    kConnectTime,
    kTlsTime,
    kFirstByteTime,
    kSize,
    // http
    kStatus,
    kRedirects,
    kHttpVersion,
    // http and tls
    kCertificateDays,
    kCertificateSubject,
    kCertificateIssuer,
    kCertificateLifetime,  // days, from its begin to its end
    // tls
    kCertificateLifetimeUsed,  // percent
    kCertificateNames,
    kCertificateSha256,
    kChainOk,
    kNameOk,
    kVerifyError,
    kTlsProtocol,
    kCipher,
    // ssh and exec
    kExitStatus,
    kState,  // of a plugin: 0 ok, 1 warning, 2 critical, 3 unknown
    kOutput,
    kErrorOutput,
    // icmp
    kRttMin,
    kRttAverage,
    kRttMax,
    kRttDeviation,
    kLossPercent,
    kSent,
    kReceived,
    // dns
    kResponseCode,
    kAnswerCount,
    kAnswer,
    kAuthoritative,
    kTruncated,
    kShortestTtl,
};

struct FactName {
    std::string_view name;
    Fact fact;
};

// Empty: the protocol has no facts.
std::span<const FactName> facts_of(model::ProtocolKind protocol);

// Null if the reply has none. `now` is for certificates.
model::Value fact_value(Fact fact, const model::Reply& reply, base::WallTime now);

// The body of a reply that is text: of HTTP, of a command, of a TCP connection.
std::string_view body_of(const model::Reply& reply);

}  // namespace pollux::extract
