#include "sim/commit_ledger.hpp"

#include <fmt/format.h>

namespace pollux::sim {
namespace {

using model::BreakerState;
using schedule::ChangeKind;

constexpr base::Duration kProvisionalAfter = std::chrono::seconds(5);

template <class Enum>
std::uint8_t code(Enum value) {
    return static_cast<std::uint8_t>(value);
}

// A probe under way is no state of its own: after a restart its breaker is open.
BreakerState settled(BreakerState state) {
    return state == BreakerState::kHalfOpen ? BreakerState::kOpen : state;
}

std::uint8_t settled(ChangeKind kind, std::uint8_t value) {
    return kind == ChangeKind::kBreaker ? code(settled(static_cast<BreakerState>(value))) : value;
}

}  // namespace

CommitLedger::Row CommitLedger::row_of(const model::TaskRecord& record) {
    Row row;
    row.consecutive = record.failure.consecutive;
    row.dead_letter_entries = record.failure.dead_letter_entries;
    row.breaker = settled(record.failure.breaker);
    row.dead_letter = record.failure.dead_letter;
    row.job = record.job;
    row.enabled = record.enabled;
    row.was_up = record.was_up;
    row.digest = record.digest;
    return row;
}

void CommitLedger::new_process() {
    sent_.clear();
    last_sent_ = 0;
    for (auto& [key, edit] : edits_) edit.sequence = 0;
    committed_.clear();
    provisional_.clear();
    failing_since_.reset();
}

void CommitLedger::configured(const model::TaskSpec& spec) {
    if (rows_.contains(spec.key)) edits_[spec.key] = {spec.enabled, last_sent_};
}

void CommitLedger::batch_sent(const engine::WriteBatch& batch) {
    Sent& sent = sent_[batch.sequence];
    last_sent_ = batch.sequence;
    sent.changes = batch.changes;
    sent.rows.clear();
    if (!keeps_rows_) return;
    for (const auto& record : batch.rows) sent.rows.emplace_back(record.key, row_of(record));
}

void CommitLedger::batch_committed(base::BootTime now, std::uint64_t sequence) {
    failing_since_.reset();
    const auto found = sent_.find(sequence);
    if (found == sent_.end()) return;
    for (auto& [key, row] : found->second.rows) {
        const auto edit = edits_.find(key);
        if (edit != edits_.end() && edit->second.sequence < sequence) edits_.erase(edit);
        rows_.insert_or_assign(std::move(key), row);
    }
    for (const auto& change : found->second.changes) {
        committed_.insert(change.number);
        note_label(now, change);
    }
    sent_.erase(found);
}

void CommitLedger::batch_failed(base::BootTime now) {
    if (!failing_since_) failing_since_ = now;
}

void CommitLedger::note_label(base::BootTime now, const engine::TaskChange& change) {
    if (change.key.empty()) return;
    const ChangeKind kind = change.change.kind;
    const auto [known, first] =
        labels_[change.key].try_emplace(kind, settled(kind, change.change.to));
    if (first) return;
    // Switching is told even where an edit had switched already, so only these form a chain.
    const bool chained = kind != ChangeKind::kEnabled && kind != ChangeKind::kFaulted;
    if (chained && known->second != settled(kind, change.change.from)) {
        violations_.add(now, Rule::kChain,
                        fmt::format("{}: a change starts from {}, but {} was told last", change.key,
                                    change.change.from, known->second));
    }
    known->second = settled(kind, change.change.to);
}

void CommitLedger::shown(base::BootTime now, const std::vector<engine::TaskChange>& visible) {
    for (const auto& change : visible) check_visible(now, change);
    if (committed_.empty()) return;
    violations_.add(now, Rule::kNotShown,
                    fmt::format("change {} was committed, but not shown", *committed_.begin()));
    committed_.clear();
}

void CommitLedger::check_visible(base::BootTime now, const engine::TaskChange& change) {
    const std::uint64_t number = change.number;
    if (change.provisional) {
        if (!failing_since_ || now - *failing_since_ < kProvisionalAfter) {
            violations_.add(now, Rule::kProvisional,
                            fmt::format("change {} is provisional, but commits work", number));
        }
        if (!provisional_.insert(number).second) {
            violations_.add(now, Rule::kProvisional,
                            fmt::format("change {} was provisional twice", number));
        }
        return;
    }
    if (committed_.erase(number) == 0) {
        violations_.add(now, Rule::kUncommitted,
                        fmt::format("change {} was seen before its commit", number));
    }
    if (number <= last_visible_) {
        violations_.add(now, Rule::kOutOfOrder,
                        fmt::format("change {} was seen after {}", number, last_visible_));
    }
    last_visible_ = number;
}

void CommitLedger::check_restored(base::BootTime now, const schedule::SchedulerCore& core,
                                  const std::set<std::string>& touched) {
    const auto look = [&](const std::string& key, auto&& check) {
        if (touched.contains(key)) return;
        const auto task = core.find(key);
        if (core.is_live(task)) {
            check(row_of(core.record(task)));
        } else {
            violations_.add(now, Rule::kNotDurable, key + " is gone after a restart");
        }
    };
    for (const auto& [key, row] : rows_) {
        look(key, [&](const Row& found) { check_row(now, key, row, found); });
    }
    for (const auto& [key, labels] : labels_) {
        look(key, [&](const Row& found) { check_labels(now, key, labels, found); });
    }
}

void CommitLedger::check_row(base::BootTime now, const std::string& key, Row row,
                             const Row& found) {
    const auto edit = edits_.find(key);
    if (edit != edits_.end()) row.enabled = edit->second.enabled;
    if (found == row) return;
    const auto text = [](const Row& one) {
        return fmt::format("{}, {} failures, breaker {}, dead letter {}, job {}",
                           one.enabled ? "enabled" : "disabled", one.consecutive,
                           to_string(one.breaker), to_string(one.dead_letter), to_string(one.job));
    };
    violations_.add(now, Rule::kNotDurable,
                    fmt::format("{}: committed was ({}), after the restart it is ({})", key,
                                text(row), text(found)));
}

void CommitLedger::check_labels(base::BootTime now, const std::string& key, const Labels& labels,
                                const Row& found) {
    for (const auto& [kind, told] : labels) {
        std::uint8_t is = told;
        switch (kind) {
            case ChangeKind::kBreaker: is = code(found.breaker); break;
            case ChangeKind::kDeadLetter: is = code(found.dead_letter); break;
            case ChangeKind::kHealth: is = found.was_up ? 1 : 0; break;
            case ChangeKind::kJob: is = code(found.job); break;
            case ChangeKind::kEnabled:
                if (edits_.contains(key)) break;
                is = found.enabled ? 1 : 0;
                break;
            default: break;
        }
        if (is == told) continue;
        violations_.add(now, Rule::kNotDurable,
                        fmt::format("{}: people were told {} (kind {}), after the restart it is {}",
                                    key, told, code(kind), is));
    }
}

bool CommitLedger::committed_as_completed(const std::string& key) const {
    const auto found = rows_.find(key);
    return found != rows_.end() && found->second.job == model::JobState::kCompleted;
}

}  // namespace pollux::sim
