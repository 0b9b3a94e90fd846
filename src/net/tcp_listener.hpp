// Accepts TCP connections and hands each over as a stream. Used from the loop's thread.
//
// Listens on loopback unless the options say otherwise: exposing a port is a decision somebody
// takes, never a default.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "net/event_loop.hpp"
#include "net/tcp_stream.hpp"

namespace pollux::net {

struct TcpListenerOptions {
    bool allow_non_loopback = false;
    // Ties a wildcard address to the loopback interface, where the kernel lets us; the user still
    // checks the local address of what is accepted.
    bool loopback_interface = false;
    // Several listeners on one port, among which the kernel spreads the connections.
    bool reuse_port = false;
    int backlog = 4096;
    int accepts_per_turn = 64;  // so that a flood of connections does not starve those that exist
};

class TcpListener final : private FdHandler {
  public:
    using OnAccept = std::move_only_function<void(std::unique_ptr<TcpStream>)>;

    // Port 0 lets the kernel choose; see address(). `on_accept` may destroy the listener.
    static base::Result<std::unique_ptr<TcpListener>> listen(EventLoop& loop, SocketAddress at,
                                                             TcpListenerOptions options,
                                                             OnAccept on_accept);
    ~TcpListener();

    const SocketAddress& address() const { return address_; }

  private:
    TcpListener(EventLoop& loop, int fd, TcpListenerOptions options, OnAccept on_accept);
    void on_ready(int fd, std::uint32_t events) override;
    void pause();

    EventLoop& loop_;
    int fd_;
    SocketAddress address_;
    TcpListenerOptions options_;
    OnAccept on_accept_;
    Timer resume_;          // after the process ran out of descriptors
    bool* gone_ = nullptr;  // while it accepts: tells on_ready that it was destroyed meanwhile
};

}  // namespace pollux::net
