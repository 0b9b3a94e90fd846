// Looks at what a TLS server showed, after a handshake that believed everything: the chain, whether
// it leads to a root we trust, and whether the certificate is for the name. Says, never refuses.
#pragma once

#include <string>

#include "model/reply.hpp"

struct ssl_st;
struct x509_store_st;

namespace pollux::net {

// `name` is a host name or a literal address.
model::TlsReply inspect_peer(const ssl_st* connection, x509_store_st* trust,
                             const std::string& name);

}  // namespace pollux::net
