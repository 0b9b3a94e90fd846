// What was learned about SNMP devices, as it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ask.hpp"
#include "protocol/snmp/device_profile.hpp"
#include "protocol/snmp/endpoint.hpp"

namespace pollux::runtime {

struct ProfileRow {
    protocol::snmp::Endpoint endpoint;
    std::string host;                  // as it is asked for
    std::vector<std::string> devices;  // of the fleet that have this address; may be empty
    model::SnmpFixed fixed;            // by a person
    protocol::snmp::DeviceProfile profile;
};

struct SnmpProfileCounts {
    std::uint64_t known = 0;
    std::uint64_t liars = 0;
    std::uint64_t steps_back = 0;
    std::uint64_t relearned = 0;
    std::uint64_t narrow_checks = 0;

    SnmpProfileCounts& operator+=(const SnmpProfileCounts& other) {
        known += other.known;
        liars += other.liars;
        steps_back += other.steps_back;
        relearned += other.relearned;
        narrow_checks += other.narrow_checks;
        return *this;
    }
};

}  // namespace pollux::runtime
