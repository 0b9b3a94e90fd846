// The sockets that traps arrive at: several addresses, many datagrams per system call, and a bound
// on how much is read in one turn of the loop, so that a flood leaves time for everything else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/event_loop.hpp"
#include "protocol/snmp/udp_socket.hpp"

namespace pollux::runtime {

// A datagram with the way back to its sender.
struct Datagram {
    protocol::snmp::Endpoint from;
    protocol::snmp::Endpoint to;  // the address it came to
    protocol::snmp::Bytes bytes;  // valid during the call
    std::size_t socket = 0;
};

class TrapListener final : private net::FdHandler {
  public:
    using OnDatagram = std::move_only_function<void(const Datagram&)>;

    explicit TrapListener(net::EventLoop& loop) : loop_(loop) {}
    ~TrapListener();
    TrapListener(const TrapListener&) = delete;
    TrapListener& operator=(const TrapListener&) = delete;

    // "127.0.0.1:1162", or "systemd": sockets that it handed over (see passed_sockets). All or
    // nothing; the error says what is in the way.
    base::Status open(const std::vector<std::string>& addresses, const std::vector<int>& passed);
    void start(OnDatagram on_datagram);
    // Answers from the address that was asked.
    void answer(const Datagram& asked, protocol::snmp::Bytes bytes);
    std::vector<std::string> addresses() const;
    // Datagrams that came faster than they were read, of all sockets since the start.
    std::uint64_t dropped() const;
    void close();

  private:
    void on_ready(int fd, std::uint32_t events) override;

    net::EventLoop& loop_;
    std::vector<protocol::snmp::UdpSocket> sockets_;
    protocol::snmp::ReceiveBatch batch_{protocol::snmp::ReceiveBatch::Destinations::kKnown};
    OnDatagram on_datagram_;
};

// Datagram sockets that systemd handed to this process: LISTEN_PID and LISTEN_FDS say so. `first`
// is 3 but in tests.
std::vector<int> passed_sockets(const std::string& listen_pid, const std::string& listen_fds,
                                int first = 3);

}  // namespace pollux::runtime
