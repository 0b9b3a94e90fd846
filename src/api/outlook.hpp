// What would be: how often the fleet is polled under each policy, or under other settings. What the
// scheduler learned is taken on the core's thread; what follows from it is worked out on another.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/problem.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/fleet_image.hpp"
#include "schedule/policy_outlook.hpp"

namespace pollux::api {

// How hard a fleet is polled, by its intervals.
struct PollLoad {
    std::size_t tasks = 0;
    double polls_per_second = 0;
    double interval_sum = 0;  // seconds
    double longest_interval = 0;

    void add(std::uint32_t interval_ms);
    double mean_interval() const {
        return tasks == 0 ? 0 : interval_sum / static_cast<double>(tasks);
    }
    // Of data that is as old as its interval just before a poll, and new just after it.
    double mean_age() const { return mean_interval() / 2; }
};

// What the running scheduler knows about the tasks of an image, in the order of its expansion.
struct OutlookFacts {
    std::vector<schedule::LearnedTask> learned;
    std::vector<std::uint32_t> in_force_ms;  // 0: not polled
    std::size_t ready = 0;
    double pressure = 1;
    double p95_poll_s = 0;  // of the last run of each
};
OutlookFacts outlook_facts(const runtime::CoreLoop::View& core, const config::Expansion& expansion);

std::vector<std::uint32_t> intervals_of(const runtime::FleetImage& image, const OutlookFacts& facts,
                                        std::optional<model::PolicyKind> policy);

// `seen`: by task of the image, whether it counts. `in_force`: the policy of the settings.
std::string policies_page(const runtime::FleetImage& image, const OutlookFacts& facts,
                          const std::vector<bool>& seen, model::PolicyKind in_force);

std::string preview_page(const runtime::FleetImage& now, const OutlookFacts& facts_now,
                         const runtime::FleetImage& then, const OutlookFacts& facts_then);
// Of a body that would be refused.
std::string refused_preview_page(const std::vector<FieldProblem>& errors);

}  // namespace pollux::api
