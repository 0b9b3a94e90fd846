#include "net/server_trust.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include "net/http_url.hpp"

namespace pollux::net {
namespace {

CURLcode on_context(CURL*, void* context, void* self) {
    return static_cast<ServerTrustCheck*>(self)->install(static_cast<ssl_ctx_st*>(context))
               ? CURLE_OK
               : CURLE_SSL_CERTPROBLEM;
}

}  // namespace

base::Status ServerTrustCheck::apply(void* easy, const std::string& url, const ServerTrust& trust) {
    const auto parsed = HttpUrl::parse(url);
    if (!parsed) return std::unexpected(parsed.error());
    wanted_.host = parsed->literal ? parsed->address.to_string() : parsed->host;
    wanted_.verify = !trust.insecure && trust.pin_sha256.empty();
    if (!trust.pin_sha256.empty()) {
        wanted_.pin = parse_sha256(trust.pin_sha256);
        if (!wanted_.pin) {
            return base::config_error("tls.pin",
                                      "a pin is the SHA-256 of the certificate: 64 hexadecimal "
                                      "digits, with or without colons");
        }
    }
    if (wanted_.verify && parsed->tls) {
        const auto store = stores_.get(trust.ca_file);
        if (!store) return std::unexpected(store.error());
        authorities_ = *store;
    }
    // The decision is ours alone: libcurl's would come first and say less.
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_context) != CURLE_OK) {
        return base::internal_error("tls.check", "libcurl does not let certificates be checked");
    }
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, this);
    return {};
}

bool ServerTrustCheck::install(ssl_ctx_st* context) {
    seen_ = std::make_shared<TlsPeer>(wanted_);
    return install_tls_check(context, seen_, authorities_);
}

std::string ServerTrustCheck::complaint() const {
    if (!seen_ || (seen_->verify_error == 0 && !seen_->pin_mismatch)) return {};
    std::string who = "it shows no certificate";
    if (!seen_->certificates.empty()) {
        const model::CertificateFacts& leaf = seen_->certificates.front();
        who = fmt::format("its certificate ({}, until {}) has the SHA-256 {}", leaf.subject,
                          base::format_utc(leaf.not_after), leaf.sha256);
    }
    if (seen_->pin_mismatch) {
        return fmt::format(
            "the certificate is not the pinned one; {}. Unless the server got a new one, somebody "
            "stands in between",
            who);
    }
    return fmt::format("the certificate is not trusted: {}; {}",
                       X509_verify_cert_error_string(seen_->verify_error), who);
}

}  // namespace pollux::net
