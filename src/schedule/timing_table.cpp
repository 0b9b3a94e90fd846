#include "schedule/timing_table.hpp"

#include <algorithm>

namespace pollux::schedule {
namespace {

constexpr std::uint32_t kLongestMs = 0xFFFFFFFE;

}  // namespace

std::uint32_t TimingTable::acquire(const Timing& timing) {
    const auto found = index_.find(timing);
    if (found != index_.end()) {
        ++entries_[found->second].users;
        return found->second;
    }
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    entries_[index] = Entry{timing, 0, 1};
    apply_bound(entries_[index]);
    index_.emplace(timing, index);
    return index;
}

void TimingTable::release(std::uint32_t index) {
    if (--entries_[index].users > 0) return;
    index_.erase(entries_[index].timing);
    free_.push_back(index);
}

void TimingTable::set_bounds(std::uint32_t default_ms,
                             const std::vector<std::uint32_t>& class_bounds_ms) {
    default_ms_ = default_ms;
    class_bounds_ms_ = class_bounds_ms;
    for (Entry& entry : entries_) apply_bound(entry);
}

void TimingTable::apply_bound(Entry& entry) const {
    const Timing& timing = entry.timing;
    const std::uint32_t of_class =
        timing.class_index < class_bounds_ms_.size() ? class_bounds_ms_[timing.class_index] : 0;
    if (timing.own_bound_ms > 0) {
        entry.bound_ms = timing.own_bound_ms;
    } else if (of_class > 0) {
        entry.bound_ms = of_class;
    } else {
        const bool slow = timing.base_ms > default_ms_ / 2;
        const std::uint32_t twice =
            timing.base_ms > kLongestMs / 2 ? kLongestMs : timing.base_ms * 2;
        entry.bound_ms = slow ? twice : default_ms_;
    }
}

}  // namespace pollux::schedule
