// Tells receivers over HTTP: what the definition of the channel makes of the notification.
//
// Every request has the notification's id in `Idempotency-Key`, the same in all attempts, and in
// `X-Pollux-Delivery` with the number of the attempt. Redirects are not followed: a redirect would
// take the message, and a token in its URL, to somebody who was not named.
#pragma once

#include "feed/channel.hpp"
#include "net/http_client.hpp"

namespace pollux::feed {

class WebhookChannel final : public ChannelDriver {
  public:
    // Loop and client must outlive it.
    WebhookChannel(net::EventLoop& loop, net::HttpClient& client);

    void start(Attempt attempt, Done done) override;
    void cancel(std::uint64_t id) override;

  private:
    net::EventLoop& loop_;
    net::HttpClient& client_;
};

// What an answer means: 2xx is delivered; 408, 425, 429 and 5xx are worth another attempt, as is
// everything that kept us from an answer; other answers are final.
AttemptOutcome outcome_of(const model::HttpAsk& ask, net::HttpOutcome&& outcome,
                          const model::Credentials* credentials, base::WallTime now);

}  // namespace pollux::feed
