// The conditions of one poll: values become levels, and levels in a row become what is told.
// Used by derive.cpp, for one call; what stays is in the target's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "derive/condition_limits.hpp"
#include "derive/target_memory.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/reading.hpp"

namespace pollux::derive {

// A value that a poll gave to a series.
struct FreshValue {
    double number = 0;
    std::string_view word = {};
    bool changed = false;                // the text or word is another than before
    std::optional<ValueAt> before = {};  // of the poll before
};

class ConditionKeeper {
  public:
    // Adds what it decides to `out`, and what of it matters to `digest`.
    ConditionKeeper(const model::Addon& addon, const model::AlertPolicy& policy, base::Instant now,
                    TargetMemory& memory, model::Observation& out, std::uint64_t& digest);

    void take(const model::MetricDef& metric, std::uint32_t slot, const FreshValue& fresh);
    // The poll has no number for the series; `seen`: it had a value, of which no number could be
    // made yet.
    void miss(const model::MetricDef& metric, std::uint32_t slot, bool seen);
    // The series is about to be forgotten.
    void lose(const model::MetricDef& metric, std::uint32_t slot);

  private:
    struct Place {
        std::uint16_t condition;
        std::uint8_t ordinal;
        std::uint32_t slot;
    };

    ConditionLimits limits_at(const Place& at) const;
    void decide(const Place& at, const FreshValue& fresh);
    void settle(const Place& at, Judgement judgement, double value);
    void leave_open(const Place& at);
    // Whether the condition waits to be seen clear for the first time.
    bool began_wrong(const Place& at, Judgement judgement, double value);
    void disable(const Place& at);
    void look_for_absence(const Place& at, bool seen);
    std::optional<double> rate(const Place& at, const FreshValue& fresh);
    void report(const Place& at, const model::ConditionLevel& level, std::uint64_t meaning);
    void add_alarm(const Place& at, std::uint64_t what, std::uint64_t value);
    unsigned bits_at(const Place& at) const;
    void set_bits(const Place& at, unsigned bits);
    ConditionState* state_at(const Place& at);

    const model::Addon& addon_;
    base::Instant now_;
    TargetMemory& memory_;
    model::Observation& out_;
    std::uint64_t& digest_;
    std::vector<const model::AlertRule*> rules_;  // by condition; empty: the fleet says nothing
};

}  // namespace pollux::derive
