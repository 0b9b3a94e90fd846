// What a device tells of its neighbours by SNMP: which tables are asked for, and what they mean.
// LLDP-MIB, CISCO-CDP-MIB, ARP of IP-MIB, the forwarding tables of BRIDGE-MIB and Q-BRIDGE-MIB.
#pragma once

#include "config/topology.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"

namespace pollux::runtime {

// Asked one after another: a table that is too large or not let through does not spoil the others.
enum class NeighbourTable : std::uint8_t { kSpoken, kArp, kBridge };
inline constexpr std::size_t kNeighbourTables = 3;
inline constexpr std::uint32_t kMostNeighbourRows = 20'000;  // of one column

std::string_view to_string(NeighbourTable table);  // for people

// `gets` and `walks` of the ask, whatever else it says.
void set_neighbour_request(NeighbourTable table, model::SnmpAsk& ask);

// Adds what the answer to such an ask says. Rows that make no sense are passed over.
void read_neighbour_reply(NeighbourTable table, const model::SnmpReply& reply,
                          config::NeighbourFacts& facts);

}  // namespace pollux::runtime
