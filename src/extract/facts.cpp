#include "extract/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/text.hpp"
#include "extract/perfdata.hpp"

namespace pollux::extract {
namespace {

using model::ProtocolKind;
using model::Reply;
using model::Value;

constexpr double kSecondsPerDay = 86'400;

constexpr FactName kHttpFacts[] = {{"status", Fact::kStatus},
                                   {"latency", Fact::kLatency},
                                   {"dns_time", Fact::kDnsTime},
                                   {"connect_time", Fact::kConnectTime},
                                   {"tls_time", Fact::kTlsTime},
                                   {"first_byte_time", Fact::kFirstByteTime},
                                   {"size", Fact::kSize},
                                   {"redirects", Fact::kRedirects},
                                   {"http_version", Fact::kHttpVersion},
                                   {"certificate_days", Fact::kCertificateDays},
                                   {"certificate_lifetime", Fact::kCertificateLifetime},
                                   {"certificate_subject", Fact::kCertificateSubject},
                                   {"certificate_issuer", Fact::kCertificateIssuer}};
constexpr FactName kSshFacts[] = {{"exit_status", Fact::kExitStatus},
                                  {"state", Fact::kState},
                                  {"output", Fact::kOutput},
                                  {"error_output", Fact::kErrorOutput},
                                  {"size", Fact::kSize},
                                  {"latency", Fact::kLatency},
                                  {"dns_time", Fact::kDnsTime},
                                  {"connect_time", Fact::kConnectTime},
                                  {"first_byte_time", Fact::kFirstByteTime}};
constexpr FactName kExecFacts[] = {
    {"exit_status", Fact::kExitStatus},   {"state", Fact::kState}, {"output", Fact::kOutput},
    {"error_output", Fact::kErrorOutput}, {"size", Fact::kSize},   {"latency", Fact::kLatency}};
constexpr FactName kTcpFacts[] = {{"latency", Fact::kLatency},
                                  {"dns_time", Fact::kDnsTime},
                                  {"connect_time", Fact::kConnectTime},
                                  {"first_byte_time", Fact::kFirstByteTime},
                                  {"size", Fact::kSize}};
constexpr FactName kTlsFacts[] = {{"latency", Fact::kLatency},
                                  {"dns_time", Fact::kDnsTime},
                                  {"connect_time", Fact::kConnectTime},
                                  {"tls_time", Fact::kTlsTime},
                                  {"certificate_days", Fact::kCertificateDays},
                                  {"certificate_lifetime", Fact::kCertificateLifetime},
                                  {"certificate_lifetime_used", Fact::kCertificateLifetimeUsed},
                                  {"certificate_subject", Fact::kCertificateSubject},
                                  {"certificate_issuer", Fact::kCertificateIssuer},
                                  {"certificate_names", Fact::kCertificateNames},
                                  {"certificate_sha256", Fact::kCertificateSha256},
                                  {"chain_ok", Fact::kChainOk},
                                  {"name_ok", Fact::kNameOk},
                                  {"verify_error", Fact::kVerifyError},
                                  {"protocol", Fact::kTlsProtocol},
                                  {"cipher", Fact::kCipher}};
constexpr FactName kIcmpFacts[] = {
    {"rtt_min", Fact::kRttMin},           {"rtt_avg", Fact::kRttAverage},
    {"rtt_max", Fact::kRttMax},           {"rtt_deviation", Fact::kRttDeviation},
    {"loss_percent", Fact::kLossPercent}, {"sent", Fact::kSent},
    {"received", Fact::kReceived},        {"dns_time", Fact::kDnsTime}};
constexpr FactName kDnsFacts[] = {
    {"rcode", Fact::kResponseCode},  {"answers", Fact::kAnswerCount},
    {"answer", Fact::kAnswer},       {"authoritative", Fact::kAuthoritative},
    {"truncated", Fact::kTruncated}, {"shortest_ttl", Fact::kShortestTtl},
    {"latency", Fact::kLatency},     {"size", Fact::kSize}};

Value seconds_of(base::Duration duration) {
    return duration.count() == 0 ? Value() : Value(base::to_seconds(duration));
}

Value count_of(std::size_t count) { return static_cast<std::int64_t>(count); }

Value exchange_fact(Fact fact, const Reply& reply) {
    switch (fact) {
        case Fact::kLatency: return base::to_seconds(reply.phases.total);
        case Fact::kDnsTime: return seconds_of(reply.phases.dns);
        case Fact::kConnectTime: return seconds_of(reply.phases.connect);
        case Fact::kTlsTime: return seconds_of(reply.phases.tls);
        case Fact::kFirstByteTime: return seconds_of(reply.phases.first_byte);
        case Fact::kSize:
            return std::holds_alternative<model::DnsReply>(reply.answer)
                       ? count_of(reply.bytes_in)
                       : count_of(body_of(reply).size());
        default: return {};
    }
}

Value http_fact(Fact fact, const model::HttpReply& http) {
    switch (fact) {
        case Fact::kStatus: return static_cast<std::int64_t>(http.status);
        case Fact::kRedirects: return static_cast<std::int64_t>(http.redirects);
        case Fact::kHttpVersion: return http.http_version;
        default: return {};
    }
}

Value certificate_fact(Fact fact, const model::CertificateFacts& leaf, base::WallTime now) {
    switch (fact) {
        case Fact::kCertificateDays: return base::to_seconds(leaf.not_after - now) / kSecondsPerDay;
        case Fact::kCertificateLifetime: {
            const double whole = base::to_seconds(leaf.not_after - leaf.not_before);
            if (whole <= 0) return {};
            return whole / kSecondsPerDay;
        }
        case Fact::kCertificateSubject: return leaf.subject;
        case Fact::kCertificateIssuer: return leaf.issuer;
        case Fact::kCertificateSha256: return leaf.sha256;
        case Fact::kCertificateLifetimeUsed: {
            const double whole = base::to_seconds(leaf.not_after - leaf.not_before);
            if (whole <= 0) return {};
            return base::to_seconds(now - leaf.not_before) / whole * 100;
        }
        default: return {};
    }
}

Value tls_fact(Fact fact, const model::TlsReply& tls) {
    switch (fact) {
        case Fact::kCertificateNames: return fmt::format("{}", fmt::join(tls.names, " "));
        case Fact::kChainOk: return tls.verify_error.empty();
        case Fact::kNameOk: return tls.name_matches;
        case Fact::kVerifyError: return tls.verify_error;
        case Fact::kTlsProtocol: return tls.protocol;
        case Fact::kCipher: return tls.cipher;
        default: return {};
    }
}

Value command_fact(Fact fact, const model::CommandReply& command) {
    switch (fact) {
        case Fact::kExitStatus: return static_cast<std::int64_t>(command.exit_status);
        case Fact::kState: return plugin_state(command.exit_status);
        case Fact::kOutput: return base::plain_text(command.out);
        case Fact::kErrorOutput: return base::plain_text(command.error_out);
        default: return {};
    }
}

Value icmp_fact(Fact fact, const model::IcmpReply& icmp) {
    double sum = 0;
    double squares = 0;
    for (const base::Duration one : icmp.round_trips) {
        sum += base::to_seconds(one);
        squares += base::to_seconds(one) * base::to_seconds(one);
    }
    const auto count = static_cast<double>(icmp.round_trips.size());
    switch (fact) {
        case Fact::kSent: return static_cast<std::int64_t>(icmp.sent);
        case Fact::kReceived: return static_cast<std::int64_t>(icmp.received);
        case Fact::kLossPercent:
            if (icmp.sent == 0) return {};
            return 100.0 * (icmp.sent - icmp.received) / icmp.sent;
        default: break;
    }
    if (icmp.round_trips.empty()) return {};
    switch (fact) {
        case Fact::kRttMin: return base::to_seconds(std::ranges::min(icmp.round_trips));
        case Fact::kRttMax: return base::to_seconds(std::ranges::max(icmp.round_trips));
        case Fact::kRttAverage: return sum / count;
        case Fact::kRttDeviation: {
            const double mean = sum / count;
            return std::sqrt(std::max(0.0, squares / count - mean * mean));
        }
        default: return {};
    }
}

// The data of all records of the type that was asked for, in one order whatever the server's is.
std::string answer_text(const model::DnsReply& dns) {
    std::set<std::string, std::less<>> texts;
    for (const model::DnsRecord& record : dns.answers) {
        if (dns.type.empty() || record.type == dns.type) texts.insert(record.data);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

Value dns_fact(Fact fact, const model::DnsReply& dns) {
    switch (fact) {
        case Fact::kResponseCode: return dns.status;
        case Fact::kAnswerCount: return count_of(dns.answers.size());
        case Fact::kAnswer: return answer_text(dns);
        case Fact::kAuthoritative: return dns.authoritative;
        case Fact::kTruncated: return dns.truncated;
        case Fact::kShortestTtl: {
            if (dns.answers.empty()) return {};
            const auto shortest = std::ranges::min_element(dns.answers, {}, &model::DnsRecord::ttl);
            return static_cast<std::int64_t>(shortest->ttl);
        }
        default: return {};
    }
}

}  // namespace

std::span<const FactName> facts_of(ProtocolKind protocol) {
    switch (protocol) {
        case ProtocolKind::kHttp: return kHttpFacts;
        case ProtocolKind::kSsh: return kSshFacts;
        case ProtocolKind::kExec: return kExecFacts;
        case ProtocolKind::kTcp: return kTcpFacts;
        case ProtocolKind::kTls: return kTlsFacts;
        case ProtocolKind::kIcmp: return kIcmpFacts;
        case ProtocolKind::kDns: return kDnsFacts;
        default: return {};
    }
}

Value fact_value(Fact fact, const Reply& reply, base::WallTime now) {
    if (Value value = exchange_fact(fact, reply); !std::holds_alternative<std::monostate>(value)) {
        return value;
    }
    const auto certificate = [&](const auto& answer) -> Value {
        if (answer.certificates.empty()) return {};
        return certificate_fact(fact, answer.certificates.front(), now);
    };
    const auto either = [](Value first, Value second) {
        return std::holds_alternative<std::monostate>(first) ? std::move(second) : std::move(first);
    };
    if (const auto* http = std::get_if<model::HttpReply>(&reply.answer)) {
        return either(http_fact(fact, *http), certificate(*http));
    }
    if (const auto* tls = std::get_if<model::TlsReply>(&reply.answer)) {
        return either(tls_fact(fact, *tls), certificate(*tls));
    }
    if (const auto* command = std::get_if<model::CommandReply>(&reply.answer)) {
        return command_fact(fact, *command);
    }
    if (const auto* icmp = std::get_if<model::IcmpReply>(&reply.answer)) {
        return icmp_fact(fact, *icmp);
    }
    if (const auto* dns = std::get_if<model::DnsReply>(&reply.answer)) return dns_fact(fact, *dns);
    return {};
}

std::string_view body_of(const Reply& reply) {
    if (const auto* http = std::get_if<model::HttpReply>(&reply.answer)) return http->body;
    if (const auto* command = std::get_if<model::CommandReply>(&reply.answer)) return command->out;
    if (const auto* tcp = std::get_if<model::TcpReply>(&reply.answer)) return tcp->received;
    return {};
}

}  // namespace pollux::extract
