// Who is told of alerts, out of a fleet: the objects with their names, as alert/ takes them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fleet.hpp"
#include "document/diagnostic.hpp"
#include "model/notification.hpp"

namespace pollux::config {

std::vector<model::Receiver> receivers_of(const Fleet& fleet);
std::vector<model::NotifyRoute> routes_of(const Fleet& fleet);
// With the ids of the stored objects, by name; one that has none is called by its name.
std::vector<model::Silence> silences_of(const Fleet& fleet, const ByName<std::string>& ids);

// Zones live in files, which this folder does not read: the caller says whether there is one. Adds
// an error for each window of an unknown zone.
using ZoneCheck = std::function<base::Status(std::string_view zone)>;
void check_zones(const Fleet& fleet, const Places& places, const ZoneCheck& check,
                 document::Diagnostics& diagnostics);

// What is known of the templates of channels: they live above this folder. Immutable.
class ChannelRules {
  public:
    virtual ~ChannelRules() = default;
    // Why it cannot be used: its template is not there, it has a parameter that this one does not
    // take. Credentials count as given if they are named.
    virtual base::Status check(const model::Channel& channel) const = 0;
    // See model::Channel::digests.
    virtual bool digests(const model::Channel& channel) const = 0;
};
// Adds an error for each channel that cannot be used.
void check_channels(const ByName<model::Receiver>& receivers, const Places& places,
                    const ChannelRules& rules, document::Diagnostics& diagnostics);

}  // namespace pollux::config
