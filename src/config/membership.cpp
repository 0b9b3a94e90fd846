#include "config/membership.hpp"

#include <algorithm>

#include "model/task_key.hpp"

namespace pollux::config {
namespace {

constexpr std::size_t kMaxGroupDepth = 32;  // also ends a walk around a cycle

}  // namespace

bool matches(const Selector& selector, const Labels& labels) {
    return std::all_of(selector.begin(), selector.end(), [&](const auto& wanted) {
        const auto found = labels.find(wanted.first);
        if (found == labels.end()) return false;
        return std::any_of(wanted.second.begin(), wanted.second.end(), [&](const auto& value) {
            return value == "*" || value == found->second;
        });
    });
}

Membership::Membership(const Fleet& fleet) : fleet_(fleet) {
    ByName<std::vector<std::string>> listed;  // device -> groups that name it, by name
    for (const auto& [name, group] : fleet.groups) {
        members_[name] = 0;
        for (const std::string& member : group.members) {
            if (fleet.devices.contains(member)) listed[member].push_back(name);
        }
    }
    std::vector<const GroupEntry*> by_label;
    for (const auto& entry : fleet.groups) {
        if (!entry.second.match.empty()) by_label.push_back(&entry);
    }
    for (const auto& [name, device] : fleet.devices) {
        std::set<std::string> others(listed[name].begin(), listed[name].end());
        for (const GroupEntry* group : by_label) {
            if (matches(group->second.match, device.labels)) others.insert(group->first);
        }
        std::vector<const GroupEntry*> list;
        for (const std::string& group : device.groups) add_with_parents(group, list);
        for (const std::string& group : others) add_with_parents(group, list);
        for (const GroupEntry* group : list) ++members_[group->first];
        if (!list.empty()) groups_.emplace(name, std::move(list));
    }
}

void Membership::add_with_parents(const std::string& name,
                                  std::vector<const GroupEntry*>& list) const {
    std::string_view current = name;
    for (std::size_t depth = 0; depth < kMaxGroupDepth && !current.empty(); ++depth) {
        const auto found = fleet_.groups.find(current);
        if (found == fleet_.groups.end()) return;
        const GroupEntry* entry = &*found;
        // Its parents are there too then.
        if (std::find(list.begin(), list.end(), entry) != list.end()) return;
        list.push_back(entry);
        current = entry->second.parent;
    }
}

const std::vector<const Membership::GroupEntry*>* Membership::entries_of(
    std::string_view device) const {
    const auto found = groups_.find(device);
    return found == groups_.end() ? nullptr : &found->second;
}

std::vector<const Group*> Membership::groups_of(std::string_view device) const {
    std::vector<const Group*> result;
    if (const auto* entries = entries_of(device)) {
        for (const GroupEntry* entry : *entries) result.push_back(&entry->second);
    }
    return result;
}

std::vector<std::string> Membership::group_names_of(std::string_view device) const {
    std::vector<std::string> result;
    if (const auto* entries = entries_of(device)) {
        for (const GroupEntry* entry : *entries) result.push_back(entry->first);
    }
    return result;
}

std::set<std::string> Membership::addons_of(std::string_view device) const {
    std::set<std::string> result;
    const auto found = fleet_.devices.find(device);
    if (found == fleet_.devices.end()) return result;
    for (const auto& [addon, settings] : found->second.addons) result.insert(addon);
    for (const Group* group : groups_of(device)) {
        for (const auto& [addon, settings] : group->addons) result.insert(addon);
    }
    return result;
}

std::size_t Membership::member_count(std::string_view group) const {
    const auto found = members_.find(group);
    return found == members_.end() ? 0 : found->second;
}

std::vector<std::string> target_keys(const Fleet& fleet) {
    const Membership membership(fleet);
    std::vector<std::string> keys;
    for (const auto& [device, unused] : fleet.devices) {
        for (const std::string& addon : membership.addons_of(device)) {
            keys.push_back(model::make_task_key(addon, device));
        }
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace pollux::config
