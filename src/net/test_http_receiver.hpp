// A receiver of webhooks for tests: a real HTTP server on loopback that answers as it is told and
// keeps what it was sent. Runs on the loop of the test; test_http_catcher.hpp is one with a thread
// of its own.
//
//   HttpReceiver receiver(loop);
//   receiver.plan({{.status = 503, .retry_after = "2"}, {.reset = true}});   // then 200 for ever
//   ... receiver.url("/hook") ... receiver.requests()
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "net/http_server.hpp"
#include "net/tls_stream.hpp"

namespace pollux::net::test {

struct PlannedAnswer {
    int status = 200;
    std::string body = "ok\n";
    std::string retry_after = {};  // empty: no such field
    std::string location = {};     // likewise
    bool reset = false;            // instead of an answer
    bool silent = false;           // never answers
};

class HttpReceiver {
  public:
    // Port 0: any that is free.
    explicit HttpReceiver(EventLoop& loop, const TlsServerContext* tls = nullptr,
                          std::uint16_t port = 0)
        : tls_(tls != nullptr),
          server_(loop, {.handler_timeout = std::chrono::minutes(10)},
                  [this](const Request& request, Responder responder) {
                      take(request, std::move(responder));
                  }) {
        auto address = server_.listen(SocketAddress::loopback(port), tls);
        POLLUX_CHECK_MSG(address.has_value(), "the receiver of the test cannot listen");
        port_ = address->port();
    }

    std::uint16_t port() const { return port_; }
    std::string url(std::string_view path = "/") const {
        return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) +
               std::string(path);
    }

    // For the next requests, one each; `otherwise` for all after them.
    void plan(std::vector<PlannedAnswer> answers) {
        planned_.insert(planned_.end(), answers.begin(), answers.end());
    }
    PlannedAnswer otherwise;
    // Asked in place of these; then nothing is kept here.
    std::function<PlannedAnswer(const Request&)> decide;

    const std::vector<Request>& requests() const { return requests_; }
    // Those that were answered with 2xx.
    const std::vector<Request>& taken() const { return taken_; }
    // How many different keys were taken: what a receiver shows that knows repetitions.
    std::size_t distinct() const {
        std::set<std::string> keys;
        for (const Request& request : taken_) {
            keys.emplace(request.header("idempotency-key").value_or(""));
        }
        return keys.size();
    }

  private:
    PlannedAnswer next(const Request& request) {
        if (decide) return decide(request);
        PlannedAnswer answer = otherwise;
        if (!planned_.empty()) {
            answer = std::move(planned_.front());
            planned_.pop_front();
        }
        requests_.push_back(request);
        if (!answer.silent && answer.status / 100 == 2) taken_.push_back(request);
        return answer;
    }

    void take(const Request& request, Responder responder) {
        const PlannedAnswer answer = next(request);
        if (answer.silent) return kept_.push_back(std::move(responder));
        // A reset after the message was taken: the sender cannot know, and repeats.
        if (answer.reset) return responder.abort();
        Response response = Response::text(answer.status, answer.body);
        if (!answer.retry_after.empty()) response.with("Retry-After", answer.retry_after);
        if (!answer.location.empty()) response.with("Location", answer.location);
        responder.send(std::move(response));
    }

    bool tls_;
    std::uint16_t port_ = 0;
    std::deque<PlannedAnswer> planned_;
    std::vector<Request> requests_;
    std::vector<Request> taken_;
    std::vector<Responder> kept_;
    HttpServer server_;
};

}  // namespace pollux::net::test
