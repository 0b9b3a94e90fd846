// What `pollux poll` polls: a target of fleet files, of a data folder, or described by options;
// with all that a server would know about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "base/result.hpp"
#include "config/settings.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::app {

struct PollTarget {
    std::string target;  // addon::device, or addon with `host`
    std::vector<std::string> fleet;
    std::string data;
    std::string addons;
    // A device that is in no fleet. Secrets are references: ${VARIABLE}, file:/path, vault:name.
    std::string host;
    std::uint16_t port = 0;
    std::vector<std::string> params;  // name=value
    std::string community;
    std::string username;
    std::string password;
    std::string ssh_key;  // path
    bool ssh_agent = false;
    bool no_verify = false;
    std::string snmp_version;  // "1", "2c", "3"; empty: by the credentials
    std::string snmp_auth;     // config::kSnmpAuthNames
    std::string snmp_auth_password;
    std::string snmp_privacy;  // config::kSnmpPrivacyNames
    std::string snmp_privacy_password;
    std::string snmp_context;
};

struct FoundTarget {
    std::shared_ptr<const runtime::PollPlan> plan;
    config::Settings settings;
    std::vector<std::string> learned;  // see runtime::Drivers::recall()
    std::string learned_from;          // for people
};

base::Result<FoundTarget> find_target(const PollTarget& wanted, const FleetPorts& ports);

}  // namespace pollux::app
