// Tree to text. JSON is canonical: keys sorted, no blanks, one form per value, so that equal
// bodies are equal bytes. YAML is for people: the order is kept, and what is written reads back as
// the same tree.
#pragma once

#include <string>

#include "document/node.hpp"

namespace pollux::document {

std::string to_json(const Node& node);
std::string to_yaml(const Node& node);

// A text as a JSON string with its quotes.
std::string json_string(std::string_view text);

}  // namespace pollux::document
