// How a simulated fleet is wired, as its devices tell by SNMP: LLDP, CDP, ARP and forwarding
// tables.
//
// The first switch of every fifty is a core and carries the other ones, its access switches; all
// cores are joined to the first one. HTTP devices hang on the access switches in turn, or on the
// core where there are none. Switches and their core name each other by LLDP, cores each other by
// CDP; HTTP devices speak neither: their core has them in its ARP table, their switch on a port.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "lab/fleet.hpp"
#include "model/oid.hpp"
#include "model/reply.hpp"

namespace pollux::lab {

inline constexpr std::uint32_t kAccessPerCore = 50;  // switches with one core, itself included

// One instance outside of the tables that mib_view computes.
struct WiredRow {
    model::Oid name;
    model::SnmpValue value;
};

class Wiring {
  public:
    explicit Wiring(const Fleet& fleet) : fleet_(fleet) {}

    // In the order of their names; valid until the next call. Only SNMP devices have any.
    std::span<const WiredRow> rows(const Device& device);

  private:
    static constexpr std::size_t kMostKept = 256;  // devices whose rows stay

    const Fleet& fleet_;
    std::map<std::uint32_t, std::vector<WiredRow>> kept_;  // by number
};

}  // namespace pollux::lab
