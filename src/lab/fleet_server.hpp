// A simulated fleet at work: real protocol servers on loopback, in a thread of their own.
//
//   auto fleet = lab::FleetServer::start({.snmp = 500, .http = 200}).value();
//   ask(lab::address_text(fleet->fleet().snmp()[0].address()), fleet->ports().snmp);
//   fleet->set_fault("sw-00001", {.kind = lab::FaultKind::kDown});
//
// start(), stop() and the steering methods are called from any thread but the fleet's own; they
// return when the fleet has done it. What fleet() shows of names, addresses and shapes never
// changes; faults and profile belong to the fleet's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "lab/device_load.hpp"
#include "lab/fleet.hpp"

namespace pollux::lab {

struct FleetOptions {
    std::uint32_t snmp = 100;  // devices
    std::uint32_t http = 50;
    std::uint64_t seed = 1;
    std::string profile = "calm";
    // 0: the kernel chooses.
    std::uint16_t port_snmp = 0;
    std::uint16_t port_http = 0;
    std::uint16_t port_https = 0;
    std::uint16_t port_control = 0;
};

struct FleetPorts {
    std::uint16_t snmp = 0;
    std::uint16_t http = 0;
    std::uint16_t https = 0;
    std::uint16_t control = 0;
};

struct FleetCounters {
    std::uint64_t snmp_requests = 0;
    std::uint64_t snmp_answers = 0;
    std::uint64_t http_requests = 0;
    std::uint64_t https_requests = 0;
};

class FleetServer {
  public:
    static base::Result<std::unique_ptr<FleetServer>> start(const FleetOptions& options);
    ~FleetServer();
    FleetServer(const FleetServer&) = delete;
    FleetServer& operator=(const FleetServer&) = delete;

    void stop();  // closes everything; also done by the destructor

    const FleetOptions& options() const { return options_; }
    const FleetPorts& ports() const { return ports_; }
    const Fleet& fleet() const { return *fleet_; }
    const std::string& certificate() const { return certificate_; }  // PEM of the HTTPS devices
    FleetCounters counters() const;
    // How each HTTP device was asked since the last call, by its number.
    std::vector<DeviceLoad> take_http_loads();
    std::array<std::uint32_t, kFaultKinds> count_faults();

    base::Status set_fault(const std::string& name, FaultKind kind,
                           base::Duration lasts = base::Duration::max(), std::uint32_t amount = 0);
    base::Status clear_faults(const std::string& name);
    void clear_all_faults();
    base::Status set_profile(const std::string& name);

  private:
    struct Servers;

    explicit FleetServer(const FleetOptions& options);
    base::Status open();
    // Runs `work` in the fleet's thread and waits for it; here, if there is no such thread.
    void run(std::function<void()> work);
    std::string status_json();

    FleetOptions options_;
    FleetPorts ports_;
    std::string certificate_;
    std::unique_ptr<Fleet> fleet_;
    std::unique_ptr<Servers> servers_;
    std::thread thread_;
};

// As many descriptors as the system lets us have: every connection of an HTTP device is one.
void raise_descriptor_limit();

}  // namespace pollux::lab
