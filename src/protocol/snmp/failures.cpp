#include "protocol/snmp/failures.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "protocol/snmp/usm_message.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::FailureKind;
using model::PollFailure;

constexpr std::size_t kMaxCommunityBytes = 255;
constexpr std::string_view kDefaultCommunity = "public";

PollFailure nothing_wrong() {
    return {.kind = FailureKind::kNone, .code = {}, .message = {}, .retry_after = {}};
}

PollFailure wrong_user(std::string code, std::string message) {
    return failure_of(FailureKind::kConfiguration, std::move(code), std::move(message));
}

PollFailure check_user(const model::Credentials* user) {
    if (user == nullptr || user->username.empty()) {
        return wrong_user("snmp.no_user",
                          "SNMP v3 needs credentials with a username: the security name");
    }
    if (user->username.size() > kMaxUserBytes) {
        return wrong_user("snmp.long_user",
                          "the username is longer than 32 bytes, which SNMP v3 "
                          "does not carry");
    }
    if (user->snmp_context.size() > kMaxContextBytes) {
        return wrong_user("snmp.long_context", "the context is longer than 255 bytes");
    }
    const bool has_auth = user->snmp_auth != model::SnmpAuth::kNone;
    const bool has_privacy = user->snmp_privacy != model::SnmpPrivacy::kNone;
    if (has_privacy && !has_auth) {
        return wrong_user("snmp.privacy_without_auth",
                          "privacy needs authentication too; give the credentials both");
    }
    if ((has_auth && user->snmp_auth_password.reveal().size() < model::kShortestSnmpPassword) ||
        (has_privacy &&
         user->snmp_privacy_password.reveal().size() < model::kShortestSnmpPassword)) {
        return wrong_user("snmp.short_password",
                          fmt::format("a password of SNMP v3 has fewer than {} characters, which "
                                      "the standard forbids",
                                      model::kShortestSnmpPassword));
    }
    return nothing_wrong();
}

// What silence can mean with v3, where a device reports what it does not like.
PollFailure timed_out_v3(const Silence& silence, const std::string& waited) {
    std::string cause =
        silence.discovering
            ? "no answer to the question for its engine; the device is down or unreachable, does "
              "not speak SNMP v3, or its access list leaves us out"
        : silence.encrypted
            ? "it told its engine, but does not answer the user; check the privacy password and "
              "snmp_privacy (aes256 or aes256c, aes192 or aes192c), and the context: many devices "
              "are silent about them"
            : "it told its engine, but does not answer the user; check the context, and on the "
              "device that the user may read";
    if (silence.untrusted > 0) {
        cause = fmt::format(
            "{} answers came that are not proven to be the device's, with a wrong "
            "signature, an old time or less security than the user asks for; "
            "check the passwords, and who else answers at this address",
            silence.untrusted);
    }
    return failure_of(
        FailureKind::kTimeout, "snmp.timeout",
        fmt::format("no answer within {} ({} sent): {}", waited, silence.sends, cause));
}

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
    if (snmp->version == model::SnmpVersion::kV3) return check_user(ask->credentials.get());
    if (community_of(*ask).size() > kMaxCommunityBytes) {
        return failure_of(FailureKind::kConfiguration, "snmp.long_community",
                          fmt::format("the community is longer than {} bytes; devices refuse that",
                                      kMaxCommunityBytes));
    }
    return nothing_wrong();
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
    if (silence.behind_others) {
        return failure_of(FailureKind::kTimeout, "snmp.timeout",
                          fmt::format("other requests to the device were not answered for {}, so "
                                      "this one was not sent; check that it is up",
                                      waited));
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
    if (silence.version == model::SnmpVersion::kV3) return timed_out_v3(silence, waited);
    return failure_of(FailureKind::kTimeout, "snmp.timeout",
                      fmt::format("no answer within {} ({} sent); the device is down or "
                                  "unreachable, or the community is wrong or its access list "
                                  "leaves us out, which looks the same",
                                  waited, silence.sends));
}

PollFailure refused_by_report(ReportKind report, const model::Credentials& user) {
    const std::string& name = user.username;
    const auto auth_failure = [](std::string code, std::string message) {
        return failure_of(FailureKind::kAuth, std::move(code), std::move(message));
    };
    switch (report) {
        case ReportKind::kUnknownUser:
            return auth_failure("snmp.unknown_user",
                                fmt::format("the device knows no user {:?}; check the username, "
                                            "and that the user was created on the device",
                                            name));
        case ReportKind::kWrongDigest:
            return auth_failure(
                "snmp.wrong_digest",
                fmt::format("the device does not take the signature of user {:?}; check the "
                            "authentication password and that both sides use {}",
                            name, to_string(user.snmp_auth)));
        case ReportKind::kUnsupportedLevel:
            return auth_failure(
                "snmp.unsupported_level",
                fmt::format("the device does not allow {} for user {:?}; check which "
                            "authentication and privacy the user has on the device",
                            to_string(level_of(user)), name));
        case ReportKind::kDecryptionError:
            return auth_failure(
                "snmp.decryption_error",
                fmt::format("the device cannot decrypt what user {:?} sends; check the privacy "
                            "password and that both sides use {}",
                            name, to_string(user.snmp_privacy)));
        case ReportKind::kNotInTimeWindow:
            return failure_of(FailureKind::kApi, "snmp.not_in_time_window",
                              "the device refuses our notion of its clock even after it told "
                              "it; if its boots are 2147483647 its engine must be set up anew");
        case ReportKind::kUnknownEngine:
            return failure_of(FailureKind::kApi, "snmp.unknown_engine",
                              "the device does not know the engine id that it told itself; "
                              "several devices may answer at this address");
        case ReportKind::kUnavailableContext:
        case ReportKind::kUnknownContext:
            return failure_of(FailureKind::kConfiguration, "snmp.unknown_context",
                              fmt::format("the device has no context {:?}; check the context of "
                                          "the credentials",
                                          user.snmp_context));
        default: break;
    }
    return failure_of(FailureKind::kApi, "snmp.report",
                      fmt::format("the device does not take the request and reports {}; see its "
                                  "log",
                                  to_string(report)));
}

}  // namespace pollux::protocol::snmp
