// Addons of OpsConductor are handed around as ZIP files: a manifest.json, sometimes with code
// beside it. Reads the manifest, in memory: nothing is unpacked, so no name in the archive can lead
// anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pollux::app {

inline constexpr std::size_t kMaxArchiveBytes = 16U << 20U;
inline constexpr std::size_t kMaxArchiveFiles = 1000;

bool is_archive(std::string_view bytes);

struct ArchivedManifest {
    std::string text;
    std::string name;                 // "addon.zip/axis/manifest.json", for messages
    std::vector<std::string> beside;  // other files, safe to show
};

// The manifest.json at the top, or in the only folder that has one. `file` names the archive in
// messages. Refuses what is damaged, encrypted, a link, has names that lead out of the archive, or
// is too large, whatever the archive says of its size: config error addon.archive.
base::Result<ArchivedManifest> read_archive(std::string_view bytes, const std::string& file);

}  // namespace pollux::app
