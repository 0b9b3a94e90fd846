// A device of a test in the loop of the driver: it does with each request what the test says.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "net/event_loop.hpp"
#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/endpoint.hpp"

namespace pollux::protocol::snmp::test {

// A UDP socket that hands what arrives to a function.
class FakeDevice final : private net::FdHandler {
  public:
    using Handler = std::function<void(FakeDevice&, const Message&)>;

    FakeDevice(net::EventLoop& loop, Handler handler, const std::string& literal = "127.0.0.1")
        : loop_(loop), handler_(std::move(handler)) {
        const net::test::TestAddress any(literal, 0);
        fd_ = socket(any.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        POLLUX_CHECK(bind(fd_, any.get(), any.length) == 0);
        sockaddr_storage bound{};
        socklen_t length = sizeof bound;
        getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &length);
        port_ = from_sockaddr(bound)->port;
        POLLUX_CHECK(loop.watch(fd_, EPOLLIN, *this).has_value());
    }
    ~FakeDevice() {
        loop_.unwatch(fd_);
        close(fd_);
    }

    std::uint16_t port() const { return port_; }
    int received() const { return received_; }
    void send(std::span<const std::uint8_t> bytes) {
        POLLUX_CHECK(sendto(fd_, bytes.data(), bytes.size(), 0,
                            reinterpret_cast<const sockaddr*>(&client_),
                            client_length_) == static_cast<ssize_t>(bytes.size()));
    }
    void send(const Message& message) { send(encoded(message)); }
    // From here to whom another device last heard.
    void send_as_stranger(const FakeDevice& other, const Message& message) {
        client_ = other.client_;
        client_length_ = other.client_length_;
        send(message);
    }

  private:
    void on_ready(int fd, std::uint32_t) override {
        std::array<std::uint8_t, 65536> buffer;
        while (true) {
            client_length_ = sizeof client_;
            const ssize_t got = recvfrom(fd, buffer.data(), buffer.size(), 0,
                                         reinterpret_cast<sockaddr*>(&client_), &client_length_);
            if (got < 0) return;
            ++received_;
            const auto message = decode_message({buffer.data(), static_cast<std::size_t>(got)});
            POLLUX_CHECK_MSG(message.has_value(), "a request that is no SNMP");
            handler_(*this, *message);
        }
    }

    net::EventLoop& loop_;
    Handler handler_;
    int fd_ = -1;
    std::uint16_t port_ = 0;
    int received_ = 0;
    sockaddr_storage client_{};
    socklen_t client_length_ = 0;
};

}  // namespace pollux::protocol::snmp::test
