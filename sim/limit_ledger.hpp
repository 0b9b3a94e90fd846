// What the runs in flight hold, counted from outside: slots, named resources and rates against the
// settings. Work per run does not grow with the fleet.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "schedule/admission.hpp"
#include "sim/violations.hpp"

namespace pollux::sim {

struct Holding {
    std::uint32_t device = 0;  // model::kNoIndex: none
    std::uint16_t class_index = 0;
    std::int64_t slots = 1;
    std::vector<model::ResourceDemand> demand;
};

class LimitLedger {
  public:
    explicit LimitLedger(Violations& violations) : violations_(violations) {}

    void configure(const model::CoreSettings& settings) { settings_ = settings; }
    // A process starts: nothing is in flight, the rates start anew.
    void reset(base::BootTime now);

    // A run starts; its key is for the text.
    void take(base::BootTime now, const std::string& key, const Holding& holding);
    void give_back(const Holding& holding);

    // The core's own books must agree.
    void compare(base::BootTime now, const schedule::Admission& admission);

    bool device_busy(std::uint32_t device) const;
    bool device_busy(std::uint32_t device, std::uint16_t class_index) const;
    std::int64_t used(const std::string& resource) const;
    const model::CoreSettings& settings() const { return settings_; }

  private:
    struct Bucket {
        double tokens = -1;  // < 0: not used yet
        base::BootTime at;
    };
    void check_rates(base::BootTime now, const std::string& key, const Holding& holding);
    void check_slots(base::BootTime now, const std::string& key, const Holding& holding);
    void check_device(base::BootTime now, const std::string& key, const Holding& holding);

    Violations& violations_;
    model::CoreSettings settings_;
    std::int64_t slots_ = 0;
    std::vector<std::int64_t> class_slots_;
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> device_runs_;
    std::map<std::string, std::int64_t> used_;
    Bucket global_;
    std::vector<Bucket> class_rates_;
    std::vector<Bucket> device_rates_;

    static bool spend(Bucket& bucket, double rate, base::BootTime now);
};

}  // namespace pollux::sim
