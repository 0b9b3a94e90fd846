// Whether a task is enabled after a start. For the core, and for who needs to know before it does.
#pragma once

#include <cstdint>

#include "model/task_record.hpp"
#include "model/task_spec.hpp"

namespace pollux::schedule {

// What an operator switched holds until somebody edits the task: then the edit is what counts.
inline bool is_enabled(const model::TaskSpec& spec, const model::TaskRecord& record) {
    const bool edited =
        record.key.empty() || record.spec_version != static_cast<std::uint32_t>(spec.version);
    return edited ? spec.enabled : record.enabled;
}

}  // namespace pollux::schedule
