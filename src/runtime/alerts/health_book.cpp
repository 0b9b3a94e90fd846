#include "runtime/alerts/health_book.hpp"

#include <algorithm>
#include <utility>

namespace pollux::runtime {
namespace {

// As the profile of the failure ladder has it.
constexpr std::uint32_t kOpsconductorRetries = 3;

}  // namespace

std::string_view target_of(std::string_view task_key) {
    return task_key.substr(0, task_key.find('#', std::min(task_key.find("::"), task_key.size())));
}

bool is_confirmed(const TaskRow& row) {
    if (!row.failure) return false;
    if (row.failure->open() || row.failure->dead()) return true;
    return row.profile == model::FailureProfile::kOpsconductor &&
           row.failure->consecutive > kOpsconductorRetries;
}

std::optional<alert::TargetHealth> HealthBook::take(const TaskNews& news) {
    const auto known = tasks_.find(news.key);
    Failing state = known == tasks_.end() ? Failing{} : known->second;
    state.failures = news.failures;
    state.at = news.at;
    if (!news.reason.empty()) state.message = news.reason;
    state.answered = news.answered;
    switch (news.kind) {
        case schedule::ChangeKind::kHealth:
            if (news.to != 0) return set(news.key, std::nullopt);
            break;
        case schedule::ChangeKind::kBreaker:
            // A probe is no news: up and down come as such.
            if (static_cast<model::BreakerState>(news.to) != model::BreakerState::kOpen) {
                return std::nullopt;
            }
            state.confirmed = true;
            break;
        case schedule::ChangeKind::kDeadLetter:
            if (static_cast<model::DeadLetterReason>(news.to) == model::DeadLetterReason::kNone) {
                return std::nullopt;
            }
            state.confirmed = true;
            state.permanent = static_cast<model::DeadLetterReason>(news.to) ==
                              model::DeadLetterReason::kPermanentFailure;
            break;
        case schedule::ChangeKind::kEnabled: return news.to == 0 ? drop(news.key) : std::nullopt;
        default: return std::nullopt;
    }
    return set(news.key, std::move(state));
}

std::optional<alert::TargetHealth> HealthBook::take(const TaskRow& row) {
    if (!row.failure || row.failure->consecutive == 0) return set(row.key, std::nullopt);
    Failing state;
    state.confirmed = is_confirmed(row);
    state.permanent = row.failure->permanent;
    state.answered = row.failure->answered;
    state.failures = row.failure->consecutive;
    state.code = row.failure->code;
    state.message = row.failure->message;
    state.at = row.failure->last_attempt;
    return set(row.key, std::move(state));
}

std::optional<alert::TargetHealth> HealthBook::drop(std::string_view task_key) {
    const auto known = tasks_.find(task_key);
    if (known == tasks_.end()) return std::nullopt;
    tasks_.erase(known);
    return std::nullopt;
}

std::optional<alert::TargetHealth> HealthBook::set(std::string_view task_key,
                                                   std::optional<Failing> state) {
    const std::string_view target = target_of(task_key);
    const alert::TargetHealth before = of(target);
    if (state) {
        tasks_.insert_or_assign(std::string(task_key), std::move(*state));
    } else if (const auto known = tasks_.find(task_key); known != tasks_.end()) {
        tasks_.erase(known);
    }
    alert::TargetHealth after = of(target);
    const bool same = after.health == before.health && after.failures == before.failures &&
                      after.permanent == before.permanent && after.answered == before.answered &&
                      after.message == before.message;
    return same ? std::nullopt : std::optional(std::move(after));
}

alert::TargetHealth HealthBook::of(std::string_view target) const {
    alert::TargetHealth health;
    health.target = target;
    const auto add = [&](const Failing& state) {
        health.answered = health.answered || state.answered;  // one answer: the device lives
        const bool worse = state.confirmed && !health.confirmed;
        if (health.health != alert::Health::kUp && !worse) return;
        health.health = state.confirmed ? alert::Health::kDown : alert::Health::kSuspect;
        health.confirmed = state.confirmed;
        health.permanent = state.permanent;
        health.failures = state.failures;
        health.code = state.code;
        health.message = state.message;
        health.at = state.at;
    };
    if (const auto main = tasks_.find(target); main != tasks_.end()) add(main->second);
    const std::string groups = health.target + '#';
    for (auto task = tasks_.lower_bound(groups);
         task != tasks_.end() && task->first.starts_with(groups); ++task) {
        add(task->second);
    }
    return health;
}

std::vector<std::string> HealthBook::suspects() const {
    std::vector<std::string> keys;
    for (const auto& [key, state] : tasks_) {
        if (!state.confirmed) keys.push_back(key);
    }
    return keys;
}

std::vector<std::string> HealthBook::changed_answers(
    const std::vector<std::string>& answering) const {
    std::vector<std::string> keys;
    for (const auto& [key, state] : tasks_) {
        const bool answers = std::ranges::binary_search(answering, key);
        if (state.confirmed && state.answered != answers) keys.push_back(key);
    }
    return keys;
}

}  // namespace pollux::runtime
