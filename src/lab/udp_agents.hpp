// All SNMP devices of a fleet on one UDP socket: the address a packet was sent to chooses the
// device, and the answer leaves from there. Runs in the loop's thread.
//
// The socket is bound to the wildcard, because the devices are thousands of addresses, but tied to
// the loopback interface where the kernel lets it; packets for other addresses are dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "lab/snmp_agent.hpp"
#include "net/event_loop.hpp"
#include "net/socket_address.hpp"

namespace pollux::lab {

struct AgentCounters {
    std::atomic<std::uint64_t> requests = 0;
    std::atomic<std::uint64_t> answers = 0;
    std::atomic<std::uint64_t> dropped = 0;  // to no device, or the answer could not be sent
};

class UdpAgents final : private net::FdHandler {
  public:
    // The device of an address, or nullptr.
    using FindDevice = std::function<const Device*(std::uint32_t address)>;

    static base::Result<std::unique_ptr<UdpAgents>> open(net::EventLoop& loop, std::uint16_t port,
                                                         base::BootTime epoch, FindDevice find,
                                                         Wiring* wiring = nullptr);
    ~UdpAgents();

    std::uint16_t port() const { return port_; }
    const AgentCounters& counters() const { return counters_; }

  private:
    static constexpr std::size_t kBatch = 64;
    static constexpr std::size_t kMaxRequestBytes = SnmpAgent::kMaxEchoBytes;
    static constexpr std::size_t kMaxDelayed = 100'000;
    struct Buffers;
    struct Delayed;

    UdpAgents(net::EventLoop& loop, int fd, base::BootTime epoch, FindDevice find, Wiring* wiring);
    void on_ready(int fd, std::uint32_t events) override;
    bool receive_batch();
    void answer_packet(std::size_t i, std::size_t length);
    void flush();
    void delay(std::size_t i, const AgentAnswer& answer, std::uint32_t from);
    void send_delayed();

    net::EventLoop& loop_;
    int fd_;
    std::uint16_t port_ = 0;
    base::BootTime epoch_;
    FindDevice find_;
    SnmpAgent agent_;
    std::unique_ptr<Buffers> buffers_;
    std::size_t ready_ = 0;         // answers in the buffers
    std::vector<Delayed> delayed_;  // a heap, the next one first
    net::Timer delay_timer_;
    AgentCounters counters_;
};

}  // namespace pollux::lab
