#include "sim/belief_oracle.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace pollux::sim {
namespace {

// Rows are the state before, columns the state after; 0 is calm, 1 is in a burst.
struct Matrix {
    double m00, m01, m10, m11;
};

// e^(rates * time) of a two-state generator, possibly a leaky one (negative row sums). With the
// eigenvalues mean + root and mean - root, both at most 0, nothing overflows however long the time.
Matrix exponential(const Matrix& rates, double time_s) {
    const double mean = (rates.m00 + rates.m11) / 2.0;
    const double half_difference = (rates.m00 - rates.m11) / 2.0;
    const double root = std::sqrt(half_difference * half_difference + rates.m01 * rates.m10);
    const double larger = base::fixed_exp((mean + root) * time_s);
    const double smaller = base::fixed_exp((mean - root) * time_s);
    // e^(mean t) * sinh(root t) / root, whose limit at root = 0 is e^(mean t) * t.
    const double slope = root > 0.0
                             ? larger * -base::fixed_expm1(-2.0 * root * time_s) / (2.0 * root)
                             : larger * time_s;
    const double cosine = (larger + smaller) / 2.0;
    return {cosine + half_difference * slope, rates.m01 * slope, rates.m10 * slope,
            cosine - half_difference * slope};
}

// Exact Bayes step over hidden calm/burst switching: the joint probability of the state now and of
// no change on the way comes from the generator that leaks at the change rates.
double burst_probability_after(const ChangeParameters& p, double in_burst, double tau_s,
                               bool changed) {
    const double to_burst = 1.0 / p.mean_calm_s;
    const double to_calm = 1.0 / p.mean_burst_s;
    const Matrix unchanged = exponential(
        {-to_burst - p.rate_per_s, to_burst, to_calm, -to_calm - p.burst_rate_per_s}, tau_s);
    const double in_calm = 1.0 - in_burst;
    double calm_now = in_calm * unchanged.m00 + in_burst * unchanged.m10;
    double burst_now = in_calm * unchanged.m01 + in_burst * unchanged.m11;
    if (changed) {
        const Matrix any = exponential({-to_burst, to_burst, to_calm, -to_calm}, tau_s);
        calm_now = in_calm * any.m00 + in_burst * any.m10 - calm_now;
        burst_now = in_calm * any.m01 + in_burst * any.m11 - burst_now;
    }
    const double total = calm_now + burst_now;
    // Two polls at the same moment, or a gap so long that both probabilities underflow.
    if (!(total > 0.0)) return in_burst;
    return std::clamp(burst_now / total, 0.0, 1.0);
}

}  // namespace

BeliefOracle::BeliefOracle(std::span<const ChangeProcess> fleet) {
    beliefs_.reserve(fleet.size());
    for (const ChangeProcess& process : fleet) {
        const ChangeParameters& p = process.parameters();
        const bool modulated = p.kind == ChangeKind::kMarkovModulated;
        beliefs_.push_back({p, modulated ? p.burst_share() : 0.0});
    }
}

double BeliefOracle::initial_rate(std::size_t target) const {
    return beliefs_[target].parameters.mean_rate();
}

double BeliefOracle::rate_after(std::size_t target, double now_s, double tau_s, bool changed,
                                bool ok) {
    auto& [p, in_burst] = beliefs_[target];
    switch (p.kind) {
        case ChangeKind::kPoisson: return p.rate_per_s;
        case ChangeKind::kDiurnal: return p.diurnal_rate(now_s);
        case ChangeKind::kUpDown: return 1.0 / (ok ? p.mean_calm_s : p.mean_burst_s);
        case ChangeKind::kMarkovModulated:
            in_burst = burst_probability_after(p, in_burst, tau_s, changed);
            return p.rate_per_s * (1.0 - in_burst) + p.burst_rate_per_s * in_burst;
    }
    return 0.0;
}

}  // namespace pollux::sim
