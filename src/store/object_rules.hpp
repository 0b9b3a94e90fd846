// What every backend says about changes of objects, so that a conflict reads the same everywhere.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "store/store_types.hpp"

namespace pollux::store {

// Refuses what no store could apply, whatever it holds: an object named twice, settings removed,
// an object without id or name.
base::Status check(const ObjectBatch& batch);

// `found` is the stored version, 0: there is none.
base::Error version_conflict(model::ObjectKind kind, const std::string& id,
                             std::uint64_t expected_version, std::uint64_t found);
base::Error name_conflict(model::ObjectKind kind, const std::string& name,
                          const std::string& holder_id);

base::Error job_conflict(const std::string& key);

// Number of the partition a task or object belongs to: a hash of its device, the part of a key
// between `::` and `#`. Written from the first day, so that a fleet can be divided later.
inline constexpr std::uint32_t kPartitions = 4096;
std::uint32_t partition_of_key(std::string_view task_key);
std::uint32_t partition_of(const model::ConfigObject& object);

// The first number of a process: the epoch in its upper half, so that it is above those an earlier
// process gave to changes it showed as provisional and never could write.
std::uint64_t first_change_number(std::uint32_t epoch, std::uint64_t newest_stored);

}  // namespace pollux::store
