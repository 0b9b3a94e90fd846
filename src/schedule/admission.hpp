// The last gate: rates and slots, tested together and taken together, so that a refusal at one
// level never eats what another level granted.
//
// A task that has aged to the highest tier and wants more than one unit of something scarce
// reserves it: nobody else may take from that pool until the task has started, so a large demand
// cannot starve behind a stream of small ones. (Units go to whoever waited longest by themselves.)
// No two tasks can wait for each other: a task keeps a reservation only while it waits for the same
// or a later pool in the order regions, resources, global slots, and none while it waits for its
// class or its device. Global slots are reserved for a whole class, whose line decides who goes
// first; class slots need no reservation, because the line of the class stops at its head.
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
#include "schedule/wait_line.hpp"

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
    // True: there may be room that was not there before.
    bool set_credit(std::uint16_t region, std::int64_t credit);

    Verdict test(std::uint32_t task, base::BootTime now) const;
    // Every limit that is closed now, for `explain`.
    std::vector<Verdict> test_all(std::uint32_t task, base::BootTime now) const;
    void take(std::uint32_t task, base::BootTime now, Lease& lease);
    void give_back(const Lease& lease);

    // The parts of test() that a line needs to know: would this thing alone let the task pass?
    Verdict test_device(std::uint32_t task, base::BootTime now) const;
    bool region_fits(std::uint32_t task) const;
    bool resource_fits(std::uint32_t resource, std::uint32_t task) const;

    // Who has reserved the pool that refused, or kNoIndex; and whether this task could.
    std::uint32_t reserved_by(const Verdict& refusal) const;
    bool may_reserve(std::uint32_t task, const Verdict& refusal) const;

    // Brings the reservations of a task in line with what it now waits for; an urgent one may gain
    // one. Both return true when somebody else may find room that was not there before.
    bool update_reservations(std::uint32_t task, const Verdict& verdict, bool urgent);
    bool drop_reservations(std::uint32_t task);

    WaitLine& region_line(std::uint16_t region) { return regions_[region].line; }
    WaitLine& resource_line(std::uint32_t resource) { return resources_[resource].line; }
    const WaitLine& region_line(std::uint16_t region) const { return regions_[region].line; }
    const WaitLine& resource_line(std::uint32_t r) const { return resources_[r].line; }
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
        WaitLine line{};
    };
    struct Resource {
        std::string name;
        Pool pool;
        WaitLine line{};
    };

    template <class Visit>
    void walk(std::uint32_t task, base::BootTime now, Visit&& closed) const;
    template <class Visit>
    bool walk_device(const TaskSlot& slot, base::BootTime now, Visit& closed) const;
    std::uint32_t same_class_run(const TaskSlot& slot) const;
    bool global_fits(const TaskSlot& slot, std::int64_t amount) const;
    template <class Self>
    static auto* pool_of(Self& self, const Verdict& verdict);
    std::int64_t amount_of(std::uint32_t task, const Verdict& verdict) const;
    bool drop_impossible();
    template <class Keep>
    bool release(std::uint32_t task, Keep&& keep);

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
