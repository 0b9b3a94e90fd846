// The channels that come with the binary (folder channels/, embedded when it is built). One of the
// operator's own with the same name takes the place of a shipped one.
#pragma once

#include <span>
#include <string_view>

namespace pollux::feed {

struct ShippedChannel {
    std::string_view name;
    std::string_view file;  // "channels/<name>/channel.yaml", for messages
    std::string_view definition;
};

// Sorted by name.
std::span<const ShippedChannel> shipped_channels();

}  // namespace pollux::feed
