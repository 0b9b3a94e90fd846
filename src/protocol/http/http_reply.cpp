#include "protocol/http/http_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "net/http_date.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using net::HttpProblem;

struct Classified {
    FailureKind kind;
    std::string_view code;
};

Classified classified(HttpProblem problem) {
    switch (problem) {
        case HttpProblem::kCancelled: return {FailureKind::kCancelled, "http.cancelled"};
        case HttpProblem::kTimeout: return {FailureKind::kTimeout, "http.timeout"};
        case HttpProblem::kBadRequest: return {FailureKind::kConfiguration, "http.bad_request"};
        case HttpProblem::kOverloaded: return {FailureKind::kInternal, "http.overloaded"};
        case HttpProblem::kDnsNotFound: return {FailureKind::kDns, "http.dns_not_found"};
        case HttpProblem::kDnsTimeout: return {FailureKind::kDns, "http.dns_timeout"};
        case HttpProblem::kDnsFailure: return {FailureKind::kDns, "http.dns_server_failure"};
        case HttpProblem::kEgressDenied: return {FailureKind::kConfiguration, "http.egress_denied"};
        case HttpProblem::kConnectRefused:
            return {FailureKind::kConnection, "http.connect_refused"};
        case HttpProblem::kConnectUnreachable:
            return {FailureKind::kConnection, "http.connect_unreachable"};
        case HttpProblem::kConnectionLost:
            return {FailureKind::kConnection, "http.connection_lost"};
        case HttpProblem::kTlsExpired:
            return {FailureKind::kCertificate, "http.tls_certificate_expired"};
        case HttpProblem::kTlsNotYetValid:
            return {FailureKind::kCertificate, "http.tls_certificate_not_yet_valid"};
        case HttpProblem::kTlsSelfSigned:
            return {FailureKind::kCertificate, "http.tls_self_signed"};
        case HttpProblem::kTlsUntrusted: return {FailureKind::kCertificate, "http.tls_untrusted"};
        case HttpProblem::kTlsHostMismatch:
            return {FailureKind::kCertificate, "http.tls_host_mismatch"};
        case HttpProblem::kTlsPinMismatch:
            return {FailureKind::kCertificate, "http.tls_pin_mismatch"};
        case HttpProblem::kTlsClientCertificate:
            return {FailureKind::kConfiguration, "http.tls_client_certificate"};
        // A device that restarts fails its handshakes for a while: worth asking again.
        case HttpProblem::kTlsHandshake: return {FailureKind::kConnection, "http.tls_handshake"};
        case HttpProblem::kRedirectLimit: return {FailureKind::kValidation, "http.redirect_limit"};
        case HttpProblem::kRedirectRefused:
            return {FailureKind::kConfiguration, "http.redirect_refused"};
        case HttpProblem::kBodyTooLarge: return {FailureKind::kValidation, "http.body_too_large"};
        case HttpProblem::kHeadersTooLarge:
            return {FailureKind::kValidation, "http.headers_too_large"};
        case HttpProblem::kEncoding: return {FailureKind::kApi, "http.encoding"};
        case HttpProblem::kProtocol: return {FailureKind::kApi, "http.protocol"};
        case HttpProblem::kNone:
        case HttpProblem::kInternal: break;
    }
    return {FailureKind::kInternal, "http.internal"};
}

bool is_good(const model::HttpAsk& ask, int status) {
    return std::ranges::any_of(ask.good_status, [&](const auto& range) {
        return status >= range.first && status <= range.second;
    });
}

FailureKind kind_of_status(int status) {
    if (status == 401 || status == 403) return FailureKind::kAuth;
    if (status == 404 || status == 410) return FailureKind::kNotFound;
    if (status >= 400) return FailureKind::kApi;
    // A redirect that may not be followed, or a success that the addon does not take for one.
    return FailureKind::kConfiguration;
}

std::string_view advice_for(int status) {
    if (status == 401) return "check user, password or token of the device's credentials";
    if (status == 403) return "the login is known but may not do this; check its rights";
    if (status == 404 || status == 410) return "check the path, and the version of the device";
    if (status == 408 || status == 429) return "the device asks us to be slower";
    if (status >= 500) return "look at the log of the device";
    if (status >= 400) return "check what is asked";
    if (status >= 300) return "ask for the final address, or allow redirects";
    return "this status is not among the good ones of the addon";
}

model::PollFailure failure_of_status(const model::HttpReply& reply, std::string_view where,
                                     base::WallTime now) {
    const int status = reply.status;
    model::PollFailure failure;
    failure.kind = kind_of_status(status);
    failure.code = failure.kind == FailureKind::kAuth ? "http.auth" : "http.status";
    failure.http_status = status;
    std::string wait;
    if (status == 429 || status == 503) {
        const auto header = std::ranges::find_if(
            reply.headers, [](const auto& one) { return one.first == "retry-after"; });
        const auto asked = header == reply.headers.end()
                               ? std::nullopt
                               : net::parse_retry_after(header->second, now);
        failure.retry_after = asked.value_or(base::Duration::zero());
        if (asked) wait = fmt::format(" and wants us to wait {}", base::format_duration(*asked));
    }
    failure.message =
        fmt::format("{} answered with status {}{}; {}", where, status, wait, advice_for(status));
    return failure;
}

}  // namespace

model::Reply reply_of(const model::HttpAsk& ask, net::HttpOutcome&& outcome, base::WallTime now) {
    model::Reply reply;
    reply.phases = outcome.phases;
    reply.bytes_in = outcome.bytes_in;
    reply.bytes_out = outcome.bytes_out;
    reply.trace = std::move(outcome.trace);
    if (outcome.problem != HttpProblem::kNone) {
        const Classified what = classified(outcome.problem);
        model::PollFailure failure;
        failure.kind = what.kind;
        failure.code = what.code;
        failure.message = outcome.reply.final_url.empty()
                              ? fmt::format("the request could not be made: {}", outcome.detail)
                              : fmt::format("{}: {}", outcome.reply.final_url, outcome.detail);
        reply.answer = std::move(failure);
    } else if (!is_good(ask, outcome.reply.status)) {
        reply.answer = failure_of_status(outcome.reply, outcome.reply.final_url, now);
    } else {
        reply.answer = std::move(outcome.reply);
    }
    return reply;
}

}  // namespace pollux::protocol
