// A TCP server for tests that says what it is told to say, so that it can be as wrong as it likes.
// Runs on the loop of the test.
#pragma once

#include <sys/epoll.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "net/event_loop.hpp"
#include "net/test_process.hpp"

namespace pollux::net::test {

class TcpServer final : FdHandler {
  public:
    // One accepted connection.
    class Peer final : FdHandler {
      public:
        Peer(TcpServer& server, int fd) : server_(server), fd_(fd) {
            POLLUX_CHECK(server_.loop_.watch(fd_, EPOLLIN, *this).has_value());
        }
        ~Peer() {
            server_.loop_.unwatch(fd_);
            ::close(fd_);
        }
        Peer(const Peer&) = delete;
        Peer& operator=(const Peer&) = delete;

        // Sent as fast as the other side takes it.
        void send(std::string_view bytes) {
            pending_ += bytes;
            flush();
        }
        // Asked for more each time everything was sent.
        void stream(std::function<std::string()> source) {
            source_ = std::move(source);
            flush();
        }
        // Closes when everything is sent.
        void finish() {
            finishing_ = true;
            flush();
        }

        // Closes at once, and so that the other side gets an error; from within a call only.
        void reset() { resetting_ = true; }

        std::string received;
        std::uint64_t sent = 0;
        int number = 0;  // counted from 1

      private:
        void on_ready(int, std::uint32_t events) override {
            if ((events & EPOLLIN) != 0) {
                std::array<char, 16'384> buffer{};
                const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
                if (got <= 0 && errno != EAGAIN) return server_.drop(fd_);
                if (got > 0) {
                    received.append(buffer.data(), static_cast<std::size_t>(got));
                    if (server_.on_data) server_.on_data(*this);
                }
            }
            if (resetting_) {
                const linger at_once{.l_onoff = 1, .l_linger = 0};
                setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                return server_.drop(fd_);
            }
            if ((events & (EPOLLERR | EPOLLHUP)) != 0) return server_.drop(fd_);
            flush();
        }

        void flush() {
            // Bounded per call, so that a fast reader does not keep the loop here.
            for (int turn = 0; turn < 16; ++turn) {
                if (pending_.empty() && source_) pending_ = source_();
                if (pending_.empty()) break;
                const ssize_t wrote =
                    ::send(fd_, pending_.data(), pending_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
                if (wrote <= 0) break;
                sent += static_cast<std::uint64_t>(wrote);
                pending_.erase(0, static_cast<std::size_t>(wrote));
            }
            if (pending_.empty() && finishing_) ::shutdown(fd_, SHUT_RDWR);
            const bool waits = !pending_.empty() || source_ != nullptr;
            const std::uint32_t wanted =
                EPOLLIN | (waits ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
            if (wanted != watched_) POLLUX_CHECK(server_.loop_.change(fd_, wanted).has_value());
            watched_ = wanted;
        }

        TcpServer& server_;
        int fd_;
        std::string pending_;
        std::function<std::string()> source_;
        bool finishing_ = false;
        bool resetting_ = false;
        std::uint32_t watched_ = EPOLLIN;
    };

    // Port 0: any that is free.
    explicit TcpServer(EventLoop& loop, std::uint16_t port = 0) : loop_(loop) {
        const TestAddress any("127.0.0.1", port);
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const int yes = 1;  // a server that comes back finds its old connections still closing
        setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        POLLUX_CHECK(bind(listener_, any.get(), any.length) == 0 && listen(listener_, 512) == 0);
        sockaddr_in bound{};
        socklen_t length = sizeof bound;
        getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &length);
        port_ = ntohs(bound.sin_port);
        POLLUX_CHECK(loop_.watch(listener_, EPOLLIN, *this).has_value());
    }
    ~TcpServer() {
        peers_.clear();
        loop_.unwatch(listener_);
        ::close(listener_);
    }
    TcpServer(const TcpServer&) = delete;
    TcpServer& operator=(const TcpServer&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url(std::string_view path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }
    std::size_t peers() const { return peers_.size(); }
    int accepted() const { return accepted_; }
    std::uint64_t sent() const {
        std::uint64_t sum = sent_before_;
        for (const auto& [fd, peer] : peers_) sum += peer->sent;
        return sum;
    }

    // Called for each accepted connection, and each time it sent something.
    std::function<void(Peer&)> on_accept;
    std::function<void(Peer&)> on_data;

  private:
    void on_ready(int, std::uint32_t) override {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        auto& peer = peers_[fd] = std::make_unique<Peer>(*this, fd);
        peer->number = ++accepted_;
        if (on_accept) on_accept(*peer);
    }

    void drop(int fd) {
        sent_before_ += peers_[fd]->sent;
        peers_.erase(fd);
    }

    EventLoop& loop_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::map<int, std::unique_ptr<Peer>> peers_;
    std::uint64_t sent_before_ = 0;
    int accepted_ = 0;
};

}  // namespace pollux::net::test
