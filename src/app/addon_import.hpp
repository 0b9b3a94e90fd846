// `pollux addon import`: takes a manifest of the system people come from, says line by line what
// changes in meaning, and writes the addon as one of our own.
#pragma once

#include <string>

#include "base/result.hpp"
#include "document/diagnostic.hpp"

namespace pollux::app {

struct ImportedAddon {
    std::string name;
    std::string manifest;  // in our own dialect, as YAML
    document::Diagnostics notes{1000};
    bool good = false;
};

// `file` only names it in messages. Not good: `notes` says why.
ImportedAddon import_addon(const std::string& text, const std::string& file);

// FOLDER/NAME/manifest.yaml, with its path as the result. Refuses to replace a file that says
// something else, unless `replace`.
base::Result<std::string> write_addon(const ImportedAddon& addon, const std::string& folder,
                                      bool replace);

// The command itself; its exit code.
int run_import(const std::string& file, const std::string& folder, bool replace);

}  // namespace pollux::app
