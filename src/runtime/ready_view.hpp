// What people ask about the moment: the last turns in which something was started, each with what
// was ready and held. The ready set itself is schedule/core_view.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "schedule/core_view.hpp"

namespace pollux::runtime {

struct BatchRecord {
    struct Resource {
        std::string name;
        std::int64_t used = 0;
        std::int64_t capacity = 0;
        bool operator==(const Resource&) const = default;
    };
    base::WallTime at;
    std::size_t ready = 0;  // before: what was started, and what was left
    std::size_t starts = 0;
    std::size_t in_flight = 0;  // afterwards
    std::vector<Resource> resources;
};

// The last batches, newest last. Not thread-safe.
class BatchRing {
  public:
    static constexpr std::size_t kKept = 100;

    void add(const schedule::SchedulerCore& core, std::size_t starts, base::WallTime at) {
        if (starts == 0) return;
        if (batches_.size() == kKept) batches_.pop_front();
        BatchRecord& batch = batches_.emplace_back();
        batch.at = at;
        batch.starts = starts;
        batch.ready = starts + core.ready();
        batch.in_flight = core.in_flight();
        for (const model::ResourceSettings& resource : core.settings().resources) {
            batch.resources.push_back({resource.name, 0, resource.capacity});
        }
        const schedule::Admission& admission = core.admission();
        for (std::uint32_t i = 0; i < admission.resource_count(); ++i) {
            for (auto& resource : batch.resources) {
                if (resource.name == admission.resource_name(i)) {
                    resource.used = admission.resource_pool(i).used;
                }
            }
        }
    }
    const std::deque<BatchRecord>& batches() const { return batches_; }

  private:
    std::deque<BatchRecord> batches_;
};

}  // namespace pollux::runtime
