// A topology as a job leaves it behind and as somebody accepts it: written as a bounded text, read
// again, compared with what is configured at that moment, made into edits. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fleet_edit.hpp"
#include "config/topology.hpp"
#include "document/node.hpp"
#include "model/object.hpp"

namespace pollux::config {

struct TopologyAsked {
    std::size_t asked = 0;     // devices that are polled by SNMP
    std::size_t answered = 0;  // of these
};

// A map for people and for read_changes(), at most `room` bytes as YAML. What does not fit is
// counted as `left_out`, the farthest from a root first: the next run proposes it, once this is
// accepted. Notes are bounded and counted too.
document::Node topology_node(const Topology& topology, const TopologyAsked& asked,
                             std::size_t room);

// What is proposed for one device, beside what it has now.
struct ParentsChange {
    std::string device;
    std::vector<std::string> parents;  // any one is enough; empty: none
    std::vector<std::string> by;       // "lldp", ...
    Standing standing = Standing::kNew;
    std::vector<std::vector<std::string>> current;
    std::optional<model::Origin> origin;  // of the device; nothing: it is gone since
    std::string text;                     // what its entry in a fleet file would say
};
std::string_view to_string(Standing standing);  // "new", "changed", "same", "by_hand", "circle"

// Of a written topology of a job; empty if it is none.
std::vector<ParentsChange> read_changes(const document::Node& topology, const std::string& job_id,
                                        std::span<const model::ConfigObject> current);

struct ParentsChoice {
    std::vector<std::string> devices;  // empty: all that are new or changed and may be edited
    bool adopt = false;                // take over devices that files or discovery own
};

// Codes of errors: topology.unknown (nothing is proposed for it, or it is gone), topology.by_hand
// (somebody wrote its parents), object.owned (see `adopt`). What is the same already is left out.
base::Result<std::vector<WantedObject>> plan_parents(std::span<const ParentsChange> changes,
                                                     const std::string& job_id,
                                                     std::span<const model::ConfigObject> current,
                                                     const ParentsChoice& choice);

}  // namespace pollux::config
