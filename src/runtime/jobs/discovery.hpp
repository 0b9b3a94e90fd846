// A sweep over a network: which addresses answer, and to what. What it finds is proposed as a piece
// of a fleet file; nothing is applied.
//
// Bounded in addresses, rate and concurrency; addresses that the egress policy denies are not
// touched. Runs on a thread of its own with drivers of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/ip_address.hpp"
#include "runtime/jobs/job_types.hpp"

namespace pollux::runtime {

inline constexpr std::uint64_t kMostSwept = 65'536;  // addresses of one sweep

// All addresses of a range; of an IPv4 network up to /30 without its own and its broadcast address.
// An error if they are more than kMostSwept.
base::Result<std::vector<net::IpAddress>> addresses_of(const std::string& network);

// What answered at one address.
struct Fingerprint {
    std::string address;
    bool ping = false;
    bool snmp = false;
    std::string snmp_credentials;  // name of those that worked; empty: the community "public"
    std::string description;       // sysDescr
    std::string system_name;       // sysName
    std::string ssh;               // banner; empty: none
    int http = 0;                  // status; 0: none
    int https = 0;
    std::string title;  // of the page

    bool answered() const { return ping || snmp || !ssh.empty() || http != 0 || https != 0; }
};

struct Proposal {
    std::string yaml;          // section `devices` of a fleet file
    std::size_t devices = 0;   // in it
    std::size_t known = 0;     // answered, and are in the fleet already
    std::size_t left_out = 0;  // did not fit
};

Proposal propose(const std::vector<Fingerprint>& found, const config::Fleet& fleet,
                 const std::string& job_id);

void add_discovery_type(JobTypes& types);

}  // namespace pollux::runtime
