// Tells people by mail: libcurl speaks SMTP, on a few threads of its own, because it blocks while
// it waits for the answers to the mail and to QUIT.
//
// The server is the channel's `url`, or that of the options: smtp://host[:587] or
// smtps://host[:465]. The parameter `tls` of smtp:// is `required` (STARTTLS, the default),
// `optional` or `none`; `verify` and `ca_file` are those of webhooks.
//
// Invariants
// 1. Names are resolved by our resolver only, and every address is checked against the egress
//    policy.
// 2. A password is never sent in the clear unless `tls` is `none`: `optional` counts as `required`
//    when there are credentials.
// 3. Answers 5yz are final, 4yz and everything that kept us from an answer are worth another
//    attempt. A mail that some recipients got is delivered; the outcome says who refused it.
#pragma once

#include <memory>

#include "feed/channel.hpp"
#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "net/resolver.hpp"

namespace pollux::feed {

struct EmailOptions {
    std::string url;                  // of the server, for channels that name none
    std::string from;                 // likewise
    std::string hello = "localhost";  // what we call ourselves
};

class EmailChannel final : public ChannelDriver {
  public:
    // Loop and resolver must outlive it.
    EmailChannel(net::EventLoop& loop, net::Resolver& resolver,
                 std::shared_ptr<const net::EgressPolicy> egress, EmailOptions options);
    ~EmailChannel() override;

    void start(Attempt attempt, Done done) override;
    void cancel(std::uint64_t id) override;

    void set_options(EmailOptions options);
    void set_egress(std::shared_ptr<const net::EgressPolicy> egress);

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pollux::feed
