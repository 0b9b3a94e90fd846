#include "config/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bytes.hpp"
#include "base/siphash.hpp"
#include "base/text.hpp"
#include "config/levels.hpp"
#include "config/membership.hpp"
#include "config/resolve_alerts.hpp"
#include "document/map_reader.hpp"
#include "model/task_key.hpp"
#include "model/validate.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;

// Whether the scope of adaptive polling covers a target. A percentage is the core's business.
bool in_scope(const AdaptiveScope& scope, const TargetPlanInput& plan) {
    const auto listed = [&](std::string_view name) {
        return std::binary_search(scope.names.begin(), scope.names.end(), name);
    };
    switch (scope.kind) {
        case ScopeKind::kAll:
        case ScopeKind::kPercent: return true;
        case ScopeKind::kClasses: return listed(plan.addon);
        case ScopeKind::kGroups: return std::any_of(plan.groups.begin(), plan.groups.end(), listed);
        case ScopeKind::kTargets: return listed(plan.target);
    }
    return true;
}

void put(base::ByteWriter& out, const ByName<std::string>& texts) {
    out.varint(texts.size());
    for (const auto& [name, text] : texts) {
        out.string(name);
        out.string(text);
    }
}

void put(base::ByteWriter& out, const std::vector<std::string>& texts) {
    out.varint(texts.size());
    for (const std::string& text : texts) out.string(text);
}

void put(base::ByteWriter& out, const TargetPlanInput& plan) {
    put(out, plan.addresses);
    out.varint(plan.port.value_or(0));
    put(out, plan.params);
    out.string(plan.credentials);
    out.u8(plan.snmp.version ? static_cast<std::uint8_t>(*plan.snmp.version) : 255);
    out.string(plan.snmp.community ? describe(*plan.snmp.community) : "");
    for (const auto& fixed :
         {plan.snmp.max_varbinds, plan.snmp.max_repetitions, plan.snmp.parallel}) {
        out.varint(fixed.value_or(0));
    }
    out.u8(plan.snmp.bulk ? static_cast<std::uint8_t>(*plan.snmp.bulk) : 255);
    out.u8(plan.tls.verify ? static_cast<std::uint8_t>(*plan.tls.verify) : 255);
    out.string(plan.tls.ca_file.value_or(""));
    out.string(plan.tls.pin_sha256.value_or(""));
    out.varint(plan.resends);
    put(out, plan.labels);
}

// 32 bits, never 0: the core keeps no more of a version.
std::uint64_t content_version(const model::TaskSpec& spec, const TargetPlanInput& plan) {
    base::ByteWriter out;
    out.string(spec.key);
    out.string(spec.device);
    out.string(spec.region);
    out.zigzag(spec.cadence.min.count());
    out.zigzag(spec.cadence.base.count());
    out.zigzag(spec.cadence.max.count());
    out.u8(static_cast<std::uint8_t>(spec.tier));
    out.zigzag(spec.timeout.count());
    out.zigzag(spec.staleness_bound ? spec.staleness_bound->count() : -1);
    out.u8(static_cast<std::uint8_t>(spec.failure_profile));
    out.boolean(spec.enabled);
    out.boolean(spec.adaptive);
    for (const model::NeedGroup& group : spec.needs) {
        out.u8(static_cast<std::uint8_t>(group.when_unmet));
        out.varint(group.any_of.size());
        for (const model::Parent& parent : group.any_of) out.string(parent.name);
    }
    for (const model::ResourceDemand& part : spec.demand) {
        out.string(part.resource);
        out.zigzag(part.amount);
    }
    put(out, plan);
    constexpr base::SipKey kKey{0x7461736b2d766572ULL, 0x73696f6e2d303031ULL};
    const auto hash = static_cast<std::uint32_t>(base::siphash24(kKey, out.view()));
    return hash == 0 ? 1 : hash;
}

template <class T>
const T* find_or_null(const ByName<T>& map, std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? nullptr : &found->second;
}

class Expander {
  public:
    Expander(const Fleet& fleet, const Places& places, const AddonLookup& addons,
             const Settings& settings, const TargetIds& ids, Diagnostics& diagnostics)
        : fleet_(fleet),
          places_(places),
          addons_(addons),
          settings_(settings),
          ids_(ids),
          diagnostics_(diagnostics),
          membership_(fleet) {
        for (const auto& [name, addon] : addons) {
            addon_names_.push_back(name);
            for (const model::AlertType& type : addon->alert_types) alert_types_.insert(type.name);
        }
    }

    Expansion run() {
        std::set<std::string> classes;
        for (const auto& [name, device] : fleet_.devices) {
            expand_device(name, device, classes);
        }
        for (const auto& [name, options] : fleet_.classes) classes.insert(name);
        for (const std::string& name : classes) result_.classes.push_back(class_settings(name));
        for (const auto& [name, capacity] : fleet_.resources) {
            result_.resources.push_back({name, capacity});
        }
        sort_by_key();
        std::ranges::sort(result_.inbound, {}, &InboundInput::key);
        check_scope(classes);
        check_addon_names();
        return std::move(result_);
    }

  private:
    void expand_device(const std::string& name, const Device& device,
                       std::set<std::string>& classes) {
        const std::vector<std::string> groups = membership_.group_names_of(name);
        add_device_spec(name, device, groups);
        for (const std::string& addon_name : membership_.addons_of(name)) {
            const model::Addon* const* addon = find_or_null(addons_, addon_name);
            if (addon == nullptr) {
                complain_of_addon(name, device, groups, addon_name);
                continue;
            }
            if (model::is_inbound((*addon)->protocol)) {
                expand_inbound(name, device, groups, **addon);
                continue;
            }
            classes.insert(addon_name);
            expand_target(name, device, groups, **addon);
        }
    }

    void expand_target(const std::string& name, const Device& device,
                       const std::vector<std::string>& groups, const model::Addon& addon) {
        const std::string key = model::make_task_key(addon.name, name);
        const Levels levels = levels_of(key, name, device, groups, addon.name);
        TargetPlanInput plan;
        plan.key = key;
        plan.target = key;
        plan.addon = addon.name;
        plan.device = name;
        if (const std::string* id = find_or_null(ids_, key)) plan.target_id = *id;
        plan.addresses = device.addresses.empty() ? std::vector{name} : device.addresses;
        plan.groups = groups;
        plan.labels = device.labels;
        fill_plan(plan, levels, addon);
        plan.alerts = alerts_of(levels, addon);
        check_snmp_user(plan, addon);

        const bool adaptive = levels.find(&PollSettings::adaptive).value_or(true) &&
                              in_scope(settings_.adaptive_scope, plan);
        const ClassOptions* options = find_or_null(fleet_.classes, addon.name);
        const IntervalInput input{levels, addon, options, settings_, adaptive};
        plan.timeout = resolve_timeout(input);
        model::TaskSpec spec = task_spec(levels, plan, device, options);
        spec.adaptive = adaptive;
        std::optional<IntervalConflict> conflict;
        spec.cadence = resolve_cadence(input, conflict);
        if (conflict) {
            complain(conflict->place, "interval", fmt::format("{}: {}", key, conflict->message));
        }
        add_tasks(spec, plan, addon, levels);
    }

    void expand_inbound(const std::string& name, const Device& device,
                        const std::vector<std::string>& groups, const model::Addon& addon) {
        const std::string key = model::make_task_key(addon.name, name);
        if (const auto parsed = model::parse_task_key(key); !parsed) {
            complain(fmt::format("device/{}", name), "", parsed.error().message);
            return;
        }
        const Levels levels = levels_of(key, name, device, groups, addon.name);
        InboundInput target;
        target.key = key;
        target.addon = addon.name;
        target.device = name;
        if (const std::string* id = find_or_null(ids_, key)) target.target_id = *id;
        target.addresses = device.addresses.empty() ? std::vector{name} : device.addresses;
        target.params = levels.merge(&PollSettings::params);
        target.credentials = levels.find(&PollSettings::credentials).value_or("");
        target.community = levels.find(&PollSettings::snmp, &SnmpOverrides::community);
        for (const Level& level : levels.near) {
            if (!target.interval) target.interval = level.settings->interval.base;
        }
        target.grace = levels.find(&PollSettings::grace);
        target.confirm = levels.find(&PollSettings::confirm).value_or(false);
        target.enabled = levels.find(&PollSettings::enabled).value_or(true);
        target.alerts = alerts_of(levels, addon);
        result_.inbound.push_back(std::move(target));
    }

    Levels levels_of(const std::string& key, const std::string& name, const Device& device,
                     const std::vector<std::string>& groups, const std::string& addon) const {
        Levels levels{.near = {}, .defaults = &fleet_.defaults.poll};
        const auto add = [&](const PollSettings* settings, std::string_view kind,
                             std::string_view owner, bool one_addon) {
            if (settings != nullptr) levels.near.push_back({settings, kind, owner, one_addon});
        };
        add(find_or_null(fleet_.targets, key), "target", key, true);
        add(find_or_null(device.addons, addon), "device", name, true);
        add(&device.poll, "device", name, false);
        for (const std::string& group_name : groups) {
            const auto found = fleet_.groups.find(group_name);
            add(find_or_null(found->second.addons, addon), "group", found->first, true);
            add(&found->second.poll, "group", found->first, false);
        }
        const auto found = fleet_.addons.find(addon);
        if (found != fleet_.addons.end()) add(&found->second, "addon", found->first, true);
        return levels;
    }

    model::AlertPolicy alerts_of(const Levels& levels, const model::Addon& addon) {
        std::vector<AlertComplaint> complaints;
        model::AlertPolicy policy = resolve_alerts(levels, addon, alert_types_, complaints);
        for (AlertComplaint& complaint : complaints) {
            complain(complaint.place, "alerts", std::move(complaint.message));
        }
        return policy;
    }

    void fill_plan(TargetPlanInput& plan, const Levels& levels, const model::Addon& addon) const {
        plan.port = levels.find(&PollSettings::port);
        plan.params = levels.merge(&PollSettings::params);
        plan.credentials = levels.find(&PollSettings::credentials).value_or("");
        plan.snmp.version = levels.find(&PollSettings::snmp, &SnmpOverrides::version);
        plan.snmp.community = levels.find(&PollSettings::snmp, &SnmpOverrides::community);
        plan.snmp.max_varbinds = levels.find(&PollSettings::snmp, &SnmpOverrides::max_varbinds);
        plan.snmp.max_repetitions =
            levels.find(&PollSettings::snmp, &SnmpOverrides::max_repetitions);
        plan.snmp.parallel = levels.find(&PollSettings::snmp, &SnmpOverrides::parallel);
        plan.snmp.bulk = levels.find(&PollSettings::snmp, &SnmpOverrides::bulk);
        // A user of v3 is meant to be used.
        const Credential* credential = find_or_null(fleet_.credentials, plan.credentials);
        if (!plan.snmp.version && credential != nullptr &&
            credential->snmp_auth != model::SnmpAuth::kNone) {
            plan.snmp.version = model::SnmpVersion::kV3;
        }
        plan.tls.verify = levels.find(&PollSettings::tls, &TlsOverrides::verify);
        plan.tls.ca_file = levels.find(&PollSettings::tls, &TlsOverrides::ca_file);
        plan.tls.pin_sha256 = levels.find(&PollSettings::tls, &TlsOverrides::pin_sha256);
        const bool snmp = addon.protocol == model::ProtocolKind::kSnmp;
        const auto usual = snmp ? static_cast<std::uint32_t>(settings_.snmp_resends) : 0U;
        plan.resends = levels.find(&PollSettings::resends).value_or(usual);
    }

    model::TaskSpec task_spec(const Levels& levels, const TargetPlanInput& plan,
                              const Device& device, const ClassOptions* options) {
        model::TaskSpec spec;
        spec.key = plan.key;
        spec.device = plan.device;
        spec.region = region_of(device, plan.groups);
        spec.tier = levels.find(&PollSettings::tier).value_or(model::Tier::kNormal);
        spec.timeout = plan.timeout;
        spec.staleness_bound = levels.find_near(&PollSettings::staleness_bound);
        // The class is nearer than the defaults, and the core knows the bound of the class.
        if (!spec.staleness_bound && (options == nullptr || !options->staleness_bound)) {
            spec.staleness_bound = levels.defaults->staleness_bound;
        }
        spec.failure_profile =
            levels.find(&PollSettings::failure_profile).value_or(model::FailureProfile::kLadder);
        spec.enabled = levels.find(&PollSettings::enabled).value_or(true);
        for (const auto& any_of : device.parents) {
            model::NeedGroup group;
            group.when_unmet = device.behind == Behind::kConnection ? model::WhenUnmet::kHold
                                                                    : model::WhenUnmet::kSlow;
            for (const std::string& parent : any_of) {
                group.any_of.push_back({model::ParentKind::kDevice, parent});
            }
            spec.needs.push_back(std::move(group));
        }
        for (const auto& [name, amount] : levels.merge(&PollSettings::resources)) {
            spec.demand.push_back({name, amount});
        }
        return spec;
    }

    // The main task, and one more for each poll group with an interval of its own.
    void add_tasks(const model::TaskSpec& spec, const TargetPlanInput& plan,
                   const model::Addon& addon, const Levels& levels) {
        const auto intervals = levels.merge(&PollSettings::group_intervals);
        add_task(spec, plan);
        for (std::size_t i = 1; i < addon.groups.size(); ++i) {
            const model::PollGroup& group = addon.groups[i];
            model::TaskSpec own = spec;
            TargetPlanInput own_plan = plan;
            own.key = fmt::format("{}#{}", spec.key, group.name);
            own_plan.key = own.key;
            own_plan.group = i;
            const base::Duration* interval = find_or_null(intervals, group.name);
            if (interval != nullptr) {
                own.cadence = group_cadence(*interval);
            } else if (group.interval) {
                own.cadence = group_cadence(*group.interval);
            }
            add_task(std::move(own), std::move(own_plan));
        }
        check_group_intervals(addon, levels);
    }

    void add_task(model::TaskSpec spec, TargetPlanInput plan) {
        if (auto status = model::validate(spec); !status) {
            complain(fmt::format("device/{}", plan.device), "", status.error().message);
            return;
        }
        plan.key = spec.key;
        spec.version = content_version(spec, plan);
        result_.tasks.push_back(std::move(spec));
        result_.targets.push_back(std::move(plan));
    }

    template <class T>
    std::optional<T> device_setting(const Device& device, const std::vector<std::string>& groups,
                                    std::optional<T> DeviceSettings::* field) const {
        if (device.device.*field) return device.device.*field;
        for (const std::string& name : groups) {
            const auto& value = fleet_.groups.find(name)->second.device.*field;
            if (value) return value;
        }
        return fleet_.defaults.device.*field;
    }

    std::string region_of(const Device& device, const std::vector<std::string>& groups) const {
        return device_setting(device, groups, &DeviceSettings::region).value_or("");
    }

    void add_device_spec(const std::string& name, const Device& device,
                         const std::vector<std::string>& groups) {
        model::DeviceSpec spec;
        spec.name = name;
        spec.rate = device_setting(device, groups, &DeviceSettings::rate).value_or(0);
        spec.slots = device_setting(device, groups, &DeviceSettings::slots).value_or(0);
        spec.slots_per_class =
            device_setting(device, groups, &DeviceSettings::slots_per_class).value_or(0);
        result_.devices.push_back(std::move(spec));
    }

    model::ClassSettings class_settings(const std::string& name) const {
        model::ClassSettings result;
        result.name = name;
        result.policy = settings_.policy;
        result.preset = settings_.preset;
        // A ping asks next to nothing of a host, and says whether the rest is worth a try.
        const model::Addon* const* addon = find_or_null(addons_, name);
        result.host_slots_exempt =
            addon != nullptr && (*addon)->protocol == model::ProtocolKind::kIcmp;
        const ClassOptions* options = find_or_null(fleet_.classes, name);
        if (options == nullptr) return result;
        result.weight = options->weight.value_or(result.weight);
        result.rate = options->rate.value_or(result.rate);
        result.slots = options->slots.value_or(result.slots);
        result.host_slots_exempt = options->host_slots_exempt.value_or(result.host_slots_exempt);
        result.policy = options->policy.value_or(result.policy);
        result.preset = options->preset.value_or(result.preset);
        result.staleness_bound = options->staleness_bound;
        return result;
    }

    void sort_by_key() {
        std::vector<std::size_t> order(result_.tasks.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return result_.tasks[a].key < result_.tasks[b].key;
        });
        std::vector<model::TaskSpec> tasks;
        std::vector<TargetPlanInput> targets;
        tasks.reserve(order.size());
        targets.reserve(order.size());
        for (const std::size_t i : order) {
            // A device called "x#inventory" and the poll group `inventory` of device "x".
            if (!tasks.empty() && tasks.back().key == result_.tasks[i].key) {
                complain(fmt::format("device/{}", result_.tasks[i].device), "name",
                         fmt::format("the task {} of device {} is there already, of device {}; "
                                     "rename one of them",
                                     quoted(tasks.back().key), quoted(result_.tasks[i].device),
                                     quoted(tasks.back().device)));
                continue;
            }
            tasks.push_back(std::move(result_.tasks[i]));
            targets.push_back(std::move(result_.targets[i]));
        }
        result_.tasks = std::move(tasks);
        result_.targets = std::move(targets);
    }

    // What would fail at every poll, or not be what was meant.
    void check_snmp_user(const TargetPlanInput& plan, const model::Addon& addon) {
        if (addon.protocol != model::ProtocolKind::kSnmp) return;
        const Credential* credential = find_or_null(fleet_.credentials, plan.credentials);
        const bool is_v3 = plan.snmp.version == model::SnmpVersion::kV3;
        if (is_v3 && (credential == nullptr || credential->username.empty())) {
            warn(fmt::format("device/{}", plan.device), "snmp",
                 fmt::format("{} is to be asked by SNMPv3, but has no user; name a credential with "
                             "`username`",
                             plan.key));
        }
        if (!is_v3 && credential != nullptr && credential->snmp_auth != model::SnmpAuth::kNone) {
            warn(fmt::format("device/{}", plan.device), "snmp",
                 fmt::format("{} has a user of SNMPv3, but is asked by an older version; write "
                             "`snmp: {{version: 3}}`",
                             plan.key));
        }
    }

    void warn(const std::string& place, std::string field, std::string message) {
        if (!complained_.insert(place + message).second) return;
        diagnostics_.warning(places_.find(place), std::move(field), std::move(message));
    }

    void complain(const std::string& place, std::string field, std::string message) {
        if (!complained_.insert(place + message).second) return;
        diagnostics_.error(places_.find(place), std::move(field), std::move(message));
    }

    void complain_of_addon(const std::string& name, const Device& device,
                           const std::vector<std::string>& groups, const std::string& addon) {
        std::string place = fmt::format("device/{}", name);
        if (!device.addons.contains(addon)) {
            const auto owner = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
                return fleet_.groups.find(group)->second.addons.contains(addon);
            });
            place = fmt::format("group/{}", *owner);
        }
        complain(place + "/addons", "addons", missing_addon(addon));
    }

    void check_group_intervals(const model::Addon& addon, const Levels& levels) {
        std::vector<std::string_view> known;
        for (std::size_t i = 1; i < addon.groups.size(); ++i) known.push_back(addon.groups[i].name);
        for (const Level& level : levels.near) {
            for (const auto& [name, interval] : level.settings->group_intervals) {
                if (std::find(known.begin(), known.end(), name) != known.end()) continue;
                complain(fmt::format("{}/{}/group_intervals", level.kind, level.name),
                         "group_intervals",
                         fmt::format("addon {} has no poll group {}; {}", quoted(addon.name),
                                     quoted(name),
                                     known.empty() ? std::string("it has none")
                                                   : "it has " + document::word_list(known)));
            }
        }
    }

    // Sections that name addons without a device.
    void check_addon_names() {
        for (const auto& [name, settings] : fleet_.addons) {
            if (addons_.contains(name)) continue;
            complain("addon/" + name, "addons." + name, missing_addon(name));
        }
        for (const auto& [name, source] : fleet_.sources) {
            for (const std::string& addon : source.addons) {
                if (addons_.contains(addon)) continue;
                complain(fmt::format("source/{}/addons", name),
                         fmt::format("sources.{}.addons", name), missing_addon(addon));
            }
        }
        // A class may also be a type of jobs: only what looks mistyped is told.
        for (const auto& [name, options] : fleet_.classes) {
            const auto suggestion = base::nearest(name, addon_names_);
            if (addons_.contains(name) || !suggestion) continue;
            diagnostics_.warning(
                places_.find("class/" + name), "classes." + name,
                fmt::format("no addon has this name; did you mean {}?", *suggestion));
        }
    }

    std::string missing_addon(std::string_view name) const {
        const auto suggestion = base::nearest(name, addon_names_);
        return fmt::format("there is no addon {}; {}", quoted(name),
                           suggestion
                               ? fmt::format("did you mean {}?", *suggestion)
                               : std::string("`pollux addon ls` lists them, and --addons names the "
                                             "folder of your own"));
    }

    void check_scope(const std::set<std::string>& classes) {
        const AdaptiveScope& scope = settings_.adaptive_scope;
        for (const std::string& name : scope.names) {
            const bool known =
                (scope.kind == ScopeKind::kClasses && classes.contains(name)) ||
                (scope.kind == ScopeKind::kGroups && fleet_.groups.contains(name)) ||
                (scope.kind == ScopeKind::kTargets &&
                 std::any_of(result_.targets.begin(), result_.targets.end(),
                             [&](const TargetPlanInput& plan) { return plan.target == name; }));
            if (known) continue;
            diagnostics_.warning(
                {}, "POLLUX_ADAPTIVE_SCOPE",
                fmt::format("names {}, which the fleet does not have", quoted(name)));
        }
    }

    const Fleet& fleet_;
    const Places& places_;
    const AddonLookup& addons_;
    const Settings& settings_;
    const TargetIds& ids_;
    Diagnostics& diagnostics_;
    Membership membership_;
    std::vector<std::string_view> addon_names_;
    std::set<std::string, std::less<>> alert_types_;  // of all addons
    std::set<std::string> complained_;
    Expansion result_;
};

}  // namespace

Expansion expand(const Fleet& fleet, const Places& places, const AddonLookup& addons,
                 const Settings& settings, const TargetIds& ids, Diagnostics& diagnostics) {
    return Expander(fleet, places, addons, settings, ids, diagnostics).run();
}

}  // namespace pollux::config
