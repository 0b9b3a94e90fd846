// Webhooks and pushes over HTTP. The token stands in the path, because many senders can be given
// nothing but an address, or in a header:
//
//   POST or PUT /hooks/TOKEN[/anything]
//   GET or POST /push/TOKEN?status=up|down&msg=TEXT&value=NUMBER
//   the same with `Authorization: Bearer TOKEN` or `X-Pollux-Token: TOKEN` and no token in the path
//
// A message is answered with 200 after it was stored. Lives on its loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "net/http_server.hpp"
#include "net/tls_stream.hpp"
#include "runtime/inbound/intake.hpp"
#include "runtime/inbound/source_limiter.hpp"
#include "runtime/inbound/token_table.hpp"

namespace pollux::runtime {

class InboundHttp {
  public:
    // Of one address (of IPv6: of one /64) at a time, so that no host shuts out the others. As many
    // as a proxy or a site behind one address needs for what its sender may say at once.
    static constexpr std::size_t kMostConnectionsOfOne = 256;

    // Everything outlives it. `key` is random.
    InboundHttp(net::EventLoop& loop, Intake& intake, TargetBook& book, SourceLimiter& limiter,
                InboundCounts& counts, base::SipKey key, std::size_t body_bytes);

    // With an identity senders must speak TLS.
    base::Status listen(const std::vector<std::string>& addresses,
                        const std::optional<net::TlsIdentity>& tls);
    void set_image(const InboundImage& image);
    const std::vector<std::string>& addresses() const { return addresses_; }
    const net::HttpServerCounters& counters() const { return http_.counters(); }
    // Who was refused a connection for having too many, since this was asked; empty: nobody.
    std::string take_crowded() { return std::exchange(crowded_, {}); }
    void close(base::Duration at_most, std::move_only_function<void()> closed) {
        http_.drain(at_most, std::move(closed));
    }

  private:
    struct Asked {
        net::Request request;
        net::Responder responder;
        InboundKind kind = InboundKind::kWebhook;
        std::string rest;  // of the path, behind the token
    };
    void handle(net::Request request, net::Responder responder);
    void refuse(Asked asked, InboundResult result, int status, std::string_view why);
    void take_hook(Asked asked, InboundTargetPtr target);
    void take_push(Asked asked, InboundTargetPtr target);
    void hand_on(Asked asked, HeardMessage heard);

    net::EventLoop& loop_;
    Intake& intake_;
    TargetBook& book_;
    SourceLimiter& limiter_;
    InboundCounts& counts_;
    TokenTable tokens_;
    std::vector<std::string> addresses_;
    std::string crowded_;
    net::HttpServer http_;
};

}  // namespace pollux::runtime
