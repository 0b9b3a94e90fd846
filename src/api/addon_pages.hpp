// Addons as JSON: where they come from, and what they read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/json_writer.hpp"
#include "runtime/fleet_view.hpp"

namespace pollux::api {

using AddonCounts = std::map<std::string, std::size_t, std::less<>>;

// How many targets use each.
AddonCounts targets_by_addon(const runtime::FleetView& view);

// shipped, file (of the server's folder of addons) or api. The addon must be there.
std::string_view addon_origin(const runtime::FleetView& view, std::string_view name);

// One line of the list, or with `details` one page. The addon must be there.
void write_addon(document::JsonWriter& json, const runtime::FleetView& view,
                 const AddonCounts& counts, std::string_view name, bool details);

// Of what is stored about it; 0: nothing is.
std::uint64_t addon_revision(const runtime::FleetView& view, std::string_view name);

}  // namespace pollux::api
