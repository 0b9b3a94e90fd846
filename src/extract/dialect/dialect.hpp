// Manifests of the system that people come from, in its three dialects: A ("universal": sections,
// alert_mappings), B (older names: interval_seconds, alerts_path, alert_condition) and C (flat
// maps by alert type). One is translated into the tree of a pollux/1 manifest, which is then read
// like any other; every part of the tree knows the line it came from.
//
// What changes in meaning, and every key that is passed over, is told as a warning at its line.
#pragma once

#include <string>

#include "document/diagnostic.hpp"
#include "document/node.hpp"

namespace pollux::extract {

// Whether the tree is such a manifest: it has `id` and `method`, and no `schema`.
bool is_imported(const document::Node& root);

// The tree of the same addon in our own dialect. Mistakes are added to `out`; the tree is then
// only good for finding more of them.
document::Node translate(const document::Node& root, document::Diagnostics& out);

}  // namespace pollux::extract
