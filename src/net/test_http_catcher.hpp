// An HTTP receiver for tests of what sends: takes requests in a thread of its own, remembers them,
// and answers as it is told, also badly.
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
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/http_message.hpp"
#include "net/http_request_parser.hpp"
#include "net/test_tcp_server.hpp"

namespace pollux::net::test {

class HttpCatcher {
  public:
    enum class Manner : std::uint8_t {
        kAnswer,
        kSilence,  // takes the request and says nothing for as long as the other side waits
        kReset,    // takes the request, then resets the connection: the sender cannot know
    };
    struct Reply {
        Response response = Response::text(200, "ok\n");
        Manner manner = Manner::kAnswer;
    };
    static Reply status(int number) { return {Response::text(number, "no\n"), Manner::kAnswer}; }
    static Reply too_many(int retry_after_s) {
        Reply reply = status(429);
        reply.response.with("Retry-After", std::to_string(retry_after_s));
        return reply;
    }
    static Reply silence() { return {{}, Manner::kSilence}; }
    static Reply lost() { return {{}, Manner::kReset}; }

    // Port 0: any that is free.
    explicit HttpCatcher(std::uint16_t port = 0)
        : loop_(EventLoop::create().value()),
          server_(std::make_unique<TcpServer>(*loop_, port)),
          port_(server_->port()) {
        server_->on_data = [this](TcpServer::Peer& peer) { take(peer); };
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~HttpCatcher() {
        loop_->stop();
        thread_.join();
        server_.reset();
    }
    HttpCatcher(const HttpCatcher&) = delete;
    HttpCatcher& operator=(const HttpCatcher&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url(std::string_view path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }

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
    struct Reader {
        RequestParser parser{RequestLimits{}};
        bool continued = false;
    };

    void take(TcpServer::Peer& peer) {
        const auto [found, fresh] = readers_.try_emplace(peer.number);
        RequestParser& parser = found->second.parser;
        while (!peer.received.empty()) {
            const std::size_t used = parser.consume(peer.received);
            peer.received.erase(0, used);
            if (parser.state() == RequestParser::State::kFailed) {
                readers_.erase(found);
                return peer.reset();
            }
            if (parser.expects_continue() && parser.state() == RequestParser::State::kBody &&
                !std::exchange(found->second.continued, true)) {
                peer.send("HTTP/1.1 100 Continue\r\n\r\n");
            }
            if (parser.state() != RequestParser::State::kComplete) return;
            answer(peer, std::move(parser.request()));
            parser.start_over();
            found->second.continued = false;
        }
    }

    void answer(TcpServer::Peer& peer, Request request) {
        const Reply reply = remember(std::move(request));
        if (reply.manner == Manner::kReset) return peer.reset();
        if (reply.manner == Manner::kSilence) return;
        const Response& response = reply.response;
        std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                           std::string(reason_phrase(response.status)) + "\r\n";
        for (const HeaderField& field : response.headers) {
            text += field.name + ": " + field.value + "\r\n";
        }
        text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
        peer.send(text + response.body);
    }

    Reply remember(Request request) {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(std::move(request));
        arrived_.notify_all();
        if (script_.empty()) return always_;
        Reply reply = std::move(script_.front());
        script_.pop_front();
        return reply;
    }

    std::unique_ptr<EventLoop> loop_;
    std::unique_ptr<TcpServer> server_;
    std::uint16_t port_;
    std::map<int, Reader> readers_;  // of the loop's thread, by number of the peer

    mutable std::mutex mutex_;  // guards what follows
    mutable std::condition_variable arrived_;
    std::deque<Reply> script_;
    Reply always_;
    std::vector<Request> requests_;

    std::thread thread_;
};

}  // namespace pollux::net::test
