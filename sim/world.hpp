// The simulated world: a virtual clock, devices that change and fail, a store that loses what it
// did not commit, workers that die. The engine inside is the production one; it cannot tell.
// One seed decides everything: the same options give the same log hash on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "engine/engine.hpp"
#include "sim/belief_oracle.hpp"
#include "sim/change_process.hpp"
#include "sim/delay_stats.hpp"
#include "sim/invariants.hpp"
#include "sim/rng.hpp"
#include "sim/sim_store.hpp"
#include "sim/world_options.hpp"

namespace pollux::sim {

inline constexpr double kNeverHappens = 1e300;  // s

inline std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

struct WorldReport {
    SimMetrics metrics;
    double base_s = 0;
    double bound_s = 0;
    std::uint64_t violations = 0;
    std::vector<std::string> violation_texts;
    std::uint64_t log_hash = 0;
    std::uint64_t restarts = 0;
    std::uint64_t starts = 0;
    double largest_10s_ratio = 0;  // most starts in 10 s after a restart, against the steady rate
    double latest_start_lag_s = 0;
    double flapper_polls_per_s = 0;  // and target: those that change state every few minutes ...
    double quiet_polls_per_s = 0;    // ... against those that stay up for hours; 0: there are none
    bool budget_infeasible = false;
};

struct Progress {
    double simulated_s = 0;
    double total_s = 0;
    std::uint64_t polls = 0;
    const engine::Engine* engine = nullptr;
};

// What goes into the core, for recording.
class InputSink {
  public:
    virtual ~InputSink() = default;
    virtual void process_started(base::Instant now, std::uint32_t epoch,
                                 const model::CoreSettings& settings) = 0;
    virtual void stepped(base::Instant now, std::span<const schedule::Event> events,
                         const schedule::Commands& commands) = 0;
};

class World {
  public:
    explicit World(const WorldOptions& options);
    ~World();

    // Runs to the end, or until `keep_going` says no (asked about twice a simulated minute).
    WorldReport run(const std::function<bool(const Progress&)>& keep_going = {});

    void record_to(InputSink* sink) { sink_ = sink; }

    // For a live display: advances to the given simulated time.
    void advance_to(double simulated_s);
    WorldReport report() const;
    const engine::Engine& engine() const { return *engine_; }
    const Violations& violations() const { return invariants_.violations(); }
    double now_s() const { return static_cast<double>(now_.boot.ns) * 1e-9; }
    double end_s() const { return end_s_; }
    std::uint64_t polls() const { return polls_; }
    const std::vector<engine::TaskChange>& newest_changes() const { return newest_; }

  private:
    struct Flight {
        std::int64_t at_ns;
        std::uint64_t order;
        model::TaskHandle task;
        model::RunId run;
        std::uint32_t target;   // kNoTarget: a job
        std::uint32_t process;  // which process started it: results of a dead one come too late
        bool duplicate;
        bool operator>(const Flight& other) const {
            return at_ns != other.at_ns ? at_ns > other.at_ns : order > other.order;
        }
    };
    static constexpr std::uint32_t kNoTarget = 0xFFFFFFFF;

    void boot();
    void crash();
    model::CoreSettings make_settings() const;
    model::TaskSpec make_spec(std::size_t target) const;
    void step();
    void take_results();
    void launch(const schedule::StartRun& start);
    schedule::RunFinished poll(const Flight& flight);
    void world_events();
    void schedule_next(std::size_t kind, double mean_s);
    void happen(std::size_t kind);
    void submit_jobs();
    void operator_acts();
    void edit_some_task();
    void parent_outage();
    void report_parent(std::uint32_t group, bool healthy);
    bool is_broken(const std::string& key) const;
    double polls_per_target_s(double shortest_up_s, double longest_up_s) const;
    void note_start(const schedule::StartRun& start);
    void hash_step();
    std::uint32_t target_of(const std::string& key) const;
    bool faults_on() const;
    bool chance(double share);

    WorldOptions options_;
    model::CoreSettings settings_;
    std::vector<ChangeProcess> fleet_;
    std::unique_ptr<BeliefOracle> oracle_;
    std::unique_ptr<PollObserver> observer_;
    std::unique_ptr<engine::Engine> engine_;
    Invariants invariants_;
    SimStore store_;
    Rng faults_;
    InputSink* sink_ = nullptr;

    base::Instant now_;
    base::Duration wall_offset_{};
    double end_s_ = 0;
    double base_s_ = 0;
    std::uint32_t epoch_ = 0;
    std::uint64_t next_change_ = 1;
    std::uint64_t order_ = 0;
    std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
    std::vector<schedule::Event> events_;
    std::vector<engine::StoreAnswer> answers_;
    engine::Output out_;
    base::BootTime wake_at_;
    std::optional<double> down_until_s_;  // the process is dead until then
    std::vector<double> next_happening_s_;
    std::map<std::string, model::TaskSpec> jobs_;
    std::uint64_t job_number_ = 0;
    std::uint64_t spec_version_ = 0;
    std::vector<std::uint32_t> parent_down_;  // group -> outages under way
    std::vector<double> parent_up_since_s_;   // by group
    std::vector<std::uint8_t> bad_credentials_;
    std::vector<std::pair<double, std::uint32_t>> outage_ends_;
    std::vector<std::uint32_t> target_by_index_;
    std::vector<std::uint32_t> polls_of_;  // after the warm-up
    std::deque<std::int64_t> recent_starts_;
    double watch_starts_until_s_ = 0;
    std::uint64_t polls_ = 0;
    std::uint64_t log_hash_ = 0;
    std::uint64_t starts_ = 0;
    std::uint64_t restarts_ = 0;
    double largest_ratio_ = 0;
    double largest_lag_s_ = 0;
    std::vector<engine::TaskChange> newest_;
};

}  // namespace pollux::sim
