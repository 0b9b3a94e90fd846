#include "net/http_outcome.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pollux::net {
namespace {

using base::format_duration;

template <class T>
T info(const HttpTransfer& transfer, CURLINFO which) {
    T value{};
    curl_easy_getinfo(transfer.easy, which, &value);
    return value;
}

// libcurl counts from the start of the request, we from the start of the ask.
base::Duration phase(const HttpTransfer& transfer, CURLINFO which) {
    const auto microseconds = info<curl_off_t>(transfer, which);
    if (microseconds <= 0) return {};
    return transfer.request_start + std::chrono::microseconds(microseconds);
}

std::string_view version_text(long version) {
    switch (version) {
        case CURL_HTTP_VERSION_1_0: return "1.0";
        case CURL_HTTP_VERSION_1_1: return "1.1";
        case CURL_HTTP_VERSION_2_0: return "2";
        default: return "";
    }
}

std::string_view method_text(model::HttpMethod method) {
    switch (method) {
        case model::HttpMethod::kGet: return "GET";
        case model::HttpMethod::kPost: return "POST";
        case model::HttpMethod::kHead: return "HEAD";
        case model::HttpMethod::kPut: return "PUT";
    }
    return "GET";
}

void note_request(HttpTransfer& transfer, const model::Phases& phases, bool reused) {
    if (!transfer.order.trace) return;
    if (reused) {
        transfer.note("used the connection that was there already");
    } else if (!transfer.contacted.empty()) {
        transfer.note(phases.connect == base::Duration::zero()
                          ? fmt::format("tried to connect to {}", transfer.contacted)
                          : fmt::format("connected to {} after {}", transfer.contacted,
                                        format_duration(phases.connect)));
    }
    if (transfer.peer != nullptr && !transfer.peer->certificates.empty()) {
        const model::CertificateFacts& leaf = transfer.peer->certificates.front();
        transfer.note(fmt::format(
            "TLS {}: certificate {} from {}, valid until {}, SHA-256 {}; verification {}, pin {}",
            phases.tls == base::Duration::zero() ? "shown before"
                                                 : "after " + format_duration(phases.tls),
            leaf.subject, leaf.issuer, base::format_utc(leaf.not_after), leaf.sha256,
            transfer.ask().tls.verify ? "on" : "off",
            transfer.ask().tls.pin_sha256.empty() ? "none" : "set"));
    }
    transfer.note(fmt::format("{} {}, login {}", method_text(transfer.method), transfer.url().shown,
                              transfer.ask().auth == model::HttpAuth::kNone ? "none"
                              : transfer.with_credentials                   ? "sent"
                                                                            : "held back"));
}

void note_answer(HttpTransfer& transfer, const HttpOutcome& outcome) {
    if (!transfer.order.trace) return;
    if (outcome.problem != HttpProblem::kNone) {
        transfer.note(fmt::format("failed after {}: {}", format_duration(outcome.phases.total),
                                  outcome.detail));
        return;
    }
    transfer.note(fmt::format(
        "answered {} over HTTP/{}: first byte after {}, complete after {}, {} bytes of body",
        outcome.reply.status, outcome.reply.http_version,
        format_duration(outcome.phases.first_byte), format_duration(outcome.phases.total),
        outcome.reply.body.size()));
}

}  // namespace

const std::string* header_of(const model::HttpReply& reply, std::string_view lower_case_name) {
    const auto found = std::ranges::find_if(
        reply.headers, [&](const auto& header) { return header.first == lower_case_name; });
    return found == reply.headers.end() ? nullptr : &found->second;
}

void count_bytes(HttpTransfer& transfer) {
    const auto body = info<curl_off_t>(transfer, CURLINFO_SIZE_DOWNLOAD_T);
    const auto headers = info<long>(transfer, CURLINFO_HEADER_SIZE);
    const auto request = info<long>(transfer, CURLINFO_REQUEST_SIZE);
    const auto upload = info<curl_off_t>(transfer, CURLINFO_SIZE_UPLOAD_T);
    transfer.bytes_in += static_cast<std::uint64_t>(std::max<curl_off_t>(body + headers, 0));
    transfer.bytes_out += static_cast<std::uint64_t>(std::max<curl_off_t>(request + upload, 0));
}

void note_first_class(HttpTransfer& transfer) {
    if (transfer.first_class) return;
    const char* text = info<char*>(transfer, CURLINFO_PRIMARY_IP);
    const auto address = IpAddress::parse(text == nullptr ? "" : text);
    // Without an address nothing but a public one is a safe guess: it opens nothing inside.
    transfer.first_class =
        address ? transfer.surroundings.egress->class_of(*address) : HostClass::kPublic;
}

HttpOutcome outcome_of(HttpTransfer& transfer) {
    HttpOutcome outcome;
    outcome.problem = transfer.problem;
    outcome.phases.dns = transfer.dns_time;
    outcome.phases.total = transfer.elapsed();
    if (transfer.running) {
        outcome.reused =
            info<long>(transfer, CURLINFO_NUM_CONNECTS) == 0 && transfer.contacted.empty();
        if (!outcome.reused) {
            outcome.phases.connect = phase(transfer, CURLINFO_CONNECT_TIME_T);
            outcome.phases.tls = phase(transfer, CURLINFO_APPCONNECT_TIME_T);
        }
        outcome.phases.first_byte = phase(transfer, CURLINFO_STARTTRANSFER_TIME_T);
        transfer.reply.status = static_cast<int>(info<long>(transfer, CURLINFO_RESPONSE_CODE));
        transfer.reply.http_version = version_text(info<long>(transfer, CURLINFO_HTTP_VERSION));
        count_bytes(transfer);
        note_request(transfer, outcome.phases, outcome.reused);
    }
    outcome.bytes_in = transfer.bytes_in;
    outcome.bytes_out = transfer.bytes_out;
    outcome.detail = std::move(transfer.detail);
    outcome.reply = std::move(transfer.reply);
    if (transfer.next_url != nullptr) outcome.reply.final_url = transfer.url().shown;
    outcome.reply.redirects = transfer.redirects;
    if (transfer.peer != nullptr) outcome.reply.certificates = transfer.peer->certificates;
    note_answer(transfer, outcome);
    outcome.trace = std::move(transfer.trace);
    return outcome;
}

std::string lookup_line(const HttpTransfer& transfer, base::Duration took) {
    std::string list;
    for (const IpAddress& address : *transfer.addresses) {
        list += (list.empty() ? "" : ", ") + address.to_string();
    }
    return fmt::format("{} is {} (looked up in {})", transfer.url().host, list,
                       format_duration(took));
}

std::string redirect_line(const HttpTransfer& transfer, int status, const HttpUrl& next) {
    return fmt::format("{} {} answered {}: redirected to {}", method_text(transfer.method),
                       transfer.url().shown, status, next.shown);
}

}  // namespace pollux::net
