#include "protocol/snmp/failures.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

namespace pollux::protocol::snmp {
namespace {

using model::FailureKind;
using model::PollFailure;

constexpr std::size_t kMaxCommunityBytes = 255;
constexpr std::string_view kDefaultCommunity = "public";

}  // namespace

PollFailure failure_of(FailureKind kind, std::string code, std::string message) {
    PollFailure failure;
    failure.kind = kind;
    failure.code = std::move(code);
    failure.message = std::move(message);
    return failure;
}

std::string_view community_of(const model::Ask& ask) {
    if (ask.credentials == nullptr || ask.credentials->community.empty()) return kDefaultCommunity;
    return ask.credentials->community.reveal();
}

PollFailure check_ask(const model::Ask* ask) {
    const auto* snmp = ask == nullptr ? nullptr : std::get_if<model::SnmpAsk>(&ask->request);
    if (snmp == nullptr) {
        return failure_of(FailureKind::kInternal, "snmp.not_snmp", "the ask is not one of SNMP");
    }
    if (snmp->version == model::SnmpVersion::kV3) {
        return failure_of(FailureKind::kConfiguration, "snmp.version_unsupported",
                          "SNMP v3 is not supported; let the target use v2c or v1");
    }
    if (community_of(*ask).size() > kMaxCommunityBytes) {
        return failure_of(FailureKind::kConfiguration, "snmp.long_community",
                          fmt::format("the community is longer than {} bytes; devices refuse that",
                                      kMaxCommunityBytes));
    }
    return {.kind = FailureKind::kNone, .code = {}, .message = {}, .retry_after = {}};
}

PollFailure unreachable(int error_number) {
    if (error_number == ECONNREFUSED) {
        return failure_of(FailureKind::kConnection, "snmp.refused",
                          "the device says that nothing listens on this port; check the port and "
                          "that its SNMP agent runs");
    }
    return failure_of(
        FailureKind::kConnection, "snmp.unreachable",
        fmt::format("no way to the device: {}; check its address and the network between",
                    std::strerror(error_number)));
}

PollFailure timed_out(const Silence& silence) {
    const std::string waited = base::format_duration(silence.waited);
    if (!silence.was_located) {
        return failure_of(
            FailureKind::kDns, "snmp.dns",
            fmt::format("the name was not resolved within {}; check the name server", waited));
    }
    if (silence.sends == 0) {
        return failure_of(FailureKind::kInternal, "snmp.not_sent",
                          fmt::format("the request still waited to be sent after {}; too many "
                                      "devices are asked at once, spread them out",
                                      waited));
    }
    if (silence.was_answered) {
        return failure_of(FailureKind::kTimeout, "snmp.timeout",
                          fmt::format("not everything came within {} ({} requests sent); ask for "
                                      "less, or give it more time",
                                      waited, silence.sends));
    }
    return failure_of(FailureKind::kTimeout, "snmp.timeout",
                      fmt::format("no answer within {} ({} sent); the device is down or "
                                  "unreachable, or the community is wrong or its access list "
                                  "leaves us out, which looks the same",
                                  waited, silence.sends));
}

}  // namespace pollux::protocol::snmp
