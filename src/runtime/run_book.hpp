// How the last runs of each polled task went: when, how long, what they took, why they failed.
// Owned by the core loop; not thread-safe. In memory only: a restart begins anew.
//
// Invariants
// 1. Bounded: of a task at most kMostRuns, of all together about kBudget. A fleet that is too large
//    for both keeps fewer of each, down to kLeastRuns.
// 2. Runs of a task stand in the order in which they ended. A task has at most one run under way.
// 3. Words of a failure are kept once for as long as a task fails with the same ones.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/run.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

struct FailureWords {
    std::string code;
    std::string message;
    bool operator==(const FailureWords&) const = default;
};

struct RunRecord {
    base::WallTime started;
    std::uint32_t duration_us = 0;  // at most about an hour, as the phases
    std::uint32_t lag_ms = 0;       // from due to start
    std::uint32_t requests = 0;
    std::uint32_t bytes = 0;
    std::array<std::uint32_t, kRunPhases> phases_us{};
    model::Outcome outcome = model::Outcome::kOk;
    model::Trigger trigger = model::Trigger::kSchedule;
    bool changed = false;                       // the answer means something else than before
    std::shared_ptr<const FailureWords> words;  // null: it did not fail
};

class RunBook {
  public:
    static constexpr std::size_t kMostRuns = 50;
    static constexpr std::size_t kLeastRuns = 4;
    static constexpr std::size_t kBudget = 1'000'000;
    static constexpr std::size_t kLongestWords = 500;

    // What is known of one task.
    class Page {
      public:
        // Newest first.
        std::vector<RunRecord> newest(std::size_t limit) const;
        // The newest is 0; less than size().
        const RunRecord& recent(std::size_t back) const {
            return runs_[(newest_ + runs_.size() - back) % runs_.size()];
        }
        const RunRecord* last() const { return runs_.empty() ? nullptr : &runs_[newest_]; }
        // How the last run ended that says something of the target: one that was cut off does not.
        std::optional<model::Outcome> last_counted() const { return counted_; }
        std::size_t size() const { return runs_.size(); }
        bool dropped() const { return dropped_; }
        // Since when it is up, degraded or down; zero: since before this book began.
        base::WallTime since() const { return since_; }
        const std::shared_ptr<const Headline>& headline() const { return headline_; }

      private:
        friend class RunBook;
        void add(RunRecord record, std::size_t room);

        std::vector<RunRecord> runs_;  // a ring once it is full
        std::size_t newest_ = 0;
        bool dropped_ = false;  // there were older ones
        model::RunId run_;      // under way
        base::WallTime started_;
        base::Duration lag_{};
        base::WallTime since_;
        std::optional<model::Outcome> counted_;
        std::shared_ptr<const Headline> headline_;
    };

    // What a task was before a run ended, as the core has it.
    struct Before {
        bool known = false;  // it answered before, well or not
        bool up = true;
        bool changed = false;  // what this run brought differs from it
    };

    explicit RunBook(base::WallTime now, std::size_t budget = kBudget)
        : began_(now), budget_(budget) {}

    void began(std::uint32_t task, model::RunId run, base::WallTime at, base::Duration lag);
    // Of a run that is not the one under way nothing is kept: its lease was over.
    void ended(const RunReport& report, const Before& before, base::WallTime now);
    void forget(std::uint32_t task);

    const Page* of(std::uint32_t task) const {
        return task < pages_.size() ? pages_[task].get() : nullptr;
    }
    base::WallTime began_at() const { return began_; }
    std::size_t tasks() const { return tasks_; }
    // Runs that are kept of each task, at this size of the fleet.
    std::size_t room() const;

  private:
    base::WallTime began_;
    std::size_t budget_;
    std::size_t tasks_ = 0;
    std::vector<std::unique_ptr<Page>> pages_;  // by index of the task
};

}  // namespace pollux::runtime
