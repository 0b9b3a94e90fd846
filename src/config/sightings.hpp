// From what devices say of their neighbours to edges between devices of the fleet: who is meant,
// and what is not certain. Used by topology.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/topology.hpp"

namespace pollux::config {

// Of each device its neighbours, and how they are known. Both ways.
using NeighbourMap =
    std::map<std::string, std::map<std::string, std::set<Sighting>, std::less<>>, std::less<>>;

struct Sightings {
    NeighbourMap neighbours;
    std::vector<TopologyEdge> edges;
    std::set<UnknownNeighbour> unknown;
    std::set<AmbiguousSighting> ambiguous;
};

Sightings read_sightings(const TopologyInput& input, const std::vector<std::string>& roots);

}  // namespace pollux::config
