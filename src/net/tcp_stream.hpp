// A connected TCP socket as a ByteStream. Owns the descriptor.
#pragma once

#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"

namespace pollux::net {

class TcpStream final : public ByteStream, private FdHandler {
  public:
    // `fd` is connected and non-blocking.
    TcpStream(EventLoop& loop, int fd, SocketAddress local, SocketAddress peer)
        : loop_(loop), fd_(fd), local_(local), peer_(peer) {}
    ~TcpStream();

    void set_handler(StreamHandler* handler) override { handler_ = handler; }
    void want(bool to_read, bool to_write) override;
    IoResult read(std::span<char> into) override;
    IoResult write(std::span<const char> from) override;
    void shutdown_write() override;
    void abort() override;
    std::string failure() const override;
    SocketAddress local() const override { return local_; }
    SocketAddress peer() const override { return peer_; }

  private:
    void on_ready(int fd, std::uint32_t events) override;
    IoResult failed(int number);
    void unwatch();

    EventLoop& loop_;
    int fd_;
    SocketAddress local_;
    SocketAddress peer_;
    StreamHandler* handler_ = nullptr;
    std::uint32_t events_ = 0;  // what the loop watches for us
    bool watched_ = false;
    int error_ = 0;
};

}  // namespace pollux::net
