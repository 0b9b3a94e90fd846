// Who belongs to which group, and which addons a device has in the end.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/fleet.hpp"

namespace pollux::config {

bool matches(const Selector& selector, const Labels& labels);

// Made once per fleet; keeps references into it.
class Membership {
  public:
    explicit Membership(const Fleet& fleet);

    // Nearest first: the groups the device names, in its order; then those that list or match it,
    // inner ones before outer ones, then by name; then the parents of all these. Names of groups
    // that do not exist are left out; each is listed once.
    std::vector<const Group*> groups_of(std::string_view device) const;
    std::vector<std::string> group_names_of(std::string_view device) const;

    // The device's own addons and those of its groups, sorted.
    std::set<std::string> addons_of(std::string_view device) const;

    // Members of a group, or of a group below it.
    std::size_t member_count(std::string_view group) const;

  private:
    using GroupEntry = ByName<Group>::value_type;

    const std::vector<const GroupEntry*>* entries_of(std::string_view device) const;
    std::vector<const GroupEntry*> direct_groups(const Device& device,
                                                 const std::set<std::string>& others) const;
    std::size_t depth_of(const GroupEntry& group) const;
    void add_ancestors(std::vector<const GroupEntry*>& list) const;

    const Fleet& fleet_;
    std::map<std::string, std::vector<const GroupEntry*>, std::less<>> groups_;  // by device
    ByName<std::size_t> members_;                                                // by group
};

// Keys `addon::device` of all targets, sorted.
std::vector<std::string> target_keys(const Fleet& fleet);

}  // namespace pollux::config
