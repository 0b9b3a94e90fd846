// The rate estimate of somebody who knows the true parameters of every device but, like everybody
// else, learns from a poll only whether something changed. No learning policy can be expected to
// beat it, so it is the yardstick for them. Of diurnal and up/down targets it knows the current
// rate.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/change_process.hpp"

namespace pollux::sim {

class BeliefOracle {
  public:
    // Copies the parameters: the fleet may move on or go away.
    explicit BeliefOracle(std::span<const ChangeProcess> fleet);

    // Changes per second before the first poll: the mean in the long run.
    double initial_rate(std::size_t target) const;

    // The poll at now_s, tau_s after the previous one (or after the start), found the target
    // changed or not, and up (ok) or down. Polls of a target come in the order of time.
    double rate_after(std::size_t target, double now_s, double tau_s, bool changed, bool ok);

  private:
    struct Belief {
        ChangeParameters parameters;
        double in_burst = 0.0;  // Markov-modulated: probability after the last poll
    };

    std::vector<Belief> beliefs_;
};

}  // namespace pollux::sim
