// What the scheduler must do, written as plainly as possible: one vector of tasks, everything is
// scanned at every step. Slow, without wheels, queues or counters, and without a line of the core,
// so that a mistake in one of them does not hide in the other.
//
// It follows the core instead of predicting every nanosecond: what the core draws from a hash
// (jitter, phases, spreads) is taken over after a check that it lies in the range promised, and of
// several tasks that may go next any one is accepted.
//
// Times are nanoseconds of boot time. Every call reports what it disagrees with as a text.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/run.hpp"
#include "model/settings.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"

namespace pollux::tests {

inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

enum class RefPlace : std::uint8_t { kDisabled, kScheduled, kHeld, kReady, kRunning, kEnded };
enum class RefHealth : std::uint8_t { kUnknown, kGood, kBad };

// So many tokens a second on average, at most `burst` at once. Counted as time saved up: a token
// costs 1/rate seconds, and at most burst/rate seconds are kept.
class RefBucket {
  public:
    RefBucket() = default;  // no limit
    RefBucket(double rate, double burst);
    bool open(std::int64_t now) const;
    std::int64_t opens_at(std::int64_t now) const;
    void take(std::int64_t now);

  private:
    std::int64_t saved(std::int64_t now) const;

    std::int64_t cost_ = 0;  // 0: no limit
    std::int64_t most_ = 0;
    std::int64_t saved_ = 0;
    std::int64_t at_ = kNoTime;
};

struct RefTask {
    model::TaskSpec spec;
    RefPlace place = RefPlace::kDisabled;
    bool enabled = true;
    std::int64_t next_due = kNoTime;
    std::int64_t ready_since = kNoTime;
    std::int64_t last_answer = kNoTime;
    model::Tier run_tier = model::Tier::kNormal;
    model::JobState job = model::JobState::kNotAJob;
    RefHealth health = RefHealth::kUnknown;  // as seen by those who need it
    std::set<std::size_t> done_groups;       // met for ever: a completed job that was removed
    bool slowed = false;                     // all parents of a slow group are down
    bool poke_pending = false;
    std::uint32_t failures = 0;
    std::uint32_t permanent = 0;
    std::uint32_t interruptions = 0;
    // While it runs: what it took, whatever is edited meanwhile.
    model::RunId run;
    std::int64_t planned = 0;
    std::int64_t lease_ends = kForever;
    std::string held_device;
    std::string held_region;
    std::vector<model::ResourceDemand> held;
    // The core draws next_due; it must lie here.
    bool drawn = false;
    std::int64_t earliest = 0;
    std::int64_t latest = 0;
    bool may_stay = false;  // or it keeps the due time it had

    bool once() const { return spec.cadence.kind == model::CadenceKind::kOnce; }
};

struct RefCounts {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t expired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t stale = 0;
    std::uint64_t rejected = 0;
};

class ReferenceScheduler {
  public:
    ReferenceScheduler(std::int64_t now, model::CoreSettings settings);

    // Events.
    void upsert(std::int64_t now, const std::vector<model::TaskSpec>& specs);
    void remove(std::int64_t now, const std::string& key);
    void finish(std::int64_t now, const std::string& key, model::RunId run, model::Outcome outcome);
    void expire(std::int64_t now, const std::string& key, model::RunId run);
    void poke(std::int64_t now, const std::string& key);
    void trigger(std::int64_t now, const std::string& key);
    void enable(std::int64_t now, const std::string& key, bool on);
    void cancel(std::int64_t now, const std::string& key);
    void parent(std::int64_t now, const std::string& device, bool healthy);
    void credit(const std::string& region, std::int64_t credit);

    // The due times the core has drawn; then what came due and which leases ended.
    void adopt(const std::string& key, std::int64_t core_due);
    std::vector<std::string> undrawn() const;
    void pass(std::int64_t now);

    // The core started this one next: may it? Then the same here.
    void start(std::int64_t now, const std::string& key, model::RunId run, std::int64_t due);
    // Tasks whose place in the order is not looked at in this step.
    void excuse(std::set<std::string> keys) { excused_ = std::move(keys); }
    // Who could be started now; empty when the turn is over.
    std::vector<std::string> startable(std::int64_t now) const;
    // The first time at which something is to be done without any event; kForever: never.
    std::int64_t next_time(std::int64_t now) const;

    const RefTask* find(const std::string& key) const;
    const std::vector<RefTask>& tasks() const { return tasks_; }
    const RefCounts& counts() const { return counts_; }
    bool needs(const RefTask& child, const std::string& key) const;
    std::size_t running() const;
    const std::vector<std::string>& disagreements() const { return disagreements_; }

  private:
    struct Turn {  // of two classes that both had something to start since then
        std::uint64_t first = 0;
        std::uint64_t second = 0;
    };

    void disagree(std::string text) { disagreements_.push_back(std::move(text)); }
    RefTask* get(const std::string& key);
    void add(std::int64_t now, const model::TaskSpec& spec, bool in_bulk);
    void edit(std::int64_t now, RefTask& task, const model::TaskSpec& spec);
    void raise_parents(const RefTask& task);
    void come_due(std::int64_t now, RefTask& task);
    void schedule(RefTask& task, std::int64_t due);
    void draw(RefTask& task, double earliest_s, double latest_s, std::int64_t now);
    void end_run(RefTask& task);
    void after_run(std::int64_t now, RefTask& task, model::Outcome outcome);
    void after_failure(std::int64_t now, RefTask& task, model::Outcome outcome);
    void after_job(std::int64_t now, RefTask& task, model::Outcome outcome);
    void end_job(std::int64_t now, RefTask& task, model::JobState state);
    void due_now(std::int64_t now, RefTask& task, bool spaced);
    void look_at_needs(std::int64_t now);
    bool needs_met(const RefTask& task) const;
    bool is_slowed(const RefTask& task) const;
    bool is_hopeless(const RefTask& task) const;
    RefHealth health_of(const model::Parent& parent) const;

    model::Tier effective_tier(const RefTask& task, std::int64_t now) const;
    std::int64_t rank(const RefTask& task) const;
    const model::ClassSettings& class_of(const RefTask& task) const;
    bool has_room(const RefTask& task) const;
    std::int64_t rates_open_at(const RefTask& task, std::int64_t now) const;
    bool can_start(const RefTask& task, std::int64_t now) const;
    bool stands_behind(const RefTask& task, std::int64_t now) const;
    std::string describe(const RefTask& task, std::int64_t now) const;
    void count_turn(std::int64_t now, const RefTask& chosen);

    model::CoreSettings settings_;
    std::vector<RefTask> tasks_;
    std::map<std::string, RefHealth> devices_;
    std::map<std::string, std::int64_t> credits_;
    RefBucket global_rate_;
    RefBucket single_adds_;
    std::map<std::string, RefBucket> class_rates_;
    std::map<std::string, RefBucket> device_rates_;
    std::map<std::pair<std::string, std::string>, Turn> turns_;
    std::optional<model::Tier> turn_tier_;
    std::set<std::string> excused_;
    RefCounts counts_;
    std::vector<std::string> disagreements_;
};

}  // namespace pollux::tests
