// The job that tries a manifest with a device: on the device's shard and within its limits, as
// polls are, with the credentials and the parameters that the device has for an addon of that name.
#include <fmt/format.h>

#include "base/text.hpp"
#include "config/job_reader.hpp"
#include "document/scalar.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/addon_shelf.hpp"
#include "runtime/fleet_image.hpp"
#include "runtime/jobs/job_types.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using document::Node;
using model::JobSpec;
using namespace std::chrono_literals;

std::string manifest_of(const JobSpec& job) {
    const Node arguments = config::arguments_of(job);
    const Node* manifest = arguments.find("manifest");
    return manifest == nullptr ? std::string() : manifest->scalar();
}

std::optional<config::ArgumentFault> check(const JobSpec& job) {
    const auto compiled = extract::compile(manifest_of(job), "manifest");
    if (compiled.addon == nullptr) {
        return config::ArgumentFault{"manifest",
                                     compiled.diagnostics.as_error("addon.invalid").message};
    }
    return std::nullopt;
}

// The fleet as far as it concerns one device with one addon.
base::Result<config::Fleet> fleet_of(const JobSpec& job, const std::string& addon,
                                     const config::Fleet& whole) {
    const auto known = whole.devices.find(job.device);
    if (known == whole.devices.end()) {
        return base::config_error("job.device",
                                  fmt::format("there is no device {}", quoted(job.device)));
    }
    config::Fleet fleet = whole;
    config::Device device = known->second;
    config::PollSettings settings;
    if (const auto own = device.addons.find(addon); own != device.addons.end()) {
        settings = own->second;
    }
    settings.enabled = true;
    const Node arguments = config::arguments_of(job);
    if (const Node* port = arguments.find("port")) {
        settings.port =
            static_cast<std::uint16_t>(document::parse_integer(port->scalar()).value_or(0));
    }
    if (const Node* parameters = arguments.find("parameters")) {
        for (const auto& entry : parameters->entries()) {
            settings.params[entry.key] = entry.value.scalar();
        }
    }
    device.addons.clear();
    device.addons.emplace(addon, std::move(settings));
    device.parents.clear();
    fleet.devices.clear();
    fleet.devices.emplace(job.device, std::move(device));
    return fleet;
}

base::Result<std::shared_ptr<const PollPlan>> plan_of(const JobSpec& job,
                                                      const JobSurroundings& around) {
    const auto compiled = extract::compile(manifest_of(job), "manifest");
    if (compiled.addon == nullptr) {
        return std::unexpected(compiled.diagnostics.as_error("addon.invalid"));
    }
    const std::string name = compiled.addon->addon().name;
    const auto fleet = fleet_of(job, name, around.fleet);
    if (!fleet) return std::unexpected(fleet.error());
    const config::Places places;
    const AddonSet addons = {{name, compiled.addon}};
    document::Diagnostics diagnostics;
    const FleetImage image = make_image({.fleet = *fleet,
                                         .places = places,
                                         .addons = addons,
                                         .settings = around.settings,
                                         .ids = {},
                                         .secrets = around.secrets,
                                         .shards = around.shards},
                                        diagnostics);
    const std::string key = fmt::format("{}::{}", name, job.device);
    const auto found = image.plans.find(key);
    if (found == image.plans.end()) {
        return base::config_error(
            "job.trial", image.inbound->find(key) != nullptr
                             ? fmt::format("{} is heard and not asked: try it with what came", name)
                         : diagnostics.ok() ? fmt::format("{} cannot be polled by it", job.device)
                                            : diagnostics.as_error("job.trial").message);
    }
    if (!found->second->problem.empty()) {
        return base::config_error("job.trial", found->second->problem);
    }
    return found->second;
}

}  // namespace

void add_trial_type(JobTypes& types) {
    JobType type;
    type.def.name = kTrialJob;
    type.def.help = "Asks a device once as a manifest says that is not in force.";
    type.def.slots = 4;
    type.def.rate = 1;
    type.def.timeout = 1min;
    type.def.longest_timeout = 5min;
    type.def.device = model::JobPlace::kRequired;
    type.def.arguments = {
        {.name = "manifest", .required = true, .longest = 256U << 10U, .help = "YAML or JSON"},
        {.name = "port",
         .kind = model::ArgumentKind::kInteger,
         .low = 1,
         .high = 65'535,
         .help = "over that of the device"},
        {.name = "parameters",
         .kind = model::ArgumentKind::kMap,
         .help = "over those that the device has for it"}};
    type.host = JobHost::kShard;
    type.check = check;
    type.poll = plan_of;
    types.add(std::move(type));
}

}  // namespace pollux::runtime
