// The addons that come with the binary (folder addons/, embedded when it is built). A user's addon
// of the same name takes the place of a shipped one.
#pragma once

#include <span>
#include <string_view>

namespace pollux::extract {

struct ShippedAddon {
    std::string_view name;
    std::string_view file;  // "addons/<name>/manifest.yaml", for messages
    std::string_view manifest;
};

// Sorted by name.
std::span<const ShippedAddon> shipped_addons();

}  // namespace pollux::extract
