// Text to tree: YAML, or JSON, which is read by a strict reader of its own (surrogate pairs, no
// surprises, fast: stored bodies are JSON). Pure: takes text, never opens files.
//
// Refused, with place and reason: input past the bounds, text that is not UTF-8, duplicate keys,
// several documents, keys that are no scalars, merge keys, tags. Aliases are expanded and every
// copy counts against max_nodes, so a few lines cannot grow to gigabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "document/diagnostic.hpp"
#include "document/node.hpp"

namespace pollux::document {

struct ParseLimits {
    std::size_t max_bytes = 1U << 20U;
    std::size_t max_depth = 64;
    std::size_t max_nodes = 200'000;
};

struct Parsed {
    Node root;  // null if the text was empty or refused
    bool ok = false;
};

// An empty document is ok and null. At most one diagnostic: there is no reading on after a fault
// of syntax.
Parsed parse(std::string_view text, std::string file, Diagnostics& diagnostics,
             const ParseLimits& limits = {});

// JSON only (RFC 8259); parse() tries this first where the text begins like JSON.
Parsed parse_json(std::string_view text, std::string file, Diagnostics& diagnostics,
                  const ParseLimits& limits = {});

}  // namespace pollux::document
