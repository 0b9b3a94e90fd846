#include "sim/change_process.hpp"

#include <numbers>

#include "base/check.hpp"
#include "base/math.hpp"

namespace pollux::sim {
namespace {

void check(const ChangeParameters& p) {
    POLLUX_CHECK(p.rate_per_s >= 0.0 && p.burst_rate_per_s >= 0.0 && p.weight > 0.0);
    switch (p.kind) {
        case ChangeKind::kPoisson: return;
        case ChangeKind::kDiurnal:
            POLLUX_CHECK_MSG(p.rate_per_s > 0.0, "the search for an event would not end");
            return;
        case ChangeKind::kMarkovModulated:
            POLLUX_CHECK_MSG(p.rate_per_s + p.burst_rate_per_s > 0.0,
                             "the search for an event would not end");
            [[fallthrough]];
        case ChangeKind::kUpDown: POLLUX_CHECK(p.mean_calm_s > 0.0 && p.mean_burst_s > 0.0); return;
    }
}

}  // namespace

double ChangeParameters::mean_rate() const {
    switch (kind) {
        case ChangeKind::kPoisson:
        case ChangeKind::kDiurnal: return rate_per_s;
        case ChangeKind::kMarkovModulated:
            return (rate_per_s * mean_calm_s + burst_rate_per_s * mean_burst_s) /
                   (mean_calm_s + mean_burst_s);
        case ChangeKind::kUpDown: return 2.0 / (mean_calm_s + mean_burst_s);
    }
    return 0.0;
}

double ChangeParameters::diurnal_rate(double at_s) const {
    const double angle = 2.0 * std::numbers::pi * at_s / kDaySeconds + phase;
    return rate_per_s * (1.0 + kDiurnalSwing * base::fixed_sin(angle));
}

ChangeProcess::ChangeProcess(const ChangeParameters& parameters, std::uint64_t seed)
    : parameters_(parameters), events_(seed * 2 + 1), switches_(seed * 2 + 2) {
    check(parameters_);
    const bool modulated = parameters_.kind == ChangeKind::kMarkovModulated;
    if (modulated || is_up_down()) {
        in_second_state_ = switches_.uniform() < parameters_.burst_share();
    }
    if (modulated) next_switch_s_ = state_length();
    next_event_s_ = event_after(0.0);
}

double ChangeProcess::state_length() {
    return switches_.exponential(in_second_state_ ? parameters_.mean_burst_s
                                                  : parameters_.mean_calm_s);
}

void ChangeProcess::advance() {
    ++changes_;
    if (is_up_down()) in_second_state_ = !in_second_state_;
    next_event_s_ = event_after(next_event_s_);
}

double ChangeProcess::event_after(double from_s) {
    switch (parameters_.kind) {
        case ChangeKind::kPoisson:
            return from_s + events_.exponential(1.0 / parameters_.rate_per_s);
        case ChangeKind::kMarkovModulated: return modulated_event_after(from_s);
        case ChangeKind::kDiurnal: return diurnal_event_after(from_s);
        case ChangeKind::kUpDown: return from_s + state_length();
    }
    return Consumed::kNone;
}

// Thinning: candidates at the highest rate, each kept with the share of it that holds then.
double ChangeProcess::diurnal_event_after(double from_s) {
    const double highest = (1.0 + kDiurnalSwing) * parameters_.rate_per_s;
    double at_s = from_s;
    do {
        at_s += events_.exponential(1.0 / highest);
    } while (events_.uniform() * highest >= parameters_.diurnal_rate(at_s));
    return at_s;
}

// A period without memory may be cut at every switch and drawn anew at the other rate.
double ChangeProcess::modulated_event_after(double from_s) {
    for (;;) {
        const double rate =
            in_second_state_ ? parameters_.burst_rate_per_s : parameters_.rate_per_s;
        const double at_s = from_s + events_.exponential(1.0 / rate);
        if (at_s < next_switch_s_) return at_s;
        from_s = next_switch_s_;
        in_second_state_ = !in_second_state_;
        next_switch_s_ += state_length();
    }
}

}  // namespace pollux::sim
