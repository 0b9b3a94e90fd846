#include "runtime/operate_result.hpp"

#include <fmt/format.h>

#include "document/write.hpp"
#include "model/audit.hpp"

namespace pollux::runtime {

std::optional<TaskFacts> facts_of(const schedule::SchedulerCore& core, model::TaskHandle task,
                                  base::Instant now) {
    if (!core.is_live(task)) return std::nullopt;
    const schedule::TaskSlot& slot = core.slot(task);
    const schedule::FailureStory failure = core.failure(task);
    TaskFacts facts;
    facts.breaker = failure.breaker;
    facts.dead_letter = failure.dead_letter;
    facts.failures = failure.consecutive;
    facts.retries = failure.dead_letter_entries;
    facts.enabled = slot.has(schedule::kFlagEnabled);
    facts.waits_for_needs = slot.place == schedule::Place::kWaitsForNeeds;
    facts.job = slot.job;
    const bool planned = slot.place != schedule::Place::kDisabled &&
                         slot.place != schedule::Place::kEnded &&
                         slot.place != schedule::Place::kFaulted;
    if (planned) facts.next_due = now.wall + (slot.next_due - now.boot);
    return facts;
}

std::string audit_text(const TaskFacts& facts) {
    std::string text = fmt::format(
        R"({{"breaker":"{}","dead_letter":"{}","enabled":{},"failures":{})",
        to_string(facts.breaker), to_string(facts.dead_letter), facts.enabled, facts.failures);
    if (facts.job != model::JobState::kNotAJob) {
        text += fmt::format(R"(,"job":"{}")", to_string(facts.job));
    }
    if (facts.next_due.us != model::kNever) {
        text += fmt::format(R"(,"next_due":"{}")", base::format_utc(facts.next_due));
    }
    text += fmt::format(R"(,"retries":{})", facts.retries);
    return text + (facts.waits_for_needs ? R"(,"waits_for_needs":true})" : "}");
}

std::string audit_text(const std::vector<std::string>& keys, std::size_t count) {
    constexpr std::size_t kForTheEnd = 40;  // the rest of the object
    std::string list;
    std::size_t listed = 0;
    const std::string begin = fmt::format(R"({{"count":{},"keys":[)", count);
    for (const std::string& key : keys) {
        const std::string item = (listed == 0 ? "" : ",") + document::json_string(key);
        if (begin.size() + list.size() + item.size() + kForTheEnd > model::kAuditLimits.after) {
            break;
        }
        list += item;
        ++listed;
    }
    const std::string more =
        count > listed ? fmt::format(R"(,"more":{})", count - listed) : std::string();
    return begin + list + "]" + more + "}";
}

}  // namespace pollux::runtime
