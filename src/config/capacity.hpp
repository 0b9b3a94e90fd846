// What a fleet will cost: polls per second against the limits, and an estimate of CPU and disk.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/expand.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config {

// What one poll costs, about: `./dev bench poll` prints what it is on your machine. Rough; hand
// in your own to plan for another machine.
struct CostFigures {
    double snmp_cpu_seconds = 30e-6;  // of one core, per poll, through the whole engine
    double http_cpu_seconds = 150e-6;
    double samples_per_poll = 10;  // where the addon does not tell
    double bytes_per_sample = 5;   // in the history, roll-ups included
    double bytes_per_task = 400;   // state written per task and flush
    double flushes_per_day = 86'400.0 / 5;
};

struct ClassCapacity {
    std::string name;
    std::size_t tasks = 0;
    double polls_per_second = 0;  // sum of 1/base of the enabled tasks
    double rate_limit = 0;        // 0: none of its own
};

struct Capacity {
    std::vector<ClassCapacity> classes;  // by name
    std::size_t devices = 0;
    std::size_t tasks = 0;  // enabled ones
    std::size_t disabled = 0;
    double polls_per_second = 0;
    double global_rate = 0;
    double cpu_cores = 0;              // 0.1: a tenth of one core
    double history_bytes_per_day = 0;  // 0 with the history off
    double state_bytes_per_day = 0;    // rewritten in place: what the disk has to take, not to hold
};

Capacity capacity(const Expansion& expansion, const AddonLookup& addons, const Settings& settings,
                  const CostFigures& figures = {});

// Warns where the wanted polls exceed a limit, and names the settings to change.
void check_capacity(const Capacity& capacity, document::Diagnostics& diagnostics);

// A table for people.
std::string describe(const Capacity& capacity);

}  // namespace pollux::config
