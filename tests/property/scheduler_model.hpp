// Runs the core and the reference side by side on a list of commands, and compares them after every
// step. Commands are a few small numbers that are read against the state they meet, so any list is
// valid and a failing one shrinks well.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "schedule/scheduler_core.hpp"
#include "tests/property/reference_scheduler.hpp"

namespace pollux::tests {

struct ModelCommand {
    std::uint8_t what = 0;
    std::uint8_t who = 0;
    std::uint8_t how = 0;
    std::uint8_t more = 0;
    std::uint16_t wait_ms = 0;
};

std::ostream& operator<<(std::ostream& out, const ModelCommand& command);

struct ModelOptions {
    model::CoreSettings settings;
    std::size_t names = 20;  // different tasks
    std::uint8_t tiers = 3;  // low, normal, high; 4: also critical
    bool devices = false;
    bool regions = false;
    bool resources = false;
    bool triggers = false;  // an operator asks for runs: critical for that run
    bool needs = true;
};

class SchedulerModel {
  public:
    explicit SchedulerModel(const ModelOptions& options);

    // Applies one command and compares. The first disagreement ends the story.
    void apply(const ModelCommand& command);
    bool agrees() const { return trouble_.empty(); }
    const std::string& trouble() const { return trouble_; }
    std::uint64_t starts() const { return core_.stats().started; }

  private:
    struct Run {
        std::string key;
        model::TaskHandle task;
        model::RunId run;
    };

    void act(const ModelCommand& command);
    void upsert(const ModelCommand& command);
    void upsert_many(const ModelCommand& command);
    void finish(const Run& run, model::Outcome outcome);
    void finish_some(const ModelCommand& command);
    void expire_some(const ModelCommand& command);
    void report_stale(const ModelCommand& command);
    void operate(const ModelCommand& command);
    void wait(const ModelCommand& command);

    model::TaskSpec spec_for(std::size_t index, const ModelCommand& command) const;
    void add_needs(model::TaskSpec& spec, std::size_t index, const ModelCommand& command) const;
    std::string key_of(std::size_t index) const;
    bool is_job(std::size_t index) const { return index % 4 == 3; }

    void adopt_drawn_times();
    void step();
    void settle();
    std::set<std::string> parked_tasks() const;
    void compare();
    void compare_task(const RefTask& task);
    void check_explanation(const RefTask& task);
    void compare_counts();
    void compare_plan();
    void compare_snapshot();
    void complain(const std::string& text);

    ModelOptions options_;
    base::Instant now_;
    schedule::SchedulerCore core_;
    ReferenceScheduler reference_;
    schedule::Commands commands_;
    std::vector<schedule::Event> events_;
    std::map<std::string, Run> open_;
    std::vector<Run> old_;
    std::string trouble_;
};

}  // namespace pollux::tests
