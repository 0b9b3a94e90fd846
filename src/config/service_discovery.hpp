// Devices from the lists of other systems: the target groups of Prometheus' file_sd and http_sd.
// Text in, devices out; reading files and asking servers is the caller's part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/fleet.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config {

inline constexpr std::size_t kMaxDiscovered = 200'000;

// One host and port of a target group, with the labels of its group.
struct DiscoveredTarget {
    std::string host;
    std::uint16_t port = 0;  // 0: none given
    Labels labels;
    document::Mark mark;
};

// A list of maps {targets: ["host:port", ...], labels: {...}}, as JSON or YAML. With errors the
// devices found before stay as they are: the caller does not use a broken list.
std::vector<DiscoveredTarget> read_target_groups(std::string_view text, const std::string& file,
                                                 document::Diagnostics& diagnostics);

// The devices of one source, by name: addons, groups and labels as the source says. Several targets
// of one name (the same host with several ports) are one device if the port is the same; else their
// names carry the port. Labels that begin with `__` are dropped unless the map keeps them.
ByName<Device> make_devices(std::string_view source_name, const Source& source,
                            const std::vector<DiscoveredTarget>& targets,
                            document::Diagnostics& diagnostics);

// Adds them to a fleet. A device that is described already stays as it is and is told as a warning.
void add_devices(Fleet& fleet, ByName<Device> devices, const std::string& source_name,
                 document::Diagnostics& diagnostics);

}  // namespace pollux::config
