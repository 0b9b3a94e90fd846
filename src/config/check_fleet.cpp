#include "config/check_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/text.hpp"
#include "config/membership.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;

template <class Value>
std::vector<std::string_view> names_of(const ByName<Value>& map) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
}

class FleetCheck {
  public:
    FleetCheck(const Fleet& fleet, const Places& places, Diagnostics& diagnostics)
        : fleet_(fleet), places_(places), diagnostics_(diagnostics), membership_(fleet) {}

    void run() {
        check_devices();
        check_groups();
        check_targets();
        check_settings();
        check_sources();
        check_receivers();
        check_routes();
        check_group_cycles();
        check_parent_cycles();
        check_unused_credentials();
    }

  private:
    void error(const std::string& place, std::string field, std::string message) {
        diagnostics_.error(places_.find(place), std::move(field), std::move(message));
    }
    void warning(const std::string& place, std::string field, std::string message) {
        diagnostics_.warning(places_.find(place), std::move(field), std::move(message));
    }

    // "there is no group "x"; did you mean y?"
    template <class Value>
    static std::string missing(std::string_view kind, std::string_view name,
                               const ByName<Value>& known) {
        const auto suggestion = base::nearest(name, names_of(known));
        if (suggestion) {
            return fmt::format("there is no {} {}; did you mean {}?", kind, quoted(name),
                               *suggestion);
        }
        return fmt::format("there is no {} {}; describe it, or remove the reference", kind,
                           quoted(name));
    }

    void check_devices() {
        for (const auto& [name, device] : fleet_.devices) {
            const std::string place = "device/" + name;
            const std::string field = "devices." + name;
            for (const std::string& group : device.groups) {
                if (fleet_.groups.contains(group)) continue;
                error(place + "/groups", field + ".groups", missing("group", group, fleet_.groups));
            }
            for (const auto& any_of : device.parents) {
                for (const std::string& parent : any_of) {
                    if (fleet_.devices.contains(parent)) continue;
                    error(place + "/parents", field + ".parents",
                          missing("device", parent, fleet_.devices));
                }
            }
            if (membership_.addons_of(name).empty()) {
                warning(place, field,
                        "has no addons and is never polled; list some under `addons`, or in one "
                        "of its groups");
            }
            if (device.behind == Behind::kConnection && device.parents.empty()) {
                warning(place + "/behind", field + ".behind",
                        "is connection, but there are no parents that could hold it; list them "
                        "under `parents`");
            }
        }
    }

    void check_groups() {
        for (const auto& [name, group] : fleet_.groups) {
            const std::string place = "group/" + name;
            const std::string field = "groups." + name;
            if (!group.parent.empty() && !fleet_.groups.contains(group.parent)) {
                error(place + "/parent", field + ".parent",
                      missing("group", group.parent, fleet_.groups));
            }
            for (const std::string& member : group.members) {
                if (fleet_.devices.contains(member)) continue;
                std::string text = missing("device", member, fleet_.devices);
                // A source may list it later.
                if (fleet_.sources.empty()) {
                    error(place + "/members", field + ".members", std::move(text));
                } else {
                    warning(place + "/members", field + ".members", std::move(text));
                }
            }
            const bool by_source =
                std::any_of(fleet_.sources.begin(), fleet_.sources.end(), [&](const auto& source) {
                    return std::find(source.second.groups.begin(), source.second.groups.end(),
                                     name) != source.second.groups.end();
                });
            const bool may_match = !group.match.empty() && !fleet_.sources.empty();
            if (membership_.member_count(name) == 0 && !by_source && !may_match) {
                warning(place, field,
                        "has no members: no device names it, its `members` are empty and its "
                        "`match` fits none");
            }
        }
    }

    void check_targets() {
        if (fleet_.targets.empty()) return;
        const std::vector<std::string> keys = target_keys(fleet_);
        const std::vector<std::string_view> known(keys.begin(), keys.end());
        for (const auto& [key, settings] : fleet_.targets) {
            if (std::binary_search(keys.begin(), keys.end(), key)) continue;
            const auto suggestion = base::nearest(key, known);
            const std::string message =
                suggestion
                    ? fmt::format("there is no such target; did you mean {}?", *suggestion)
                    : std::string("there is no such target; the device does not have that addon");
            if (fleet_.sources.empty()) {
                error("target/" + key, "targets." + key, message);
            } else {
                warning("target/" + key, "targets." + key, message);
            }
        }
    }

    // Everything that holds poll settings, with its place and its field.
    void each_settings(const std::function<void(const std::string&, const std::string&,
                                                const PollSettings&)>& visit) const {
        const auto with_addons = [&](const std::string& place, const std::string& field,
                                     const PollSettings& own, const ByName<PollSettings>& addons) {
            visit(place, field, own);
            for (const auto& [name, settings] : addons) {
                visit(place + "/addons", fmt::format("{}.addons.{}", field, name), settings);
            }
        };
        visit("defaults", "defaults", fleet_.defaults.poll);
        for (const auto& [name, group] : fleet_.groups) {
            with_addons("group/" + name, "groups." + name, group.poll, group.addons);
        }
        for (const auto& [name, device] : fleet_.devices) {
            with_addons("device/" + name, "devices." + name, device.poll, device.addons);
        }
        for (const auto& [name, settings] : fleet_.targets) {
            visit("target/" + name, "targets." + name, settings);
        }
        for (const auto& [name, settings] : fleet_.addons) {
            visit("addon/" + name, "addons." + name, settings);
        }
    }

    void check_settings() {
        each_settings(
            [&](const std::string& place, const std::string& field, const PollSettings& settings) {
                if (settings.credentials) {
                    used_.insert(*settings.credentials);
                    if (!fleet_.credentials.contains(*settings.credentials)) {
                        error(place + "/credentials", field + ".credentials",
                              missing("credential", *settings.credentials, fleet_.credentials));
                    }
                }
                for (const auto& [name, amount] : settings.resources) {
                    const auto found = fleet_.resources.find(name);
                    if (found == fleet_.resources.end()) {
                        error(place + "/resources", field + ".resources",
                              missing("resource", name, fleet_.resources));
                    } else if (amount > found->second) {
                        error(place + "/resources", field + ".resources",
                              fmt::format("{} of resource {} are wanted, but it has only {}",
                                          amount, quoted(name), found->second));
                    }
                }
            });
    }

    void check_sources() {
        for (const auto& [name, source] : fleet_.sources) {
            const std::string place = "source/" + name;
            const std::string field = "sources." + name;
            if (!source.credentials.empty()) {
                used_.insert(source.credentials);
                if (!fleet_.credentials.contains(source.credentials)) {
                    error(place + "/credentials", field + ".credentials",
                          missing("credential", source.credentials, fleet_.credentials));
                }
            }
            for (const std::string& group : source.groups) {
                if (fleet_.groups.contains(group)) continue;
                error(place + "/groups", field + ".groups", missing("group", group, fleet_.groups));
            }
        }
    }

    void check_receivers() {
        for (const auto& [name, receiver] : fleet_.receivers) {
            for (const model::Channel& channel : receiver.channels) {
                if (channel.credentials.empty()) continue;
                used_.insert(channel.credentials);
                if (fleet_.credentials.contains(channel.credentials)) continue;
                error("receiver/" + name + "/channels",
                      fmt::format("receivers.{}.channels.{}.credentials", name, channel.name),
                      missing("credential", channel.credentials, fleet_.credentials));
            }
        }
    }

    void check_routes() {
        std::set<std::string_view> told;
        bool by_label = false;
        const auto check = [&](const std::vector<std::string>& names, const std::string& place,
                               const std::string& field) {
            for (const std::string& name : names) {
                told.insert(name);
                by_label = by_label || name.starts_with("label:");
                if (name.starts_with("label:") || fleet_.receivers.contains(name)) continue;
                error(place, field, missing("receiver", name, fleet_.receivers));
            }
        };
        for (const auto& [name, route] : fleet_.routes) {
            const std::string place = "route/" + name;
            const std::string field = "routes." + name;
            check(route.receivers, place + "/receivers", field + ".receivers");
            for (const model::EscalationStep& step : route.escalation) {
                check(step.receivers, place + "/escalation", field + ".escalation");
            }
        }
        for (const auto& [name, receiver] : fleet_.receivers) {
            if (told.contains(name) || by_label) continue;
            warning("receiver/" + name, "receivers." + name,
                    "is told by no route; name it under `receivers` of one");
        }
    }

    void check_group_cycles() {
        std::set<std::string_view> reported;
        for (const auto& [start, unused] : fleet_.groups) {
            std::vector<std::string_view> path;
            std::string_view current = start;
            while (!current.empty() && !reported.contains(current)) {
                const auto before = std::find(path.begin(), path.end(), current);
                if (before != path.end()) {
                    path.erase(path.begin(), before);
                    path.push_back(current);
                    reported.insert(path.begin(), path.end());
                    error(fmt::format("group/{}/parent", current),
                          fmt::format("groups.{}.parent", current),
                          fmt::format("is its own ancestor ({}); remove one of these parents",
                                      fmt::join(path, " -> ")));
                    break;
                }
                path.push_back(current);
                const auto found = fleet_.groups.find(current);
                current = found == fleet_.groups.end() ? std::string_view()
                                                       : std::string_view(found->second.parent);
            }
        }
    }

    // Depth first without recursion: chains of parents may be as long as the fleet.
    void check_parent_cycles() {
        enum class Colour { kOnPath, kDone };
        std::map<std::string_view, Colour> colours;
        struct Step {
            std::string_view name;
            std::vector<std::string_view> parents;
            std::size_t next = 0;
        };
        for (const auto& [start, unused] : fleet_.devices) {
            if (colours.contains(start)) continue;
            std::vector<Step> path;
            const auto enter = [&](std::string_view name) {
                colours[name] = Colour::kOnPath;
                path.push_back({name, parents_of(name), 0});
            };
            enter(start);
            while (!path.empty()) {
                Step& step = path.back();
                if (step.next == step.parents.size()) {
                    colours[step.name] = Colour::kDone;
                    path.pop_back();
                    continue;
                }
                const std::string_view parent = step.parents[step.next++];
                const auto colour = colours.find(parent);
                if (colour == colours.end()) {
                    enter(parent);
                } else if (colour->second == Colour::kOnPath) {
                    std::vector<std::string_view> names;
                    for (const Step& one : path) names.push_back(one.name);
                    report_cycle(names, parent);
                }
            }
        }
    }

    std::vector<std::string_view> parents_of(std::string_view name) const {
        std::vector<std::string_view> result;
        for (const auto& any_of : fleet_.devices.find(name)->second.parents) {
            for (const std::string& parent : any_of) {
                if (fleet_.devices.contains(parent)) result.push_back(parent);
            }
        }
        return result;
    }

    void report_cycle(std::vector<std::string_view> names, std::string_view closing) {
        names.erase(names.begin(), std::find(names.begin(), names.end(), closing));
        const std::string_view child = names.back();
        names.push_back(closing);
        constexpr std::size_t kShown = 10;
        if (names.size() > kShown) names.resize(kShown);
        error(fmt::format("device/{}/parents", child), fmt::format("devices.{}.parents", child),
              fmt::format("make the device its own ancestor ({}); remove one of these parents",
                          fmt::join(names, " -> ")));
    }

    void check_unused_credentials() {
        for (const auto& [name, credential] : fleet_.credentials) {
            if (used_.contains(name)) continue;
            warning("credential/" + name, "credentials." + name,
                    fmt::format("is used by nothing; remove it, or name it with `credentials: {}`",
                                name));
        }
    }

    const Fleet& fleet_;
    const Places& places_;
    Diagnostics& diagnostics_;
    Membership membership_;
    std::set<std::string> used_;
};

}  // namespace

void check_fleet(const Fleet& fleet, const Places& places, Diagnostics& diagnostics) {
    FleetCheck(fleet, places, diagnostics).run();
}

}  // namespace pollux::config
