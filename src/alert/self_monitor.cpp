#include "alert/self_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace pollux::alert {
namespace {

constexpr std::size_t kHours = 24;
constexpr base::Duration kHour = std::chrono::hours(1);

struct RuleText {
    std::string_view type;
    std::string_view title;
    std::string_view rule;
};

constexpr std::array<RuleText, 7> kTexts = {{
    {"self_overloaded", "Polls start late", "ready backlog or start lag over its bound"},
    {"self_stale", "Data is older than it may be", "a target is over its own bound of staleness"},
    {"self_dead_letters", "More targets were given up", "dead letters above the fewest of a day"},
    {"self_breaker_open", "A circuit breaker stays open", "a breaker is not closed for too long"},
    {"self_success_ratio", "Many polls fail", "share of polls that succeed too low"},
    {"self_slow_polls", "Polls take long", "average duration of polls too high"},
    {"self_worker_cpu", "A worker is short of CPU", "share of CPU of the busiest worker too high"},
}};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

void SelfMonitor::step(base::Instant now, const SelfSnapshot& snapshot, std::vector<Input>& out) {
    if (!limits_.on) {
        for (std::uint8_t rule = 0; rule < kRules; ++rule) {
            states_[rule].wrong_since.reset();
            say(static_cast<Rule>(rule), now, Said::kWell, {}, out);
        }
        return;
    }
    judge(kLoad, now, load(snapshot), out);
    judge(kStale, now, stale(snapshot), out);
    judge(kDeadLetters, now, dead_letters(now, snapshot), out);
    judge(kBreaker, now, breaker(snapshot), out);
    judge(kSuccess, now, success(snapshot), out);
    judge(kSlow, now, slow(snapshot), out);
    judge(kCpu, now, cpu(snapshot), out);
}

void SelfMonitor::judge(Rule rule, base::Instant now, const Verdict& verdict,
                        std::vector<Input>& out) {
    State& state = states_[rule];
    Said told = state.said;
    if (verdict.wrong) {
        if (!state.wrong_since) state.wrong_since = now.boot;
        const base::Duration since = now.boot - *state.wrong_since;
        if (since >= verdict.warning_after) told = std::max(told, Said::kWarning);
        if (since >= verdict.critical_after) told = Said::kCritical;
    } else {
        state.wrong_since.reset();
        if (verdict.well) told = Said::kWell;
    }
    say(rule, now, told, verdict, out);
}

void SelfMonitor::say(Rule rule, base::Instant now, Said what, const Verdict& verdict,
                      std::vector<Input>& out) {
    State& state = states_[rule];
    if (what == state.said) return;
    const bool raised = state.said == Said::kWarning || state.said == Said::kCritical;
    state.said = what;
    Observed said;
    said.source = model::AlertSource::kSelf;
    said.signal.type = kTexts[rule].type;
    said.signal.category = "pollux";
    said.signal.title = kTexts[rule].title;
    said.signal.rule = kTexts[rule].rule;
    said.signal.severity = what == Said::kCritical ? "critical" : "warning";
    said.signal.message = verdict.message;
    said.signal.fields = verdict.fields;
    said.at = now.wall;
    said.step = what == Said::kWell ? ObservedStep::kCleared
                : raised            ? ObservedStep::kUpdated
                                    : ObservedStep::kRaised;
    out.emplace_back(std::move(said));
}

SelfMonitor::Verdict SelfMonitor::load(const SelfSnapshot& snapshot) const {
    const auto share =
        static_cast<std::uint64_t>(limits_.backlog_share * static_cast<double>(snapshot.targets));
    const std::uint64_t most = std::max(limits_.backlog_least, share);
    Verdict out;
    out.wrong = snapshot.ready_backlog > most || snapshot.start_lag_p95 > limits_.start_lag;
    out.well = !out.wrong;
    out.warning_after = limits_.load_warning;
    out.critical_after = limits_.load_critical;
    out.message = fmt::format(
        "{} targets are ready and wait (at most {} are well); 95 % start within {} (at most {}). "
        "Raise the limits of rate and slots, or lengthen intervals.",
        snapshot.ready_backlog, most, base::format_duration(snapshot.start_lag_p95),
        base::format_duration(limits_.start_lag));
    out.fields = {{"ready_backlog", std::to_string(snapshot.ready_backlog)},
                  {"start_lag_p95", base::format_duration(snapshot.start_lag_p95)}};
    return out;
}

SelfMonitor::Verdict SelfMonitor::stale(const SelfSnapshot& snapshot) const {
    Verdict out;
    out.wrong = snapshot.stale_targets > 0 && snapshot.longest_stale >= limits_.stale_for;
    out.well = !out.wrong;
    out.message =
        fmt::format("{} targets are over their own bound of staleness, the worst for {}",
                    snapshot.stale_targets, base::format_duration(snapshot.longest_stale));
    out.fields = {{"stale_targets", std::to_string(snapshot.stale_targets)}};
    return out;
}

SelfMonitor::Verdict SelfMonitor::dead_letters(base::Instant now, const SelfSnapshot& snapshot) {
    if (fewest_.empty() || now.boot - hour_began_ >= kHour) {
        fewest_.push_back(snapshot.dead_letters);
        hour_began_ = now.boot;
        if (fewest_.size() > kHours) fewest_.erase(fewest_.begin());
    }
    fewest_.back() = std::min(fewest_.back(), snapshot.dead_letters);
    const std::uint64_t base = *std::ranges::min_element(fewest_);
    Verdict out;
    out.wrong = snapshot.dead_letters > base + limits_.dead_letters_more;
    out.well = !out.wrong;
    out.critical_after = base::Duration::max();
    out.message = fmt::format("{} targets are dead letters, {} more than the fewest of a day",
                              snapshot.dead_letters, snapshot.dead_letters - base);
    out.fields = {{"dead_letters", std::to_string(snapshot.dead_letters)}};
    return out;
}

SelfMonitor::Verdict SelfMonitor::breaker(const SelfSnapshot& snapshot) const {
    Verdict out;
    out.wrong = snapshot.open_breakers > 0 && snapshot.longest_open_breaker >= limits_.breaker_for;
    out.well = !out.wrong;
    out.message =
        fmt::format("{} circuit breakers are not closed, one for {}", snapshot.open_breakers,
                    base::format_duration(snapshot.longest_open_breaker));
    out.fields = {{"open_breakers", std::to_string(snapshot.open_breakers)}};
    return out;
}

SelfMonitor::Verdict SelfMonitor::of_rate(std::optional<double> value, double wrong, double well,
                                          std::string message, std::string_view field) const {
    Verdict out;
    if (!value) return out;
    const bool low_is_wrong = wrong < well;
    out.wrong = low_is_wrong ? *value < wrong : *value > wrong;
    out.well = low_is_wrong ? *value > well : *value < well;
    out.warning_after = limits_.rate_for;
    out.critical_after = base::Duration::max();
    out.message = std::move(message);
    out.fields = {{std::string(field), fmt::format("{:.4g}", *value)}};
    return out;
}

SelfMonitor::Verdict SelfMonitor::success(const SelfSnapshot& snapshot) const {
    return of_rate(
        snapshot.success_ratio, limits_.success_low, limits_.success_well,
        fmt::format("{} of the polls succeed; more than {} are well",
                    percent(snapshot.success_ratio.value_or(0)), percent(limits_.success_well)),
        "success_ratio");
}

SelfMonitor::Verdict SelfMonitor::slow(const SelfSnapshot& snapshot) const {
    return of_rate(snapshot.average_poll_s, limits_.poll_slow_s, limits_.poll_well_s,
                   fmt::format("a poll that succeeds takes {:.3g} s on average; less than {:.3g} s "
                               "is well",
                               snapshot.average_poll_s.value_or(0), limits_.poll_well_s),
                   "average_poll_s");
}

SelfMonitor::Verdict SelfMonitor::cpu(const SelfSnapshot& snapshot) const {
    return of_rate(
        snapshot.worker_cpu_share, limits_.cpu_high, limits_.cpu_well,
        fmt::format("the busiest worker ({}) uses {} of a CPU; less than {} is well",
                    snapshot.busiest_worker, percent(snapshot.worker_cpu_share.value_or(0)),
                    percent(limits_.cpu_well)),
        "worker_cpu_share");
}

}  // namespace pollux::alert
