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
        std::vector<const GroupEntry*> list = direct_groups(device, others);
        add_ancestors(list);
        for (const GroupEntry* group : list) ++members_[group->first];
        if (!list.empty()) groups_.emplace(name, std::move(list));
    }
}

std::vector<const Membership::GroupEntry*> Membership::direct_groups(
    const Device& device, const std::set<std::string>& others) const {
    std::vector<const GroupEntry*> list;
    const auto add = [&](const std::string& name) {
        const auto found = fleet_.groups.find(name);
        if (found == fleet_.groups.end()) return;
        if (std::find(list.begin(), list.end(), &*found) == list.end()) list.push_back(&*found);
    };
    for (const std::string& name : device.groups) add(name);
    const std::size_t named = list.size();
    for (const std::string& name : others) add(name);
    // A group inside another one says more about its members than the outer one.
    std::stable_sort(
        list.begin() + static_cast<std::ptrdiff_t>(named), list.end(),
        [&](const GroupEntry* a, const GroupEntry* b) { return depth_of(*a) > depth_of(*b); });
    return list;
}

std::size_t Membership::depth_of(const GroupEntry& group) const {
    std::size_t depth = 0;
    const GroupEntry* current = &group;
    while (depth < kMaxGroupDepth) {
        const auto parent = fleet_.groups.find(current->second.parent);
        if (parent == fleet_.groups.end()) break;
        current = &*parent;
        ++depth;
    }
    return depth;
}

void Membership::add_ancestors(std::vector<const GroupEntry*>& list) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto parent = fleet_.groups.find(list[i]->second.parent);
        if (parent == fleet_.groups.end()) continue;
        // Each group is there at most once, so this ends even where parents form a circle.
        if (std::find(list.begin(), list.end(), &*parent) == list.end()) list.push_back(&*parent);
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
