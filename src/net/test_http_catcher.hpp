// A receiver of webhooks for tests of what sends from outside, such as the whole binary: one of
// test_http_receiver.hpp in a thread of its own.
//
//   HttpCatcher hook;
//   hook.script({HttpCatcher::too_many(2), HttpCatcher::lost(), {}});   // then 200 for ever
//   ... hook.url("/alerts") ...
//   ASSERT_TRUE(hook.wait_for(3));
//   EXPECT_EQ(hook.requests()[2].header("Idempotency-Key"), ...);
//
// To be down for a while: let it go, and make another one with the same port.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "net/test_http_receiver.hpp"
#include "net/test_process.hpp"

namespace pollux::net::test {

class HttpCatcher {
  public:
    using Reply = PlannedAnswer;
    static Reply status(int number) { return {.status = number, .body = "no\n"}; }
    static Reply too_many(int retry_after_s) {
        Reply reply = status(429);
        reply.retry_after = std::to_string(retry_after_s);
        return reply;
    }
    // Takes the request and says nothing for as long as the other side waits.
    static Reply silence() { return {.silent = true}; }
    // Takes the request, then resets the connection: the sender cannot know.
    static Reply lost() { return {.reset = true}; }

    // Port 0: any that is free.
    explicit HttpCatcher(std::uint16_t port = 0)
        : loop_(EventLoop::create().value()),
          receiver_(std::make_unique<HttpReceiver>(*loop_, nullptr, port)),
          port_(receiver_->port()) {
        receiver_->decide = [this](const Request& request) { return remember(request); };
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~HttpCatcher() {
        loop_->stop();
        thread_.join();
        receiver_.reset();
    }
    HttpCatcher(const HttpCatcher&) = delete;
    HttpCatcher& operator=(const HttpCatcher&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url(std::string_view path = "/") const { return receiver_->url(path); }

    // The answers to the next requests, one each; then those of always().
    void script(std::vector<Reply> replies) {
        const std::scoped_lock lock(mutex_);
        script_.insert(script_.end(), replies.begin(), replies.end());
    }
    void always(Reply reply) {
        const std::scoped_lock lock(mutex_);
        always_ = std::move(reply);
    }

    // Everything that came whole, in order, whatever the answer was.
    std::vector<Request> requests() const {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }
    // Whether so many came in time.
    bool wait_for(std::size_t count, std::chrono::milliseconds patience = kPatience) const {
        std::unique_lock lock(mutex_);
        return arrived_.wait_for(lock, patience, [&] { return requests_.size() >= count; });
    }

  private:
    Reply remember(const Request& request) {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
        arrived_.notify_all();
        if (script_.empty()) return always_;
        Reply reply = std::move(script_.front());
        script_.pop_front();
        return reply;
    }

    std::unique_ptr<EventLoop> loop_;
    std::unique_ptr<HttpReceiver> receiver_;
    std::uint16_t port_;

    mutable std::mutex mutex_;  // guards what follows
    mutable std::condition_variable arrived_;
    std::deque<Reply> script_;
    Reply always_;
    std::vector<Request> requests_;

    std::thread thread_;
};

}  // namespace pollux::net::test
