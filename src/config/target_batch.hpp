// Many targets changed at once: a list of operations as people send it, made into edits that are
// taken whole or not at all. Pure.
//
// Each operation sees what those before it did. What is switched or polled (enable, disable, poll)
// is no edit of what is stored: it is checked here and done by whoever called.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/target_edit.hpp"

namespace pollux::config {

inline constexpr std::size_t kMostTargetOperations = 1000;

enum class TargetVerb : std::uint8_t { kCreate, kUpdate, kDelete, kEnable, kDisable, kPoll };

std::string_view to_string(TargetVerb verb);
constexpr bool is_edit(TargetVerb verb) { return verb <= TargetVerb::kDelete; }

struct TargetOperation {
    TargetVerb verb = TargetVerb::kCreate;
    TargetName target;
    document::Node device;                    // kCreate: body of a new device, or null
    document::Node settings;                  // kCreate: may be null; kUpdate
    std::optional<std::uint64_t> if_version;  // kUpdate, kDelete
};

// From a list of maps: `op`, and `key` or `addon` and `device`; `device_spec`, `spec`,
// `if_version`. Fields of the diagnostics begin with `path`.
std::vector<TargetOperation> read_target_operations(const document::Node& list,
                                                    const std::string& path,
                                                    document::Diagnostics& diagnostics);

// What is wanted in the end, one entry per object. An error names the operation by `path` in the
// diagnostics; codes are those of add_target(), remove_target() and plan_edit(), and
// object.unknown for what is to be changed, switched or polled and is not there.
base::Result<std::vector<WantedObject>> plan_targets(std::span<const model::ConfigObject> current,
                                                     std::span<const TargetOperation> operations,
                                                     const std::string& path,
                                                     document::Diagnostics& diagnostics);

// Devices of a fleet file as operations that make them, in the form that is read above: each
// target of a device is one. Addons are listed by their names.
document::Node create_operations(const document::Node& devices);

}  // namespace pollux::config
