// Asks HTTP servers: libcurl on the event loop, connections kept per host.
//
// One per loop; everything is called from the loop's thread. Built from parts that each do one
// thing: http_url (where to), resolver (which address), http_hosts (which multi handle), curl_setup
// (what libcurl is told), http_transfer (what came back so far), tls_check (whom we talk to),
// http_redirect (where next), http_failure (what went wrong).
//
// Invariants
// 1. Every start() leads to exactly one Done, not later than the deadline (plus one turn of the
//    loop), never from inside start() or cancel(). When the client goes, orders under way are
//    dropped without Done; it must not go from inside a Done.
// 2. Names are resolved by our resolver only, and every connection is checked against the egress
//    policy with the address it goes to, redirects included.
// 3. No byte of a request leaves before the certificate was checked. A connection is only used
//    again by asks with the same demands on the peer and the same client certificate.
// 4. Credentials, own headers and bodies go to the origin of the ask only, never along a redirect
//    to another host.
// 5. Bodies (decompressed), headers, redirects, hosts, connections and orders are bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "net/http_types.hpp"
#include "net/resolver.hpp"

namespace pollux::net {

class HttpClient {
  public:
    using Done = std::move_only_function<void(HttpOutcome&&)>;

    // Loop and resolver must outlive the client.
    HttpClient(EventLoop& loop, Resolver& resolver, std::shared_ptr<const EgressPolicy> egress,
               HttpClientOptions options = {});
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    void start(HttpOrder order, Done done);
    void cancel(std::uint64_t id);
    std::size_t in_flight() const;

    // From the next connection on; connections made under the old policy are not used again.
    void set_egress(std::shared_ptr<const EgressPolicy> egress);

    HttpClientCounts counts() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pollux::net
