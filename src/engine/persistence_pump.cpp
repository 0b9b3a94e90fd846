#include "engine/persistence_pump.hpp"

#include <algorithm>
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
        dirty_.push_back(persist.task);
        urgent_ = urgent_ || persist.durability == schedule::Durability::kBeforeSeen;
    }
    for (const schedule::Change& change : commands.changes) {
        TaskChange shown;
        shown.number = next_number_++;
        if (core.is_live(change.task)) shown.key = core.key(change.task);
        shown.change = change;
        shown.at = now.wall;
        changes_.push_back(std::move(shown));
        urgent_ = true;
    }
    if (waiting() + removed_.size() > 0 && gather_until_ == base::BootTime::max()) {
        gather_until_ = now.boot + options_.gather;
    }
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
    // Transitions and the rows they belong to must be in one transaction: with more rows than fit,
    // the changes wait for the batch that completes them.
    batch.rows.reserve(std::min(dirty_.size(), options_.rows_per_batch));
    while (!dirty_.empty()) {
        if (dirty_.size() > kAhead) core.prefetch(dirty_[kAhead]);
        const model::TaskHandle task = dirty_.front();
        if (core.is_dirty(task)) {
            if (batch.rows.size() == options_.rows_per_batch) break;
            batch.rows.push_back(core.take_record(task));
        }
        dirty_.pop_front();
    }
    if (dirty_.empty()) {
        batch.changes.assign(changes_.begin(), changes_.end());
        changes_.clear();
        urgent_ = false;
        gather_until_ = base::BootTime::max();
    }
    under_way_ = std::move(next);
    return under_way_;
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
