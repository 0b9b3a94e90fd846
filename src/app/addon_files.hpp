// Files of addons: reading them within bounds, finding the manifests below a folder. For commands
// and the server's start; blocking.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/fleet_files.hpp"
#include "base/result.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::app {

inline constexpr std::size_t kMaxManifestBytes = 1U << 20U;

// DIR/<name>/manifest.{yaml,yml,json} and DIR/<name>.{yaml,yml,json}, sorted. DIR may be an
// addon's own folder or a manifest itself.
base::Result<std::vector<std::string>> find_manifests(const std::string& path);

struct LoadedAddon {
    std::shared_ptr<const extract::CompiledAddon> addon;  // null: it has errors
    std::string origin;                                   // "shipped" or its file
    document::Diagnostics diagnostics;
};

// The shipped addons, with those of `folder` (may be empty) in place of or beside them; by name.
// A file with errors is listed too, after the others.
base::Result<std::vector<LoadedAddon>> load_addons(const std::string& folder);

}  // namespace pollux::app
