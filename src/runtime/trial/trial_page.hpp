// What a trial of an addon gave, as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/trial/addon_trial.hpp"

namespace pollux::runtime {

// What a device said to one request, as a case would write it.
struct TrialReply {
    std::string text;     // body, output, or lines as snmpwalk -On prints them
    int status = 0;       // of HTTP, or with which a command ended
    std::string problem;  // why there is none
};

// `replies`: as they came, of a trial that asked; empty: they were given.
std::string trial_page(const std::vector<std::string>& asks, const std::vector<TrialStep>& steps,
                       const std::vector<TrialReply>& replies = {});

}  // namespace pollux::runtime
