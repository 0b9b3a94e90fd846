#include "engine/persistence_pump.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace pollux::engine {
namespace {

constexpr std::size_t kAhead = 8;

}  // namespace

PersistencePump::PersistencePump(std::uint64_t first_number, PumpOptions options)
    : options_(options), next_number_(first_number) {}

void PersistencePump::absorb(base::Instant now, const schedule::SchedulerCore& core,
                             const schedule::Commands& commands) {
    for (const schedule::ForgetTask& forget : commands.forgets) {
        removed_.push_back(forget.key);
        urgent_ = true;
    }
    for (const schedule::PersistTask& persist : commands.persists) {
        const bool urgent = persist.durability == schedule::Durability::kBeforeSeen;
        (urgent ? urgent_rows_ : dirty_).push_back(persist.task);
        urgent_ = urgent_ || urgent;
    }
    const auto key_of = [&](model::TaskHandle task) {
        if (core.is_live(task)) return core.key(task);
        const auto gone = std::ranges::find(commands.forgets, task, &schedule::ForgetTask::task);
        return gone == commands.forgets.end() ? std::string() : gone->key;
    };
    for (const schedule::Change& change : commands.changes) {
        TaskChange shown;
        shown.number = next_number_++;
        shown.key = key_of(change.task);
        shown.change = change;
        shown.at = now.wall;
        changes_.push_back(std::move(shown));
        urgent_ = true;
    }
    if (waiting() + removed_.size() > 0 && gather_until_ == base::BootTime::max()) {
        gather_until_ = now.boot + options_.gather;
    }
}

void PersistencePump::record(base::Instant now, model::AuditEntry entry,
                             std::span<const model::TaskHandle> tasks) {
    audit_.push_back(std::move(entry));
    audited_.insert(audited_.end(), tasks.begin(), tasks.end());
    urgent_ = true;
    if (gather_until_ == base::BootTime::max()) gather_until_ = now.boot + options_.gather;
}

void PersistencePump::note(base::Instant now, model::JobRun run) {
    runs_.push_back(std::move(run));
    gather_until_ = std::min(gather_until_, now.boot + options_.gather);
}

std::shared_ptr<const WriteBatch> PersistencePump::next_batch(base::Instant now,
                                                              schedule::SchedulerCore& core) {
    if (under_way_) return nullptr;
    if (to_retry_) {
        if (now.boot < retry_at_) return nullptr;
        under_way_ = std::exchange(to_retry_, nullptr);
        return under_way_;
    }
    const bool due = urgent_ || now.boot >= gather_until_;
    if (!due) return nullptr;
    auto next = std::make_shared<WriteBatch>();
    WriteBatch& batch = *next;
    batch.sequence = ++sequence_;
    batch.removed = std::move(removed_);  // before the row of a new task with the same key
    removed_.clear();
    // A change and the row it belongs to must be in one transaction, and a row holds all changes of
    // its task: so all changes go with all of their rows, however many. Other rows fill the batch.
    batch.changes = std::exchange(changes_, {});
    batch.audit = std::exchange(audit_, {});
    take_audited(batch, core);
    batch.runs = std::exchange(runs_, {});
    take_rows(batch, core, urgent_rows_, std::numeric_limits<std::size_t>::max());
    take_rows(batch, core, dirty_, options_.rows_per_batch);
    urgent_ = false;
    gather_until_ = dirty_.empty() ? base::BootTime::max() : now.boot;  // the rest follows at once
    under_way_ = std::move(next);
    return under_way_;
}

void PersistencePump::take_rows(WriteBatch& batch, schedule::SchedulerCore& core,
                                std::deque<model::TaskHandle>& tasks, std::size_t limit) {
    for (; !tasks.empty(); tasks.pop_front()) {
        if (tasks.size() > kAhead) core.prefetch(tasks[kAhead]);
        if (!core.is_dirty(tasks.front())) continue;
        if (batch.rows.size() >= limit) return;
        batch.rows.push_back(core.take_record(tasks.front()));
    }
}

// An act may leave a row clean that it changed for the better only (a task that is due now): it is
// written all the same, or a crash would keep the entry and lose the act.
void PersistencePump::take_audited(WriteBatch& batch, schedule::SchedulerCore& core) {
    std::ranges::sort(audited_, {}, [](model::TaskHandle task) {
        return std::pair(task.index, task.generation);
    });
    const auto same = std::ranges::unique(audited_);
    audited_.erase(same.begin(), same.end());
    for (const model::TaskHandle task : audited_) {
        if (core.is_live(task)) batch.rows.push_back(core.take_record(task));
    }
    audited_.clear();
}

std::vector<TaskChange> PersistencePump::committed(std::uint64_t sequence) {
    POLLUX_CHECK(under_way_ && under_way_->sequence == sequence);
    std::vector<TaskChange> visible = under_way_->changes;
    under_way_.reset();
    failing_since_.reset();
    return visible;
}

std::vector<TaskChange> PersistencePump::failed(base::Instant now, std::uint64_t sequence) {
    POLLUX_CHECK(under_way_ && under_way_->sequence == sequence);
    to_retry_ = std::exchange(under_way_, nullptr);
    retry_at_ = now.boot + options_.retry_every;
    if (!failing_since_) failing_since_ = now.boot;
    std::vector<TaskChange> visible;
    if (now.boot - *failing_since_ < options_.provisional_after) return visible;
    const auto let_through = [&](const TaskChange& change) {
        if (change.number < provisional_from_ || visible.size() >= options_.provisional_limit) {
            return;
        }
        visible.push_back(change);
        visible.back().provisional = true;
        provisional_from_ = change.number + 1;
    };
    std::ranges::for_each(to_retry_->changes, let_through);
    std::ranges::for_each(changes_, let_through);
    return visible;
}

base::BootTime PersistencePump::next_wake() const {
    if (under_way_) return base::BootTime::max();  // the store's answer wakes us
    if (to_retry_) return retry_at_;
    return urgent_ ? base::BootTime::min() : gather_until_;
}

}  // namespace pollux::engine
