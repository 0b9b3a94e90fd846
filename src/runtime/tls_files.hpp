// The certificate and the key that a server of ours shows, from files of the settings.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "config/settings.hpp"
#include "net/tls_stream.hpp"

namespace pollux::runtime {

// A pair of settings that belongs together.
struct TlsFiles {
    std::string_view name;  // of both, without "_tls_certificate" and "_tls_key": "api"
    std::string certificate;
    std::string key;
};
TlsFiles api_tls_files(const config::Settings& settings);
TlsFiles inbound_tls_files(const config::Settings& settings);

// Nothing: none is set. Errors are of the configuration, "<name>.tls..." : one without the other, a
// file that cannot be read, a key that everybody can read.
base::Result<std::optional<net::TlsIdentity>> read_tls_identity(const TlsFiles& files);

}  // namespace pollux::runtime
