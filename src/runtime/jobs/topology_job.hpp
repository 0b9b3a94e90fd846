// A job that asks the devices of the fleet who their neighbours are, and proposes for each what it
// stands behind. Nothing is applied.
//
// Only devices that are polled by SNMP are asked, as they are polled: same address, port, version
// and credentials, within the egress policy. Bounded in rate, concurrency, rows and output. Runs on
// a thread of its own with drivers of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/topology.hpp"
#include "net/ip_address.hpp"
#include "runtime/fleet_image.hpp"
#include "runtime/jobs/job_types.hpp"

namespace pollux::runtime {

inline constexpr std::string_view kTopologyJob = "topology";

// The devices that others stand behind: those that are named, else the one that is the gateway of
// this machine. An error says how to name it.
base::Result<std::vector<std::string>> topology_roots(
    const std::vector<std::string>& named, const config::Fleet& fleet,
    const config::ByName<std::vector<std::string>>& addresses,
    const std::vector<net::IpAddress>& gateways);

// The fleet as it is polled when a job begins; called from the thread of the job.
using CurrentImage = std::function<std::shared_ptr<const FleetImage>()>;
void add_topology_type(JobTypes& types, CurrentImage image);

}  // namespace pollux::runtime
