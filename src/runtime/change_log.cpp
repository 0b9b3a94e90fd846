#include "runtime/change_log.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "model/task_record.hpp"

namespace pollux::runtime {
namespace {

using observe::LogLevel;
using schedule::ChangeKind;

struct Words {
    LogLevel level = LogLevel::kInfo;
    std::string_view message;
    std::string_view from;
    std::string_view to;
};

template <class Enum>
std::string_view name_of(std::uint8_t value) {
    return model::to_string(static_cast<Enum>(value));
}

Words words_of(const schedule::Change& change) {
    switch (change.kind) {
        case ChangeKind::kBreaker: {
            const auto to = static_cast<model::BreakerState>(change.to);
            return {to == model::BreakerState::kOpen ? LogLevel::kWarn : LogLevel::kInfo,
                    to == model::BreakerState::kOpen     ? "circuit breaker opened"
                    : to == model::BreakerState::kClosed ? "circuit breaker closed"
                                                         : "circuit breaker half-open: one probe",
                    name_of<model::BreakerState>(change.from),
                    name_of<model::BreakerState>(change.to)};
        }
        case ChangeKind::kDeadLetter: {
            const bool cleared = change.to == 0;
            return {cleared ? LogLevel::kInfo : LogLevel::kWarn,
                    cleared ? "dead-letter cleared" : "dead-letter: needs attention",
                    name_of<model::DeadLetterReason>(change.from),
                    name_of<model::DeadLetterReason>(change.to)};
        }
        case ChangeKind::kHealth:
            return {change.to == 1 ? LogLevel::kInfo : LogLevel::kWarn,
                    change.to == 1 ? "target is up" : "target is down",
                    // The first answer of all is told too; nothing was known before it.
                    change.from == change.to ? "unknown"
                    : change.from == 1       ? "up"
                                             : "down",
                    change.to == 1 ? "up" : "down"};
        case ChangeKind::kEnabled:
            return {LogLevel::kInfo, change.to == 1 ? "task enabled" : "task disabled",
                    change.from == 1 ? "enabled" : "disabled",
                    change.to == 1 ? "enabled" : "disabled"};
        case ChangeKind::kJob:
            return {LogLevel::kInfo, "job changed", name_of<model::JobState>(change.from),
                    name_of<model::JobState>(change.to)};
        case ChangeKind::kFaulted:
            return {LogLevel::kError, "task parked: a decision about it failed", "", "faulted"};
        case ChangeKind::kBudget:
            return {change.to == 1 ? LogLevel::kWarn : LogLevel::kInfo,
                    change.to == 1 ? "staleness bounds need more polls than the cap allows"
                                   : "staleness bounds can be kept again",
                    "", change.to == 1 ? "infeasible" : "feasible"};
    }
    return {};
}

constexpr std::array<std::string_view, 7> kKindNames = {
    "breaker", "dead_letter", "health", "enabled", "job", "faulted", "budget"};

}  // namespace

ChangeWords change_words(ChangeKind kind, std::uint8_t from, std::uint8_t to) {
    schedule::Change change;
    change.kind = kind;
    change.from = from;
    change.to = to;
    const Words words = words_of(change);
    return {kKindNames[static_cast<std::size_t>(kind)], words.from, words.to, words.message};
}

void log_change(observe::Log& log, const engine::TaskChange& change, std::string_view reason,
                base::Instant now) {
    const Words words = words_of(change.change);
    const base::BootTime due = change.change.next_due;
    const bool planned = due > base::BootTime{} && due != base::BootTime::max();
    log.write(words.level, words.message,
              {{"key", change.key},
               {"from", std::string(words.from)},
               {"to", std::string(words.to)},
               {"failures", std::to_string(change.change.failures)},
               {"retry_at", planned ? base::format_utc(now.wall + (due - now.boot)) : ""},
               {"reason", std::string(reason)},
               {"number", std::to_string(change.number)},
               {"provisional", change.provisional ? "true" : "false"}});
}

base::Result<std::string> timeline(store::Store& store, std::size_t limit) {
    store::ChangeQuery query;
    query.newest_first = true;
    query.limit = limit;
    const auto changes = store.changes(query);
    if (!changes) return std::unexpected(changes.error());
    std::string text;
    for (const store::StoredChange& stored : *changes) {
        const ChangeWords words = change_words(stored.kind, stored.from, stored.to);
        text += fmt::format("{} {} {} ({} -> {}, {} failures)\n", base::format_utc(stored.at),
                            stored.key.empty() ? "-" : stored.key, words.message, words.from,
                            words.to, stored.failures);
    }
    return text;
}

}  // namespace pollux::runtime
