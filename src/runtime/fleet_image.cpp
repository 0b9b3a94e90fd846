#include "runtime/fleet_image.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/siphash.hpp"
#include "base/text.hpp"

namespace pollux::runtime {
namespace {

// The engine's deadline comes after the drivers' own, so that a silent device is reported as what
// it is and only a driver that breaks its word is cut off.
constexpr base::Duration kDeadlineSlack = std::chrono::seconds(2);
// Told apart from the same task that may run: the core keeps 32 bits, and 0 means none.
constexpr std::uint64_t kPausedVersion = 0x7061'7573ULL;
constexpr base::Duration kShortestStale = std::chrono::minutes(5);

using Credentials = std::map<std::string, std::shared_ptr<const model::Credentials>, std::less<>>;

class ImageMaker {
  public:
    ImageMaker(const ImageInputs& inputs, document::Diagnostics& diagnostics)
        : in_(inputs), diagnostics_(diagnostics) {}

    FleetImage make() {
        resolve_credentials();
        config::AddonLookup lookup;
        for (const auto& [name, addon] : in_.addons) lookup.emplace(name, &addon->addon());
        FleetImage image;
        image.expansion =
            config::expand(in_.fleet, in_.places, lookup, in_.settings, in_.ids, diagnostics_);
        for (config::InboundInput& target : image.expansion.inbound) {
            if (in_.disabled.contains(target.addon)) target.enabled = false;
        }
        for (std::size_t i = 0; i < image.expansion.targets.size(); ++i) {
            const config::TargetPlanInput& target = image.expansion.targets[i];
            model::TaskSpec& spec = image.expansion.tasks[i];
            auto plan = std::make_shared<PollPlan>();
            fill(*plan, target, spec);
            if (in_.disabled.contains(target.addon)) pause(*plan, spec);
            image.plans.emplace(target.key, std::move(plan));
        }
        std::vector<model::ClassSettings> classes = image.expansion.classes;
        if (in_.jobs != nullptr) in_.jobs->add_classes(classes);
        image.settings = std::make_shared<const model::CoreSettings>(
            in_.settings.core(std::move(classes), image.expansion.resources));
        image.inbound = make_inbound_image({.fleet = in_.fleet,
                                            .places = in_.places,
                                            .expansion = image.expansion,
                                            .addons = in_.addons,
                                            .secrets = in_.secrets,
                                            .key = in_.inbound_key,
                                            .hears_traps = in_.hears_traps,
                                            .hears_http = in_.hears_http},
                                           diagnostics_);
        image.alerts = make_alert_image(in_.fleet, image);
        image.credentials = credentials_;
        return image;
    }

  private:
    void resolve_credentials() {
        for (const auto& [name, credential] : in_.fleet.credentials) {
            auto resolved = config::resolve(name, credential, in_.secrets);
            if (resolved) {
                credentials_[name] =
                    std::make_shared<const model::Credentials>(std::move(*resolved));
            } else {
                missing_[name] = resolved.error().message;
                diagnostics_.warning(in_.places.find("credential/" + name), "credentials." + name,
                                     resolved.error().message);
            }
        }
    }

    // The credentials of a target, with the community of the fleet file over them.
    base::Result<std::shared_ptr<const model::Credentials>> credentials_of(
        const config::TargetPlanInput& target) {
        std::shared_ptr<const model::Credentials> found;
        if (!target.credentials.empty()) {
            const auto missing = missing_.find(target.credentials);
            if (missing != missing_.end()) {
                return base::config_error("credentials.unavailable", missing->second);
            }
            const auto known = credentials_.find(target.credentials);
            if (known != credentials_.end()) found = known->second;
        }
        if (!target.snmp.community) return found;
        const std::string cache = target.credentials + "\n" + reveal(*target.snmp.community);
        const auto cached = with_community_.find(cache);
        if (cached != with_community_.end()) return cached->second;
        auto community = target.snmp.community->kind == config::SecretKind::kLiteral
                             ? base::Result<base::Secret>(target.snmp.community->literal)
                             : in_.secrets(*target.snmp.community);
        if (!community) return std::unexpected(community.error());
        auto both = found ? std::make_shared<model::Credentials>(*found)
                          : std::make_shared<model::Credentials>();
        both->community = std::move(*community);
        return with_community_[cache] = std::move(both);
    }

    void fill(PollPlan& plan, const config::TargetPlanInput& target, model::TaskSpec& spec) {
        plan.key = target.key;
        plan.class_name = target.addon;
        plan.device = target.device;
        plan.target_id = target.target_id;
        plan.group = target.group;
        plan.labels.assign(target.labels.begin(), target.labels.end());
        plan.shard = shard_of(target.addresses.front(), in_.shards);
        plan.history = in_.settings.history_enabled;
        plan.alerts = target.alerts;
        plan.stale_after =
            std::max(kShortestStale, 2 * std::max(spec.cadence.max, spec.cadence.base));
        base::Duration together{};
        const auto status = add_asks(plan, target, together);
        if (!status) {
            plan.problem = status.error().message;
            if (!status.error().code.starts_with("credentials.") &&
                !status.error().code.starts_with("secret.")) {
                diagnostics_.error(in_.places.find("device/" + target.device), target.key,
                                   status.error().message);
            }
            return;
        }
        spec.timeout = std::min(together, in_.settings.max_poll_timeout) + kDeadlineSlack;
    }

    static void pause(PollPlan& plan, model::TaskSpec& spec) {
        plan.paused = fmt::format(
            "addon {} is disabled, and all its targets with it: enable the "
            "addon first",
            base::quoted(plan.class_name));
        spec.enabled = false;
        spec.version = spec.version == kPausedVersion ? 1 : spec.version ^ kPausedVersion;
    }

    // Targets with the same parameters share what was compiled for them.
    base::Result<std::shared_ptr<const extract::CompiledAddon>> specialised(
        const std::shared_ptr<const extract::CompiledAddon>& addon,
        const config::Parameters& parameters) {
        const auto key = std::make_pair(addon.get(), parameters);
        const auto found = specialised_.find(key);
        if (found != specialised_.end()) return found->second;
        auto special = extract::specialise(addon, parameters);
        if (special) specialised_.emplace(key, *special);
        return special;
    }

    base::Status add_asks(PollPlan& plan, const config::TargetPlanInput& target,
                          base::Duration& together) {
        const auto addon = in_.addons.find(target.addon);
        if (addon == in_.addons.end()) {
            return base::config_error("addon.unknown",
                                      fmt::format("addon {} is not known", target.addon));
        }
        auto special = specialised(addon->second, target.params);
        if (!special) return std::unexpected(special.error());
        plan.addon = std::move(*special);
        auto credentials = credentials_of(target);
        if (!credentials) return std::unexpected(credentials.error());
        for (const std::string& address : target.addresses) {
            auto asks = plan.addon->asks(target.group, binding(target, address, *credentials));
            if (!asks) return std::unexpected(asks.error());
            if (plan.asks.empty()) {
                for (const auto& ask : *asks) together += ask->timeout;
            }
            plan.asks.push_back(std::move(*asks));
        }
        return {};
    }

    extract::TargetBinding binding(const config::TargetPlanInput& target,
                                   const std::string& address,
                                   std::shared_ptr<const model::Credentials> credentials) const {
        extract::TargetBinding bound;
        bound.host = address;
        bound.port = target.port.value_or(0);
        bound.device_name = target.device;
        bound.parameters = target.params;
        bound.credentials = std::move(credentials);
        if (target.timeout > base::Duration::zero()) bound.timeout = target.timeout;
        bound.resends = target.resends;
        bound.snmp_version = target.snmp.version;
        bound.snmp_fixed = {.max_varbinds = target.snmp.max_varbinds.value_or(0),
                            .max_repetitions = target.snmp.max_repetitions.value_or(0),
                            .parallel = target.snmp.parallel.value_or(0),
                            .bulk = target.snmp.bulk};
        const auto credential = in_.fleet.credentials.find(target.credentials);
        if (credential != in_.fleet.credentials.end()) {
            const config::Credential& known = credential->second;
            bound.auth = known.auth;
            bound.api_key_header = known.header;
            if (!known.username.empty()) {
                bound.auth_if_none = model::HttpAuth::kBasic;
            } else if (known.token) {
                bound.auth_if_none = model::HttpAuth::kBearer;
            }
        }
        bound.tls_verify = target.tls.verify;
        bound.tls_ca_file = target.tls.ca_file;
        bound.tls_pin_sha256 = target.tls.pin_sha256;
        return bound;
    }

    const ImageInputs& in_;
    document::Diagnostics& diagnostics_;
    Credentials credentials_;
    Credentials with_community_;  // by credential and community
    std::map<std::pair<const extract::CompiledAddon*, config::Parameters>,
             std::shared_ptr<const extract::CompiledAddon>>
        specialised_;
    std::map<std::string, std::string, std::less<>> missing_;  // credential -> why
};

bool same_asks(const PollPlan& a, const PollPlan& b) {
    const auto same = [](const std::shared_ptr<const model::Ask>& x,
                         const std::shared_ptr<const model::Ask>& y) {
        const bool credentials =
            x->credentials == y->credentials ||
            (x->credentials && y->credentials && *x->credentials == *y->credentials);
        return credentials && x->host == y->host && x->port == y->port &&
               x->timeout == y->timeout && x->resends == y->resends && x->request == y->request;
    };
    return std::ranges::equal(a.asks, b.asks, [&](const auto& x, const auto& y) {
        return std::ranges::equal(x, y, same);
    });
}

bool same_plan(const PollPlan& a, const PollPlan& b) {
    return same_asks(a, b) && a.target_id == b.target_id && a.device == b.device &&
           a.labels == b.labels && a.shard == b.shard && a.stale_after == b.stale_after &&
           a.history == b.history && a.problem == b.problem && a.paused == b.paused &&
           a.group == b.group && a.alerts == b.alerts &&
           (a.addon == b.addon || (a.addon && b.addon && a.addon->same_as(*b.addon)));
}

template <class T, class Name>
std::map<std::string, const T*, std::less<>> by_name(const std::vector<T>& all, Name T::* name) {
    std::map<std::string, const T*, std::less<>> map;
    for (const T& one : all) map.emplace(one.*name, &one);
    return map;
}

}  // namespace

std::size_t shard_of(std::string_view host, std::size_t shards) {
    constexpr base::SipKey kShardKey{0x73686172640001ULL, 0};
    return static_cast<std::size_t>(base::siphash24(kShardKey, host) %
                                    std::max<std::size_t>(shards, 1));
}

FleetImage make_image(const ImageInputs& inputs, document::Diagnostics& diagnostics) {
    return ImageMaker(inputs, diagnostics).make();
}

CoreEdit difference(const FleetImage& before, const FleetImage& after) {
    CoreEdit edit;
    if (!before.settings || *before.settings != *after.settings) edit.settings = after.settings;
    const auto old_devices = by_name(before.expansion.devices, &model::DeviceSpec::name);
    for (const model::DeviceSpec& device : after.expansion.devices) {
        const auto old = old_devices.find(device.name);
        if (old == old_devices.end() || *old->second != device) edit.devices.push_back(device);
    }
    const auto old_tasks = by_name(before.expansion.tasks, &model::TaskSpec::key);
    auto upserted = std::make_shared<std::vector<model::TaskSpec>>();
    for (const model::TaskSpec& task : after.expansion.tasks) {
        const auto old = old_tasks.find(task.key);
        if (old == old_tasks.end() || *old->second != task) upserted->push_back(task);
    }
    edit.upserted = std::move(upserted);
    for (const auto& [key, task] : old_tasks) {
        if (!after.plans.contains(key)) edit.removed.push_back(key);
    }
    for (const auto& [key, plan] : after.plans) {
        const auto old = before.plans.find(key);
        if (old != before.plans.end() && same_plan(*old->second, *plan)) continue;
        edit.plans.push_back(plan);
        const bool asked_otherwise = old != before.plans.end() && !same_asks(*old->second, *plan);
        if (asked_otherwise) edit.poked.push_back(key);
    }
    return edit;
}

}  // namespace pollux::runtime
