// Decides whether the peer of a TLS connection is the one we mean, and notes who it is.
//
// Called by libcurl for every new TLS connection, before a byte of a request is sent: the decision
// is ours alone (libcurl's own is switched off), so that pins, refused certificates and the facts
// about them have one place. Sessions are never resumed, so that each connection shows its
// certificate.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"

struct ssl_st;
struct ssl_ctx_st;
struct x509_store_st;
struct x509_st;

namespace pollux::net {

using Sha256 = std::array<std::uint8_t, 32>;

// What people want to know of a certificate.
model::CertificateFacts facts_of(const x509_st* certificate);

// "AB:CD:…" or "abcd…", 64 hexadecimal digits.
std::optional<Sha256> parse_sha256(std::string_view text);

// What one connection must prove, and what it showed. Lives as long as the connection or the ask.
struct TlsPeer {
    bool verify = true;
    std::optional<Sha256> pin;
    std::string host;  // as in the URL

    std::vector<model::CertificateFacts> certificates;  // leaf first
    long verify_error = 0;                              // X509_V_ERR_*; 0: none
    bool pin_mismatch = false;
};

// The certificates of authorities, read once per file and again when it changes. The system's are
// looked up in its folder when they are needed.
class TrustStores {
  public:
    TrustStores() = default;
    ~TrustStores();
    TrustStores(const TrustStores&) = delete;
    TrustStores& operator=(const TrustStores&) = delete;

    // Owned by this; takes a reference of its own who keeps it.
    base::Result<x509_store_st*> get(const std::string& ca_file);

  private:
    struct Entry {
        x509_store_st* store = nullptr;
        std::int64_t stamp = 0;
    };
    static constexpr std::size_t kMaxFiles = 64;

    std::map<std::string, Entry> entries_;
};

// Makes the connection of this context check the peer; `trust` may be null if nothing is verified.
bool install_tls_check(ssl_ctx_st* context, std::shared_ptr<TlsPeer> peer, x509_store_st* trust);

// What the connection showed, null if it was not made with install_tls_check.
std::shared_ptr<const TlsPeer> tls_peer_of(const ssl_st* connection);

}  // namespace pollux::net
