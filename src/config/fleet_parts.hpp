// The parts of a fleet as trees: what files and stored bodies have in common. Used by
// fleet_reader.cpp, fleet_export.cpp and objects.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/fleet.hpp"
#include "document/diagnostic.hpp"
#include "document/map_reader.hpp"
#include "document/node.hpp"

namespace pollux::config::parts {

// How one map is read: its tree, its path for messages, and where complaints go.
struct Input {
    const document::Node& node;
    std::string path;
    document::Diagnostics& diagnostics;
};

// Each reads one whole map, complains about unknown keys, and goes on after a mistake. A `name`
// in the map is the business of the caller.
Device read_device(const Input& input);
Group read_group(const Input& input);
Defaults read_defaults(const Input& input);
PollSettings read_target(const Input& input);  // one entry of `targets`
PollSettings read_addon(const Input& input);   // one entry of `addons`
ClassOptions read_class(const Input& input);
Credential read_credential(const Input& input);
Source read_source(const Input& input);
model::Receiver read_receiver(const Input& input);
model::NotifyRoute read_route(const Input& input);
model::Silence read_silence(const Input& input);

document::Node write(const Device& device);
document::Node write(const Group& group);
document::Node write(const Defaults& defaults);
document::Node write(const PollSettings& settings);
document::Node write(const ClassOptions& options);
// With `reveal_literals` the tree holds secrets: only for what is sealed at once. Without it a
// literal becomes `vault:<name>/<part>`, the place where it is sealed.
document::Node write(const Credential& credential, std::string_view name, bool reveal_literals);
document::Node write(const Source& source);
document::Node write(const model::Receiver& receiver);
document::Node write(const model::NotifyRoute& route);
document::Node write(const model::Silence& silence);

// Whether settings are of one addon: only then the names of its poll groups mean something.
enum class Reach : std::uint8_t { kOneAddon, kAllAddons };

// Shared by the readers above; they add to a map that the caller finishes.
void read_poll(document::MapReader& reader, document::Diagnostics& diagnostics, Reach reach,
               PollSettings& settings);
void read_device_settings(document::MapReader& reader, document::Diagnostics& diagnostics,
                          DeviceSettings& settings);
ByName<AlertSettings> read_alerts(document::MapReader& reader, document::Diagnostics& diagnostics);
IntervalRange read_interval(document::MapReader& reader, document::Diagnostics& diagnostics);
void write_poll(document::Node& node, const PollSettings& settings);
void write_device_settings(document::Node& node, const DeviceSettings& settings);
void write_interval(document::Node& node, const IntervalRange& interval);

// The NFC form of a name, or nothing and a complaint.
std::optional<std::string> read_name(std::string_view kind, std::string_view text,
                                     const document::Mark& mark, std::string_view field,
                                     document::Diagnostics& diagnostics);
// A list of names, or a single one; doubles are errors.
std::vector<std::string> read_names(document::MapReader& reader, std::string_view key,
                                    std::string_view kind, document::Diagnostics& diagnostics);
// A map of names and short texts: labels, parameters.
ByName<std::string> read_texts(document::MapReader& reader, std::string_view key,
                               document::Diagnostics& diagnostics);

document::Node alerts_node(const ByName<AlertSettings>& alerts);
document::Node names_node(const std::vector<std::string>& names);
document::Node texts_node(const ByName<std::string>& texts);
document::Node duration_node(base::Duration duration);

}  // namespace pollux::config::parts
