#include "net/http_failure.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>

namespace pollux::net {
namespace {

std::string peer_text(const HttpTransfer& transfer) {
    return transfer.contacted.empty() ? transfer.url().origin : transfer.contacted;
}

std::string dates_of(const TlsPeer& peer) {
    if (peer.certificates.empty()) return {};
    const model::CertificateFacts& leaf = peer.certificates.front();
    return fmt::format(" (valid from {} to {})", base::format_utc(leaf.not_before),
                       base::format_utc(leaf.not_after));
}

std::string subject_of(const TlsPeer& peer) {
    return peer.certificates.empty() ? "unknown" : peer.certificates.front().subject;
}

HttpFault fault_of_certificate(const TlsPeer& peer) {
    if (peer.pin_mismatch) {
        return {
            HttpProblem::kTlsPinMismatch,
            fmt::format("the certificate is not the pinned one: its SHA-256 is {}; if the "
                        "device got a new certificate, pin that one, otherwise somebody stands "
                        "between us and the device",
                        peer.certificates.empty() ? "unknown" : peer.certificates.front().sha256)};
    }
    const char* reason = X509_verify_cert_error_string(peer.verify_error);
    switch (peer.verify_error) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return {HttpProblem::kTlsExpired,
                    fmt::format("a certificate has expired{}; renew the certificate of the device",
                                dates_of(peer))};
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return {HttpProblem::kTlsNotYetValid,
                    fmt::format("a certificate is not valid yet{}; check the clocks of both sides",
                                dates_of(peer))};
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return {HttpProblem::kTlsSelfSigned,
                    fmt::format("the certificate ({}) is self-signed; name it as CA file, or pin "
                                "it and turn verification off: the pin alone decides then",
                                subject_of(peer))};
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return {HttpProblem::kTlsHostMismatch,
                    fmt::format("the certificate ({}) is not made out for {}; ask the device by a "
                                "name that its certificate has",
                                subject_of(peer), peer.host)};
        default:
            return {HttpProblem::kTlsUntrusted,
                    fmt::format("the certificate ({}) could not be verified: {}; name the "
                                "certificate of its authority as CA file",
                                subject_of(peer), reason)};
    }
}

HttpFault fault_of_connect(const HttpTransfer& transfer) {
    if (!transfer.denied.empty()) return {HttpProblem::kEgressDenied, transfer.denied};
    long number = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &number);
    if (transfer.socket_error != 0) number = transfer.socket_error;
    const std::string peer = peer_text(transfer);
    if (number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM) {
        return {HttpProblem::kOverloaded,
                fmt::format("cannot open a socket: {}; raise the limit of open files (ulimit -n)",
                            std::strerror(static_cast<int>(number)))};
    }
    if (number == ECONNREFUSED) {
        return {HttpProblem::kConnectRefused,
                fmt::format("{} refused the connection; check that the service runs and listens on "
                            "this port",
                            peer)};
    }
    return {HttpProblem::kConnectUnreachable,
            fmt::format("{} cannot be reached ({}); check address, route and firewall", peer,
                        number != 0 ? std::strerror(static_cast<int>(number)) : "no reason given")};
}

HttpFault fault_of_handshake(const HttpTransfer& transfer, int code) {
    if (transfer.peer != nullptr && transfer.peer->verify_error != 0) {
        return fault_of_certificate(*transfer.peer);
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
        return {HttpProblem::kTlsHostMismatch,
                fmt::format("the certificate is not made out for {}", transfer.url().host)};
    }
    if (code == CURLE_SSL_CERTPROBLEM) {
        return {HttpProblem::kTlsClientCertificate,
                "our client certificate cannot be used; check that the files of certificate and "
                "key exist, are in PEM form, belong together, and that the password is right"};
    }
    return {HttpProblem::kTlsHandshake,
            fmt::format("{} did not agree on a TLS connection; check that the port speaks TLS, its "
                        "version and ciphers, and whether it demands a client certificate",
                        peer_text(transfer))};
}

HttpFault fault_of_loss(const HttpTransfer& transfer) {
    // With TLS 1.3 a server refuses our certificate, or its absence, only after the handshake.
    const bool refused = transfer.url().tls && transfer.header_count == 0;
    return {HttpProblem::kConnectionLost,
            fmt::format("{} closed the connection before its answer was complete ({} bytes of the "
                        "body came); look at the log of the device{}",
                        peer_text(transfer), transfer.reply.body.size(),
                        refused ? ", it may demand another client certificate" : "")};
}

// What was granted, without the moment that passed before the transfer began: "500 ms", not
// "497 ms".
std::string limit_text(const HttpTransfer& transfer) {
    using std::chrono::milliseconds;
    const base::Duration left = transfer.order.deadline - transfer.started;
    const base::Duration step =
        left < std::chrono::seconds(1) ? milliseconds(10) : milliseconds(50);
    return base::format_duration((left + step - base::Duration(1)) / step * step);
}

}  // namespace

HttpFault fault_of(const HttpTransfer& transfer, int code) {
    switch (code) {
        case CURLE_COULDNT_CONNECT: return fault_of_connect(transfer);
        case CURLE_OPERATION_TIMEDOUT: return fault_of_deadline(transfer);
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_CLIENTCERT: return fault_of_handshake(transfer, code);
        case CURLE_GOT_NOTHING:
        case CURLE_PARTIAL_FILE:
        case CURLE_RECV_ERROR:
        case CURLE_SEND_ERROR: return fault_of_loss(transfer);
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_HTTP2:
        case CURLE_HTTP2_STREAM:
            return {HttpProblem::kProtocol,
                    fmt::format("{} did not answer with HTTP; check that this port speaks it",
                                peer_text(transfer))};
        case CURLE_BAD_CONTENT_ENCODING:
            return {HttpProblem::kEncoding,
                    "the body is not encoded as its content-encoding header says; this is a fault "
                    "of the device"};
        case CURLE_OUT_OF_MEMORY:  // also what libcurl says when one line outgrows its buffer
            if (transfer.header_count == 0) return {HttpProblem::kOverloaded, "out of memory"};
            return {HttpProblem::kHeadersTooLarge,
                    "a header of the answer is too long; check that the URL is that of the device"};
        default:
            return {HttpProblem::kInternal,
                    fmt::format("libcurl: {}", curl_easy_strerror(static_cast<CURLcode>(code)))};
    }
}

HttpFault fault_of_deadline(const HttpTransfer& transfer) {
    const std::string limit = limit_text(transfer);
    if (!transfer.running) {
        return {HttpProblem::kTimeout,
                fmt::format("the address of {} was not known within {}; check the name servers",
                            transfer.url().host, limit)};
    }
    curl_off_t connected = 0;
    curl_off_t secured = 0;
    curl_off_t sent = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_CONNECT_TIME_T, &connected);
    curl_easy_getinfo(transfer.easy, CURLINFO_APPCONNECT_TIME_T, &secured);
    curl_easy_getinfo(transfer.easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
    const std::string peer = peer_text(transfer);
    std::string what;
    if (connected == 0) {
        what = fmt::format(
            "{} did not accept a connection within {}; check that it is up and not "
            "behind a firewall",
            peer, limit);
    } else if (transfer.url().tls && secured == 0 && sent == 0) {
        what = fmt::format("{} did not finish the TLS handshake within {}", peer, limit);
    } else if (transfer.header_count == 0) {
        what = fmt::format("{} did not answer within {}; the device is slow or overloaded", peer,
                           limit);
    } else {
        what = fmt::format(
            "the answer of {} was not complete within {} ({} bytes of the body "
            "came); the device is slow or overloaded",
            peer, limit, transfer.reply.body.size());
    }
    return {HttpProblem::kTimeout, std::move(what)};
}

HttpFault fault_of_lookup(const base::Error& error) {
    HttpFault fault{HttpProblem::kDnsFailure, error.message};
    if (error.code == "dns.not_found") fault.problem = HttpProblem::kDnsNotFound;
    if (error.code == "dns.timeout") fault.problem = HttpProblem::kDnsTimeout;
    if (error.code == "dns.bad_name") fault.problem = HttpProblem::kBadRequest;
    if (error.code == "dns.overloaded") fault.problem = HttpProblem::kOverloaded;
    return fault;
}

}  // namespace pollux::net
