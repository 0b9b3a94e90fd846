// Sends requests and receives answers of one shard: one socket per address family, many datagrams
// per system call, and no more on their way than the receive buffer holds.
//
// Lives on the thread of its loop. The client is called from the loop only, never from inside
// enqueue() or settle(); it may call both from inside its calls.
//
// A request waits in line as a ticket; its bytes are made when its turn comes, so that a line of
// thousands costs 8 bytes each and a ticket that nobody wants any more costs nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/event_loop.hpp"
#include "protocol/snmp/send_window.hpp"
#include "protocol/snmp/udp_socket.hpp"

namespace pollux::protocol::snmp {

class TransportClient {
  public:
    // Writes the datagram of `ticket` into `buffer` and says where it goes. Empty: not wanted any
    // more.
    struct Outgoing {
        const Endpoint* to = nullptr;
        Bytes bytes;
    };
    virtual Outgoing prepare(std::uint64_t ticket, std::span<std::uint8_t> buffer) = 0;
    // It went out, as number `number` of the window, to be settled when it is answered.
    virtual void on_sent(std::uint64_t ticket, std::size_t bytes, std::uint64_t number) = 0;
    // It cannot be sent at all.
    virtual void on_send_failed(std::uint64_t ticket, int error_number) = 0;
    virtual void on_datagram(const Endpoint& from, Bytes bytes) = 0;
    virtual void on_icmp_error(const IcmpError& error) = 0;

  protected:
    ~TransportClient() = default;
};

struct TransportOptions {
    std::size_t window = 1024;  // requests on their way, see SendWindow
    base::Duration window_age = std::chrono::milliseconds(50);
    std::size_t burst = 512;  // datagrams sent in one turn of the loop
    std::size_t socket_buffer_bytes = 8U << 20U;
};

class Transport final : private net::FdHandler {
  public:
    // Fails if neither family can be opened.
    static base::Result<std::unique_ptr<Transport>> create(net::EventLoop& loop,
                                                           TransportClient& client,
                                                           TransportOptions options);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    bool supports(sa_family_t family) const;
    // The family must be supported. The ticket is sent in this turn of the loop or a later one.
    void enqueue(std::uint64_t ticket, sa_family_t family);
    // Request `number` was answered or given up.
    void settle(std::uint64_t number);

    std::size_t waiting() const;

  private:
    struct Line {
        UdpSocket socket;
        std::deque<std::uint64_t> tickets;
        bool wants_write = false;  // the socket's buffer is full
    };

    Transport(net::EventLoop& loop, TransportClient& client, TransportOptions options);
    base::Status open();
    void on_ready(int fd, std::uint32_t events) override;
    void receive(Line& line);
    void drain_errors(Line& line);
    void flush();
    std::size_t flush_line(Line& line, std::size_t budget);
    void fill_batch(Line& line, std::size_t most);
    bool send_batch(Line& line);
    void set_wants_write(Line& line, bool wants);
    void wake_at(base::BootTime at);
    Line& line_of(sa_family_t family) { return family == AF_INET ? v4_ : v6_; }

    net::EventLoop& loop_;
    TransportClient& client_;
    TransportOptions options_;
    SendWindow window_;
    Line v4_;
    Line v6_;
    ReceiveBatch received_;
    SendBatch batch_;
    std::vector<std::uint64_t> batch_tickets_;
    base::BootTime pause_until_;  // the kernel had no memory; nothing is sent before
    net::Timer flush_timer_;
};

}  // namespace pollux::protocol::snmp
