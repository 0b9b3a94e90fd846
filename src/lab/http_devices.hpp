// All HTTP and HTTPS devices of a fleet behind one listener each: the local address of a connection
// chooses the device. Runs in the loop's thread.
//
// Pages: /status (in the manner of the device's personality), /status.xml, /health,
// /as/<personality>/status (any device in any manner, for tests).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "lab/delayer.hpp"
#include "lab/device.hpp"
#include "lab/device_load.hpp"
#include "lab/http_auth.hpp"
#include "net/http_server.hpp"

namespace pollux::lab {

struct HttpDeviceCounters {
    std::atomic<std::uint64_t> plain = 0;   // requests
    std::atomic<std::uint64_t> secure = 0;  // requests through TLS
};

class HttpDevices {
  public:
    using FindDevice = std::function<const Device*(std::uint32_t address)>;

    HttpDevices(net::EventLoop& loop, base::BootTime epoch, std::uint64_t seed, FindDevice find);

    base::Result<std::uint16_t> listen(std::uint16_t port, const net::TlsServerContext* tls);

    const HttpDeviceCounters& counters() const { return counters_; }
    std::size_t connections() const { return server_.connections(); }
    // By number of the device, since the last time it was asked for.
    std::vector<DeviceLoad> take_loads();

  private:
    void handle(net::Request request, net::Responder responder);
    DeviceLoad& load_of(const Device& device);
    // Whether a fault took care of the request.
    bool answer_fault(const Device& device, const FaultState& faults, net::Responder& responder);
    void answer(const Device& device, const net::Request& request, net::Responder responder);
    void answer_as(const Device& device, Personality personality, const net::Request& request,
                   net::Responder responder);
    void answer_odd(const Device& device, Personality personality, const net::Request& request,
                    net::Responder responder);
    bool allowed(Personality personality, const net::Request& request, net::Responder& responder);
    void hold(net::Responder responder);
    void drip(const Device& device, net::Responder responder);
    void flap(const Device& device, net::Responder responder);
    void garbage(const Device& device, net::Responder responder);
    void limit_rate(const Device& device, net::Responder responder);
    FleetTime now() const { return loop_.now() - epoch_; }

    net::EventLoop& loop_;
    base::BootTime epoch_;
    FindDevice find_;
    DigestGuard digest_;
    std::deque<DeviceLoad> loads_;  // by number of the device; what waits points into it
    Delayer delayer_;
    std::vector<FleetTime> last_served_;  // by number of the device; for the rate limit
    std::uint64_t requests_ = 0;
    HttpDeviceCounters counters_;
    net::HttpServer server_;
};

}  // namespace pollux::lab
