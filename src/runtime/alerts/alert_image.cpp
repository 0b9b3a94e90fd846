#include "runtime/alerts/alert_image.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "config/membership.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::runtime {
namespace {

class AlertImageMaker {
  public:
    AlertImageMaker(const config::Fleet& fleet, const FleetImage& image)
        : fleet_(fleet), image_(image), membership_(fleet) {}

    AlertImage make() {
        for (const config::TargetPlanInput& target : image_.expansion.targets) add_polled(target);
        for (const config::InboundInput& target : image_.expansion.inbound) add_heard(target);
        for (const auto& [name, device] : fleet_.devices) {
            if (!device.parents.empty()) facts_.devices.push_back({name, device.parents});
        }
        return {std::make_shared<const alert::AlertFleet>(std::move(facts_)),
                std::make_shared<const DeviceTasks>(std::move(tasks_))};
    }

  private:
    // A target is told of once, however many tasks it has.
    void add_polled(const config::TargetPlanInput& input) {
        tasks_[input.device].push_back(input.key);
        if (input.group != 0) return;
        const auto plan = image_.plans.find(input.key);
        alert::TargetFacts facts;
        facts.key = input.target;
        facts.id = input.target_id;
        facts.device = input.device;
        facts.address = input.addresses.front();
        facts.addon = input.addon;
        facts.labels = input.labels;
        facts.groups = input.groups;
        // A target whose parameters are wrong has none; the image is refused, or says so.
        if (plan != image_.plans.end() && plan->second->addon != nullptr) {
            add_addon(facts, *plan->second->addon, input.alerts);
        }
        facts_.targets.push_back(std::move(facts));
    }

    void add_heard(const config::InboundInput& input) {
        const InboundTargetPtr target = image_.inbound->find(input.key);
        const auto device = fleet_.devices.find(input.device);
        alert::TargetFacts facts;
        facts.key = input.key;
        facts.id = input.target_id;
        facts.device = input.device;
        facts.address = input.addresses.front();
        facts.addon = input.addon;
        facts.enabled = input.enabled;
        if (device != fleet_.devices.end()) facts.labels = device->second.labels;
        facts.groups = membership_.group_names_of(input.device);
        if (target) add_addon(facts, *target->addon, input.alerts);
        facts_.targets.push_back(std::move(facts));
    }

    void add_addon(alert::TargetFacts& facts, const extract::CompiledAddon& compiled,
                   const model::AlertPolicy& policy) {
        const model::Addon& addon = compiled.addon();
        facts.category = addon.category;
        if (compiled.imported()) facts.fingerprint = alert::FingerprintStyle::kImported;
        if (policy.failure_alert == model::FailureAlert::kFirst) {
            facts.failure_threshold = alert::FailureThreshold::kFirst;
        }
        const auto failure =
            compiled.failure_signal({.device = facts.device, .address = facts.address});
        if (failure) {
            facts.failure_type = failure->type;
            facts.failure_title = failure->title;
            facts.failure_severity =
                model::severity_of(failure->severity).value_or(model::Severity::kWarning);
        }
        facts.types = types_of(addon, policy, facts.failure_type);
    }

    // Most targets of an addon agree: they share what is made here.
    std::shared_ptr<const alert::AlertTypes> types_of(const model::Addon& addon,
                                                      const model::AlertPolicy& policy,
                                                      const std::string& failure_type) {
        std::vector<Shared>& known = types_[addon.name];
        for (const Shared& one : known) {
            if (one.policy == policy) return one.types;
        }
        auto made = std::make_shared<alert::AlertTypes>();
        const auto add = [&](const std::string& name, bool enabled) {
            const model::AlertTerms terms = model::alert_terms(addon, policy, name, "");
            alert::TypeFacts type;
            type.type = name;
            type.enabled = terms.enabled && enabled;
            type.severity = terms.severity;
            type.hold = terms.sustained;
            type.keep_firing_for = terms.keep_firing_for;
            const auto rule = policy.types.find(name);
            if (rule != policy.types.end()) type.rows = rule->second.rows;
            made->types.push_back(std::move(type));
        };
        for (const model::AlertType& type : addon.alert_types) {
            if (type.name != failure_type) add(type.name, true);
        }
        add(failure_type, policy.failure_alert != model::FailureAlert::kOff);
        std::ranges::sort(made->types, {}, &alert::TypeFacts::type);
        made->closed = !addon.any_alert_type;
        known.push_back({policy, made});
        return made;
    }

    struct Shared {
        model::AlertPolicy policy;
        std::shared_ptr<const alert::AlertTypes> types;
    };

    const config::Fleet& fleet_;
    const FleetImage& image_;
    config::Membership membership_;
    alert::AlertFleet facts_;
    DeviceTasks tasks_;
    std::map<std::string, std::vector<Shared>, std::less<>> types_;  // by addon
};

}  // namespace

AlertImage make_alert_image(const config::Fleet& fleet, const FleetImage& image) {
    return AlertImageMaker(fleet, image).make();
}

}  // namespace pollux::runtime
