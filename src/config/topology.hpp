// Who stands behind whom, from what devices say of their neighbours: facts in, proposed parents
// out. Nothing is applied here. Pure; the order of the facts never changes the result.
//
// Two devices are neighbours if one of them names the other by LLDP or CDP. A device that takes no
// part in either stands behind the one switch port that holds its hardware address alone: with no
// other switch, no root and no unread neighbour. Direction is distance from the roots: parents are
// the neighbours one step nearer, and any one of them is enough.
//
// What is not certain is reported and not guessed. Parents that people wrote are never replaced,
// and a proposal never makes a device its own ancestor.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fleet.hpp"

namespace pollux::config {

inline constexpr std::size_t kMostProposedParents = 16;  // of one device; more are left out
// Label of a device whose parents came from a discovery: the id of the job. A later discovery may
// change them.
inline constexpr std::string_view kParentsLabel = "parents_discovered_by";

enum class Sighting : std::uint8_t { kLldp, kCdp, kBridge };
std::string_view to_string(Sighting sighting);  // "lldp", "cdp", "arp+bridge"

// One neighbour as a device tells of it. Addresses are in their one canonical form, hardware
// addresses in small letters with colons.
struct Neighbour {
    Sighting by = Sighting::kLldp;
    std::uint32_t port = 0;  // interface of the device that tells; 0: not known
    std::string hardware;    // of its chassis; empty: not told
    std::string name;
    std::vector<std::string> addresses;
};

// What one device of the fleet answered.
struct NeighbourFacts {
    std::string device;
    std::string name;                   // that it gives itself
    std::vector<std::string> hardware;  // of its chassis and its interfaces
    std::vector<Neighbour> neighbours;
    std::vector<std::pair<std::string, std::string>> arp;        // address -> hardware address
    std::vector<std::pair<std::string, std::uint32_t>> learned;  // hardware address -> port
};

struct TopologyInput {
    const ByName<Device>& devices;
    ByName<std::vector<std::string>> addresses;  // of the devices; canonical, names resolved
    std::vector<NeighbourFacts> facts;
    std::vector<std::string> roots;  // devices; the others stand behind them
};

struct TopologyEdge {
    std::string one;  // before `other`
    std::string other;
    std::set<Sighting> by;
    bool one_sided = false;  // both were read, and only one of them names the other
};

enum class Standing : std::uint8_t {
    kNew,      // has no parents yet
    kChanged,  // has others, that came from a discovery
    kSame,     // has them already
    kByHand,   // has others, that somebody wrote: they stay
    kCircle,   // with parents that stay it would be its own ancestor: nothing is proposed
};

// How a device stands to what is proposed for it; `parents` are sorted.
Standing standing_of(const Device& device, const std::vector<std::string>& parents);

struct ProposedParents {
    std::string device;
    std::vector<std::string> parents;  // any one is enough; empty: none, it is a root
    std::set<Sighting> by;
    std::uint32_t distance = 0;  // steps from a root
    Standing standing = Standing::kNew;
};

// A neighbour that is no device of the fleet.
struct UnknownNeighbour {
    std::string name;
    std::string address;
    std::string hardware;
    std::string seen_by;
    Sighting by = Sighting::kLldp;
    auto operator<=>(const UnknownNeighbour&) const = default;
};

// What may be several devices, or a device that may stand behind several.
struct AmbiguousSighting {
    std::string what;
    std::string seen_by;
    std::vector<std::string> devices;
    auto operator<=>(const AmbiguousSighting&) const = default;
};

struct Topology {
    std::vector<std::string> roots;          // sorted
    std::vector<TopologyEdge> edges;         // sorted
    std::vector<ProposedParents> proposals;  // the nearest to a root first, then by name
    std::vector<std::string> unreached;      // sorted
    std::vector<UnknownNeighbour> unknown;   // sorted
    std::vector<AmbiguousSighting> ambiguous;
};

// Roots and facts of devices that are not in the fleet are left out.
Topology find_topology(const TopologyInput& input);

// "a | b, c": for people.
std::string parents_text(const std::vector<std::vector<std::string>>& parents);

}  // namespace pollux::config
