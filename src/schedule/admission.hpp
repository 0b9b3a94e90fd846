// The last gate: rates and slots, tested together and taken together, so that a refusal at one
// level never eats what another level granted.
//
// A task that has aged to the highest tier and still lacks something reserves it: nobody else may
// take from that pool until the task has started. So a large demand cannot starve behind a stream
// of small ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "schedule/device_table.hpp"
#include "schedule/lease_table.hpp"
#include "schedule/task_table.hpp"
#include "schedule/wait_queue.hpp"

namespace pollux::schedule {

enum class Blocker : std::uint8_t {
    kNone,
    kGlobalRate,
    kGlobalSlots,
    kClassRate,
    kClassSlots,
    kRegion,
    kDeviceRate,
    kDeviceSlots,
    kDeviceClass,
    kResource,
};

struct Verdict {
    Blocker blocker = Blocker::kNone;
    base::BootTime until = base::BootTime::max();  // max: an event opens it, not time
    std::uint32_t which = 0;                       // lease, resource or region
};

struct Pool {
    std::int64_t capacity = 0;  // < 0: no limit
    std::int64_t used = 0;
    std::uint32_t reserved_by = model::kNoIndex;

    bool fits(std::int64_t amount, std::uint32_t task) const {
        if (reserved_by != model::kNoIndex && reserved_by != task) return false;
        return capacity < 0 || used + amount <= capacity;
    }
    std::int64_t free() const { return capacity < 0 ? INT64_MAX : capacity - used; }
};

struct Demand {
    std::int64_t slots = 1;
    std::vector<std::pair<std::uint16_t, std::int64_t>> resources;
    auto operator<=>(const Demand&) const = default;
};

class Admission {
  public:
    Admission(TaskTable& tasks, DeviceTable& devices, LeaseTable& leases);

    void configure(base::BootTime now, const model::CoreSettings& settings);

    // Demands are stored once each; 0 is "one slot, nothing else". Returns an error text for a
    // resource nobody declared or an amount that can never be had.
    base::Result<std::uint16_t> intern(const model::TaskSpec& spec);
    const Demand& demand(std::uint16_t index) const { return demands_[index]; }

    std::uint16_t region(std::string_view name);
    const std::string& region_name(std::uint16_t index) const { return regions_[index].name; }
    bool set_credit(std::uint16_t region, std::int64_t credit);  // true: there is more than before

    Verdict test(std::uint32_t task, base::BootTime now) const;
    // Every limit that is closed now, for `explain`.
    std::vector<Verdict> test_all(std::uint32_t task, base::BootTime now) const;
    void take(std::uint32_t task, base::BootTime now, Lease& lease);
    void give_back(const Lease& lease);
    void reserve(std::uint32_t task, const Verdict& verdict);
    void drop_reservations(std::uint32_t task);

    WaitQueue& region_queue(std::uint16_t region) { return regions_[region].queue; }
    WaitQueue& resource_queue(std::uint32_t resource) { return resources_[resource].queue; }
    const std::string& resource_name(std::uint32_t index) const { return resources_[index].name; }
    std::size_t resource_count() const { return resources_.size(); }
    std::size_t region_count() const { return regions_.size(); }
    const Pool& resource_pool(std::uint32_t index) const { return resources_[index].pool; }
    const Pool& region_pool(std::uint16_t index) const { return regions_[index].pool; }
    const Pool& global_pool() const { return slots_; }
    const base::TokenBucket& global_rate() const { return rate_; }
    bool global_open(base::BootTime now) const { return rate_.open(now) && slots_.free() > 0; }
    base::BootTime class_rate_opens_at(std::uint16_t class_index) const {
        return classes_[class_index].rate.opens_at();
    }
    void close_class_until(std::uint16_t class_index, base::BootTime until) {
        classes_[class_index].rate.close_until(until);
    }

  private:
    struct ClassLimits {
        base::TokenBucket rate;
        Pool slots;
        double configured_rate = 0;
        bool host_exempt = false;
    };
    struct Region {
        std::string name;
        Pool pool;
        WaitQueue queue;
    };
    struct Resource {
        std::string name;
        Pool pool;
        WaitQueue queue;
    };

    template <class Visit>
    void walk(std::uint32_t task, base::BootTime now, Visit&& closed) const;
    std::uint32_t same_class_run(const TaskSlot& slot) const;
    Pool* pool_of(std::uint32_t task, const Verdict& verdict);

    TaskTable& tasks_;
    DeviceTable& devices_;
    LeaseTable& leases_;
    base::TokenBucket rate_;
    double configured_rate_ = 0;
    Pool slots_;
    std::vector<ClassLimits> classes_;
    std::vector<Region> regions_;
    std::vector<Resource> resources_;
    std::vector<Demand> demands_ = {Demand{}};
    std::map<Demand, std::uint16_t> demand_index_ = {{Demand{}, 0}};
};

}  // namespace pollux::schedule
