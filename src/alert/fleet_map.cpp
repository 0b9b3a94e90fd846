#include "alert/fleet_map.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace pollux::alert {
namespace {

bool fails(const TargetState& target) {
    const bool bad = target.health == Health::kSuspect || target.health == Health::kDown;
    return target.facts->enabled && bad && !target.permanent;
}

bool is_default(const TargetState& state) {
    return state.health == Health::kUp && !state.permanent && !state.told_down;
}

bool is_default(const DeviceState& state) {
    return !state.down && state.believed_since == base::BootTime::min() &&
           state.answered_at == base::BootTime::min() && state.asked_at == base::BootTime::min() &&
           state.failing_since == base::BootTime::max();
}

}  // namespace

FleetMap::FleetMap(base::SipKey key) : key_(key), fleet_(std::make_shared<const AlertFleet>()) {}

std::uint32_t FleetMap::target_by_key(std::string_view key) const {
    return by_key_.find(base::siphash24(key_, key),
                        [&](std::uint32_t at) { return targets_[at].facts->key == key; });
}

std::uint32_t FleetMap::target_by_id(std::string_view id) const {
    return by_id_.find(base::siphash24(key_, id),
                       [&](std::uint32_t at) { return targets_[at].facts->id == id; });
}

std::uint32_t FleetMap::device_by_name(std::string_view name) const {
    return by_name_.find(base::siphash24(key_, name),
                         [&](std::uint32_t at) { return devices_[at].name == name; });
}

std::uint32_t FleetMap::add_device(std::string_view name) {
    const std::uint32_t known = device_by_name(name);
    if (known != kNone) return known;
    const auto at = static_cast<std::uint32_t>(devices_.size());
    devices_.emplace_back().name = name;
    by_name_.insert(base::siphash24(key_, name), at);
    return at;
}

void FleetMap::link(const DeviceFacts& facts) {
    const std::uint32_t child = add_device(facts.name);
    for (const auto& names : facts.parents) {
        std::vector<std::uint32_t> group;
        for (const std::string& name : names) {
            const std::uint32_t parent = add_device(name);
            if (parent == child || std::ranges::find(group, parent) != group.end()) continue;
            group.push_back(parent);
            auto& children = devices_[parent].children;
            if (std::ranges::find(children, child) == children.end()) children.push_back(child);
        }
        if (!group.empty()) devices_[child].parents.push_back(std::move(group));
    }
}

void FleetMap::load(std::shared_ptr<const AlertFleet> fleet) {
    POLLUX_CHECK(fleet != nullptr);
    const auto old_fleet = std::exchange(fleet_, std::move(fleet));  // old facts point into it
    const auto old_targets = std::exchange(targets_, {});
    const auto old_devices = std::exchange(devices_, {});
    const base::FlatIndex old_ids = std::exchange(by_id_, {});
    by_key_.clear();
    by_name_.clear();
    tops_.clear();
    failing_.clear();
    doubtful_.clear();
    monitored_ = 0;
    ++explanations_;
    targets_.reserve(fleet_->targets.size());
    for (const TargetFacts& facts : fleet_->targets) {
        const auto at = static_cast<std::uint32_t>(targets_.size());
        const std::uint32_t device = add_device(facts.device);
        TargetState& state = targets_.emplace_back();
        state.facts = &facts;
        state.device = device;
        by_key_.insert(base::siphash24(key_, facts.key), at);
        by_id_.insert(base::siphash24(key_, facts.id), at);
        devices_[device].targets.push_back(at);
        devices_[device].monitored |= facts.enabled;
    }
    for (const DeviceFacts& facts : fleet_->devices) link(facts);
    carry_over(old_targets, old_ids, old_devices);
    for (std::uint32_t at = 0; at < devices_.size(); ++at) {
        if (!devices_[at].monitored) continue;
        ++monitored_;
        if (ancestors(at).empty()) tops_.push_back(at);
    }
}

void FleetMap::carry_over(const std::vector<TargetState>& targets, const base::FlatIndex& by_id,
                          const std::vector<DeviceState>& devices) {
    for (std::uint32_t at = 0; at < targets_.size(); ++at) {
        const std::string& id = targets_[at].facts->id;
        const std::uint32_t old = by_id.find(base::siphash24(key_, id), [&](std::uint32_t other) {
            return targets[other].facts->id == id;
        });
        if (old == kNone) continue;
        targets_[at].health = targets[old].health;
        targets_[at].permanent = targets[old].permanent;
        targets_[at].told_down = targets[old].told_down;
    }
    changed_targets_.clear();
    changed_devices_.clear();
    for (const TargetState& old : targets) {
        if (!is_default(old) && target_by_id(old.facts->id) == kNone) {
            gone_.push_back({std::string(kTargetPrefix) + old.facts->id, {}});
        } else if (old.changed) {
            mark_target(target_by_id(old.facts->id));
        }
    }
    for (const DeviceState& old : devices) {
        const std::uint32_t at = device_by_name(old.name);
        if (at == kNone) {
            if (!is_default(old)) gone_.push_back({std::string(kDevicePrefix) + old.name, {}});
            continue;
        }
        DeviceState& state = devices_[at];
        state.down = old.down;
        state.believed_since = old.believed_since;
        state.answered_at = old.answered_at;
        state.asked_at = old.asked_at;
        state.failing_since = old.failing_since;
        if (state.failing_since != base::BootTime::max())
            failing_.insert({state.failing_since, at});
        if (old.changed) mark_device(at);
        refresh_doubt(at);
    }
}

FleetMap::Believed FleetMap::believe(std::uint32_t device, bool down, base::BootTime now) {
    DeviceState& state = devices_[device];
    // What was asked for is answered; hearing it again is no news.
    if (state.asked_at > state.answered_at) {
        state.answered_at = now;
        mark_device(device);
    }
    if (state.down == down) return Believed::kAsBefore;
    state.down = down;
    state.believed_since = now;
    state.answered_at = now;
    mark_device(device);
    return down ? Believed::kDown : Believed::kUp;
}

FleetMap::Believed FleetMap::set_health(std::uint32_t target, Health health, Fault fault,
                                        bool told_down, base::BootTime now) {
    TargetState& state = targets_[target];
    const bool up = health == Health::kUp;
    const bool permanent = !up && fault != Fault::kSilence;
    if (state.health != health || state.permanent != permanent || state.told_down != told_down) {
        state.health = health;
        state.permanent = permanent;
        state.told_down = told_down;
        mark_target(target);
    }
    Believed out = Believed::kAsBefore;
    if (up || fault == Fault::kAnswer) {
        out = believe(state.device, false, now);
    } else if (told_down && !permanent) {
        const auto& all = devices_[state.device].targets;
        const bool every = std::ranges::all_of(all, [&](std::uint32_t other) {
            return !targets_[other].facts->enabled ||
                   (targets_[other].told_down && fails(targets_[other]));
        });
        if (every) out = believe(state.device, true, now);
    }
    refresh_failing(state.device, now);
    return out;
}

FleetMap::Believed FleetMap::verified(std::uint32_t device, bool up, base::BootTime now) {
    devices_[device].asked_at = std::max(devices_[device].asked_at, now);  // also if unasked
    devices_[device].answered_at = base::BootTime::min();
    const Believed out = believe(device, !up, now);
    refresh_failing(device, now);
    return out;
}

void FleetMap::refresh_failing(std::uint32_t device, base::BootTime now) {
    DeviceState& state = devices_[device];
    const bool failing = state.down || std::ranges::any_of(state.targets, [&](std::uint32_t at) {
                             return fails(targets_[at]);
                         });
    refresh_doubt(device);
    const bool before = state.failing_since != base::BootTime::max();
    if (failing == before) return;
    if (before) failing_.erase({state.failing_since, device});
    state.failing_since = failing ? now : base::BootTime::max();
    if (failing) failing_.insert({now, device});
    mark_device(device);
}

void FleetMap::refresh_doubt(std::uint32_t device) {
    DeviceState& state = devices_[device];
    const bool doubted =
        state.down && state.monitored &&
        std::ranges::none_of(state.targets, [&](std::uint32_t at) { return fails(targets_[at]); });
    const base::BootTime since =
        doubted ? std::max(state.answered_at, state.asked_at) : base::BootTime::max();
    if (since == state.doubted_since) return;
    if (state.doubted_since != base::BootTime::max())
        doubtful_.erase({state.doubted_since, device});
    state.doubted_since = since;
    if (doubted) doubtful_.insert({since, device});
}

bool FleetMap::ask(std::uint32_t device, base::BootTime now, base::Duration timeout) {
    DeviceState& state = devices_[device];
    if (state.asked_at > state.answered_at && now - state.asked_at < timeout) return false;
    return ask_again(device, now);
}

bool FleetMap::ask_again(std::uint32_t device, base::BootTime now) {
    DeviceState& state = devices_[device];
    if (state.asked_at == now) return false;  // asked and answered at this very moment
    state.asked_at = now;
    refresh_doubt(device);
    mark_device(device);
    return true;
}

std::optional<FleetMap::Above> FleetMap::dead(std::uint32_t device, Walk& walk) const {
    for (const auto& [known, result] : walk) {
        if (known == device) return result;
    }
    if (walk.size() > kMostAncestors) return std::nullopt;
    // While it is being looked at it counts as alive, so a loop in the topology ends here.
    const std::size_t place = walk.size();
    walk.emplace_back(device, std::nullopt);
    const DeviceState& state = devices_[device];
    std::optional<Above> result = above(device, walk);
    if (state.monitored && state.down) {
        if (!result) result = Above{device, state.believed_since};
    } else if (result && state.monitored && state.answered_at >= result->since) {
        result = std::nullopt;
    }
    walk[place].second = result;
    return result;
}

std::optional<FleetMap::Above> FleetMap::above(std::uint32_t device, Walk& walk) const {
    for (const auto& group : devices_[device].parents) {
        std::optional<Above> first;
        bool all = true;
        for (const std::uint32_t parent : group) {
            const auto found = dead(parent, walk);
            all = all && found;
            if (!all) break;
            if (!first) first = found;
        }
        if (all) return first;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> FleetMap::root_of(std::uint32_t device) const {
    if (devices_[device].parents.empty()) return std::nullopt;
    Walk walk = {{device, std::nullopt}};
    const auto found = above(device, walk);
    if (!found) return std::nullopt;
    return found->root;
}

std::vector<std::uint32_t> FleetMap::ancestors(std::uint32_t device) const {
    std::vector<std::uint32_t> way = {device};
    for (std::size_t at = 0; at < way.size() && way.size() <= kMostAncestors; ++at) {
        for (const auto& group : devices_[way[at]].parents) {
            for (const std::uint32_t parent : group) {
                if (std::ranges::find(way, parent) == way.end()) way.push_back(parent);
            }
        }
    }
    way.erase(way.begin());
    std::erase_if(way, [&](std::uint32_t at) { return !devices_[at].monitored; });
    if (way.size() > kMostAncestors) way.resize(kMostAncestors);
    return way;
}

std::vector<std::uint32_t> FleetMap::below(std::uint32_t device) const {
    std::vector<std::uint32_t> out = {device};
    if (devices_[device].children.empty()) return out;
    std::vector<bool> seen(devices_.size());
    seen[device] = true;
    for (std::size_t at = 0; at < out.size(); ++at) {
        for (const std::uint32_t child : devices_[out[at]].children) {
            if (seen[child]) continue;
            seen[child] = true;
            out.push_back(child);
        }
    }
    return out;
}

void FleetMap::mark_target(std::uint32_t target) {
    if (std::exchange(targets_[target].changed, true)) return;
    changed_targets_.push_back(target);
}

void FleetMap::mark_device(std::uint32_t device) {
    ++devices_[device].revision;
    if (!devices_[device].children.empty()) ++explanations_;
    if (std::exchange(devices_[device].changed, true)) return;
    changed_devices_.push_back(device);
}

}  // namespace pollux::alert
