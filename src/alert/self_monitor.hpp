// Pollux watches itself: from one summary a second or so to alerts of its own, as observations for
// the alert engine. Pure; owned by one thread.
//
// Invariants
// 1. What is wrong must stay wrong for the time of its rule before it is raised; a worse step of
// the
//    same rule is told as an update of the same alert.
// 2. Between the bounds of wrong and well a rule stays what it was. What is not measured changes
//    nothing.
// 3. After a restart the first summary that is well clears, in case that something is still open.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/input.hpp"
#include "base/time.hpp"

namespace pollux::alert {

// Targets that people know of already (their failure is told, acknowledged or silenced) are left
// out of all counts by the caller; see SelfCensus.
struct SelfSnapshot {
    std::uint64_t targets = 0;
    std::uint64_t ready_backlog = 0;
    base::Duration start_lag_p95{};
    std::uint64_t stale_targets = 0;         // over their own bound
    base::Duration longest_stale{};          // for how long the worst of them has been
    std::uint64_t dead_letters = 0;          // now
    std::uint64_t open_breakers = 0;         // open or half-open
    base::Duration longest_open_breaker{};   // not closed since; probes do not begin it anew
    std::optional<double> success_ratio;     // 0 to 1, of the last minutes; nothing: no polls
    std::optional<double> average_poll_s;    // seconds, of those that succeed
    std::optional<double> worker_cpu_share;  // 0 to 1, of the busiest of them
    std::string busiest_worker;              // which one
};

struct SelfLimits {
    bool on = true;  // off: what is open is cleared, and nothing is raised
    std::uint64_t backlog_least = 100;
    double backlog_share = 0.10;
    base::Duration start_lag = std::chrono::seconds(2);
    base::Duration load_warning = std::chrono::minutes(10);
    base::Duration load_critical = std::chrono::minutes(20);
    base::Duration stale_for = std::chrono::minutes(5);
    std::uint64_t dead_letters_more = 10;  // than the fewest of the last day
    base::Duration breaker_for = std::chrono::minutes(10);
    double success_low = 0.95;
    double success_well = 0.99;
    double poll_slow_s = 5;
    double poll_well_s = 2;
    double cpu_high = 0.90;
    double cpu_well = 0.70;
    base::Duration rate_for = std::chrono::minutes(5);  // success, average poll, CPU
    bool operator==(const SelfLimits&) const = default;
};

class SelfMonitor {
  public:
    explicit SelfMonitor(SelfLimits limits = {}) : limits_(limits) {}

    // Takes effect with the next summary.
    void set_limits(const SelfLimits& limits) { limits_ = limits; }
    // Appends what changed.
    void step(base::Instant now, const SelfSnapshot& snapshot, std::vector<Input>& out);

  private:
    enum Rule : std::uint8_t {
        kLoad,
        kStale,
        kDeadLetters,
        kBreaker,
        kSuccess,
        kSlow,
        kCpu,
        kRules
    };
    enum class Said : std::uint8_t { kUnknown, kWell, kWarning, kCritical };
    struct State {
        std::optional<base::BootTime> wrong_since;
        Said said = Said::kUnknown;
    };
    // What a summary means for one rule.
    struct Verdict {
        bool wrong = false;
        bool well = false;
        base::Duration warning_after{};
        base::Duration critical_after{};  // Duration::max(): never
        std::string message;
        std::vector<std::pair<std::string, std::string>> fields;
    };

    void say(Rule rule, base::Instant now, Said what, const Verdict& verdict,
             std::vector<Input>& out);
    void judge(Rule rule, base::Instant now, const Verdict& verdict, std::vector<Input>& out);
    Verdict load(const SelfSnapshot& snapshot) const;
    Verdict stale(const SelfSnapshot& snapshot) const;
    Verdict dead_letters(base::Instant now, const SelfSnapshot& snapshot);
    Verdict breaker(const SelfSnapshot& snapshot) const;
    Verdict success(const SelfSnapshot& snapshot) const;
    Verdict slow(const SelfSnapshot& snapshot) const;
    Verdict cpu(const SelfSnapshot& snapshot) const;
    // A rate with a bound of wrong and one of well; the smaller one of them is on the wrong side if
    // `wrong` is below `well`.
    Verdict of_rate(std::optional<double> value, double wrong, double well, std::string message,
                    std::string_view field) const;

    SelfLimits limits_;
    std::array<State, kRules> states_;
    // The fewest dead letters of each of the last 24 hours; the newest last.
    std::vector<std::uint64_t> fewest_;
    base::BootTime hour_began_;
};

}  // namespace pollux::alert
