// What people see and what survives, counted from outside: changes are shown once, in order, after
// their commit; and what was committed is still so after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/engine.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"
#include "sim/violations.hpp"

namespace pollux::sim {

class CommitLedger {
  public:
    explicit CommitLedger(Violations& violations) : violations_(violations) {}

    // Without restarts nobody asks for rows again, and they need not be kept.
    void keep_rows(bool on) { keeps_rows_ = on; }

    // What was not committed is gone.
    void new_process();
    // An edit: durable at once, before the row that follows from it.
    void configured(const model::TaskSpec& spec);
    // An operator acted on the task: what its last edit said may be overruled.
    void operated(const std::string& key) { edits_.erase(key); }

    void batch_sent(const engine::WriteBatch& batch);
    void batch_committed(base::BootTime now, std::uint64_t sequence);
    void batch_failed(base::BootTime now);
    // What the engine lets people see in one step.
    void shown(base::BootTime now, const std::vector<engine::TaskChange>& visible);

    // After the first step of a restarted process. `touched`: somebody acted on the task in it.
    void check_restored(base::BootTime now, const schedule::SchedulerCore& core,
                        const std::set<std::string>& touched);
    bool committed_as_completed(const std::string& key) const;

  private:
    // Of a durable row: what people were told, and what the next decision rests on.
    struct Row {
        std::uint32_t consecutive = 0;
        std::uint32_t dead_letter_entries = 0;
        model::BreakerState breaker = model::BreakerState::kClosed;
        model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
        model::JobState job = model::JobState::kNotAJob;
        bool enabled = true;
        bool was_up = true;
        std::uint64_t digest = 0;
        bool operator==(const Row&) const = default;
    };
    struct Sent {
        std::vector<engine::TaskChange> changes;
        std::vector<std::pair<std::string, Row>> rows;
    };
    using Labels = std::map<schedule::ChangeKind, std::uint8_t>;

    static Row row_of(const model::TaskRecord& record);
    void check_visible(base::BootTime now, const engine::TaskChange& change);
    void note_label(base::BootTime now, const engine::TaskChange& change);
    void check_labels(base::BootTime now, const std::string& key, const Labels& labels,
                      const Row& found);
    void check_row(base::BootTime now, const std::string& key, Row row, const Row& found);

    Violations& violations_;
    bool keeps_rows_ = true;
    std::map<std::uint64_t, Sent> sent_;  // by sequence
    std::set<std::uint64_t> committed_;   // numbers of changes that may be seen now
    std::set<std::uint64_t> provisional_;
    std::uint64_t last_visible_ = 0;
    std::optional<base::BootTime> failing_since_;
    std::map<std::string, Row> rows_;       // as last committed
    std::map<std::string, Labels> labels_;  // by the changes that were committed
    struct Edit {
        bool enabled = true;
        std::uint64_t sequence = 0;  // of the last batch sent before: it knows nothing of the edit
    };
    std::map<std::string, Edit> edits_;  // whose row is not committed yet
    std::uint64_t last_sent_ = 0;
};

}  // namespace pollux::sim
