// How a command decides whether the server behind an easy handle of libcurl is the one it means: by
// an authority, or by the fingerprint of its certificate. Says why one was refused, and which
// certificate it showed.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/tls_check.hpp"

namespace pollux::net {

struct ServerTrust {
    std::string ca_file = {};     // empty: the authorities of the system
    std::string pin_sha256 = {};  // of the certificate; then it alone decides
    bool insecure = false;        // any certificate; a pin is still checked
};

// Outlives the transfers of the handle it was applied to.
class ServerTrustCheck {
  public:
    ServerTrustCheck() = default;
    ServerTrustCheck(const ServerTrustCheck&) = delete;
    ServerTrustCheck& operator=(const ServerTrustCheck&) = delete;

    // `easy` is a handle of libcurl. Fails with tls.pin and tls.ca_file.
    base::Status apply(void* easy, const std::string& url, const ServerTrust& trust);
    // Why the last server was refused, in words for people; empty: it was not.
    std::string complaint() const;

    // Of libcurl, for each new connection.
    bool install(ssl_ctx_st* context);

  private:
    TrustStores stores_;
    x509_store_st* authorities_ = nullptr;
    TlsPeer wanted_;
    std::shared_ptr<TlsPeer> seen_;
};

}  // namespace pollux::net
