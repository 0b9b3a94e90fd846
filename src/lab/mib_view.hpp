// What an SNMP device shows: the system group, ifTable and ifXTable, computed when asked for, and
// between them how it is wired.
//
// The order is that of the names, arc by arc; next() walks it. No state: all functions take the
// device and the time. Rows of the wiring never stand within the tables that are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/device.hpp"
#include "lab/wiring.hpp"
#include "model/oid.hpp"
#include "model/reply.hpp"

namespace pollux::lab {

enum class MibGroup : std::uint8_t { kSystem, kIfNumber, kIfTable, kIfXTable };

// A scalar, or a column of a table.
struct MibNode {
    MibGroup group = MibGroup::kSystem;
    std::uint32_t number = 0;  // of the scalar or column within its group
    bool counter64 = false;    // does not exist for SNMPv1
    std::vector<std::uint32_t> prefix;
    std::vector<std::uint8_t> encoded;  // the prefix in BER, without its header

    bool is_column() const { return group == MibGroup::kIfTable || group == MibGroup::kIfXTable; }
};

struct MibInstance {
    const MibNode* node = nullptr;  // null: of the wiring
    std::uint32_t index = 0;        // of the row; 0 for a scalar
    const WiredRow* wired = nullptr;
};

// In the order of their names.
std::span<const MibNode> mib_nodes();

struct MibOptions {
    bool version1 = false;
    bool endless = false;      // tables have a next row for ever
    Wiring* wiring = nullptr;  // null: it is not shown
};

std::optional<MibInstance> find_instance(const Device& device, const model::Oid& oid,
                                         MibOptions options);
std::optional<MibInstance> next_instance(const Device& device, const model::Oid& oid,
                                         MibOptions options);
// The one after an instance that was found; cheaper than by name.
std::optional<MibInstance> next_instance(const Device& device, MibInstance instance,
                                         MibOptions options);

// Overwrites `value`, whose storage is reused.
void read_instance(const Device& device, MibInstance instance, FleetTime now,
                   model::SnmpValue& value);

}  // namespace pollux::lab
