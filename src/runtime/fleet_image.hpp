// The fleet as the core and the shards need it: tasks and, for each, a plan of how it is polled.
// Made whole from the configured objects, the addons and the settings; two images give the edit
// that leads from one to the other.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/expand.hpp"
#include "config/fleet.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/alerts/alert_image.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/inbound/inbound_image.hpp"
#include "runtime/jobs/job_types.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

using AddonSet = std::map<std::string, std::shared_ptr<const extract::CompiledAddon>, std::less<>>;
using AddonNames = std::set<std::string, std::less<>>;

struct ImageInputs {
    const config::Fleet& fleet;
    const config::Places& places;
    const AddonSet& addons;
    const config::Settings& settings;
    config::TargetIds ids;
    config::SecretSource secrets;
    std::size_t shards = 1;
    InboundKeySource inbound_key = {};
    bool hears_traps = false;
    bool hears_http = false;
    const JobTypes* jobs = nullptr;  // their classes join those of the fleet
    // Switched off as a whole: their targets are known and not polled, whatever is said nearer.
    AddonNames disabled = {};
};

struct FleetImage {
    config::Expansion expansion;
    std::shared_ptr<const model::CoreSettings> settings;
    // By key. A task whose credentials or parameters are not usable has a plan that says so: it is
    // known, fails with that reason, and needs attention; the others are polled.
    std::map<std::string, std::shared_ptr<const PollPlan>, std::less<>> plans;
    // What is not asked but heard; no tasks.
    std::shared_ptr<const InboundImage> inbound = std::make_shared<const InboundImage>();
    AlertImage alerts;
    // All of the fleet that could be resolved, by name.
    std::map<std::string, std::shared_ptr<const model::Credentials>, std::less<>> credentials;
};

// Errors and warnings go to `diagnostics`; with errors the image must not replace a good one.
// Missing secrets are warnings: the fleet may be checked where they are not.
FleetImage make_image(const ImageInputs& inputs, document::Diagnostics& diagnostics);

// What the core must be told to get from one to the other.
CoreEdit difference(const FleetImage& before, const FleetImage& after);

// The shard of a host: one device, one thread.
std::size_t shard_of(std::string_view host, std::size_t shards);

}  // namespace pollux::runtime
