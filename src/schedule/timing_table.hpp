// Intervals and limits of tasks, each combination stored once: a fleet of a million has a handful.
// The staleness bound in force depends on settings, so changing it touches the combinations, not
// the tasks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"

namespace pollux::schedule {

struct Timing {
    std::uint32_t min_ms = 0;
    std::uint32_t base_ms = 0;
    std::uint32_t max_ms = 0;
    std::uint32_t timeout_ms = 0;
    std::uint32_t own_bound_ms = 0;  // 0: that of the class, or the settings
    std::uint16_t class_index = 0;
    auto operator<=>(const Timing&) const = default;
};

class TimingTable {
  public:
    std::uint32_t acquire(const Timing& timing);
    void release(std::uint32_t index);

    const Timing& operator[](std::uint32_t index) const { return entries_[index].timing; }
    std::uint32_t bound_ms(std::uint32_t index) const { return entries_[index].bound_ms; }

    // Where nobody set a bound: the default, or twice the base where that is longer than half of
    // it.
    void set_bounds(std::uint32_t default_ms, const std::vector<std::uint32_t>& class_bounds_ms);

  private:
    struct Entry {
        Timing timing;
        std::uint32_t bound_ms = 0;
        std::uint32_t users = 0;
    };
    void apply_bound(Entry& entry) const;

    std::vector<Entry> entries_;
    std::map<Timing, std::uint32_t> index_;
    std::vector<std::uint32_t> free_;
    std::uint32_t default_ms_ = 60'000;
    std::vector<std::uint32_t> class_bounds_ms_;
};

}  // namespace pollux::schedule
