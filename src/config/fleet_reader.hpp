// Fleet files to a Fleet: texts in, values and complaints out. One file or many give the same
// result in any order; a name may be described once only, wherever that is.
//
//     document::Diagnostics diagnostics;
//     LoadedFleet loaded = read_fleet(files, diagnostics);
//     if (!diagnostics.ok()) return diagnostics.as_error("fleet.invalid");
#pragma once

#include <span>
#include <string>

#include "config/fleet.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config {

inline constexpr std::string_view kFleetSchema = "pollux-fleet/1";
inline constexpr std::size_t kMaxFleetFileBytes = 64U << 20U;

struct FileText {
    std::string file;  // as it is named in messages
    std::string text;
};

struct LoadedFleet {
    Fleet fleet;
    Places places;
};

// Checks each object on its own; check_fleet() checks them against each other. With errors in
// `diagnostics` the result is for further checks only.
LoadedFleet read_fleet(std::span<const FileText> files, document::Diagnostics& diagnostics);

}  // namespace pollux::config
