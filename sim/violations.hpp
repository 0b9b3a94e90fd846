// What must never happen, and how often it did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace pollux::sim {

enum class Rule : std::uint8_t {
    kTwoRuns,           // never two runs of one task at once
    kBeforeDue,         // nothing starts before it is due
    kTooSoon,           // nor sooner than its interval or its failures allow, unless asked for
    kDeadline,          // a run has time to answer
    kEpoch,             // runs carry the epoch of their process
    kDisabled,          // nothing starts while disabled
    kNeeds,             // nor before its needs are met
    kBreaker,           // an open breaker lets probes through, one at a time; labels follow answers
    kGlobalRate,        // starts per second: in all ...
    kClassRate,         // ... of a class
    kDeviceRate,        // ... on a device
    kGlobalSlots,       // runs at once: in all ...
    kClassSlots,        // ... of a class
    kDeviceSlots,       // ... on a device
    kDeviceClassSlots,  // ... of a class on a device
    kResources,         // named resources
    kBooks,             // what the core thinks is taken is what its runs hold: never negative
    kRunCounts,         // every start has exactly one end
    kStaleResult,       // nothing is accepted from an old epoch or an ended lease
    kData,              // no data never means fresh: a success is one that was reported
    kSweep,             // the sweep repairs nothing
    kFaulted,           // no decision about a task fails
    kNoWake,            // the core is always woken again
    kPlan,              // the plan is ordered and complete
    kPlace,             // every task is in one place, and something wakes it from there
    kAge,               // healthy tasks are not older than their bound while capacity suffices
    kUncommitted,       // nothing is seen before it is committed
    kOutOfOrder,        // changes are seen in order, once
    kProvisional,       // provisional changes only while commits fail
    kNotShown,          // what was committed is shown at once
    kChain,             // a change starts from what was shown last
    kNotDurable,        // what was committed is still so after a restart
    kNotCalm,           // after the faults stop, everything becomes fresh
    kCount,
};

class Violations {
  public:
    void add(base::BootTime now, Rule rule, const std::string& what);

    std::uint64_t total() const { return total_; }
    std::uint64_t of(Rule rule) const { return of_[static_cast<std::size_t>(rule)]; }
    // The first few, each with its time and task.
    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::uint64_t total_ = 0;
    std::array<std::uint64_t, static_cast<std::size_t>(Rule::kCount)> of_{};
    std::vector<std::string> texts_;
};

}  // namespace pollux::sim
