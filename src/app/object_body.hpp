// Bodies of objects as people change them on the command line: `--set tier=high`,
// `--set params.port=8443`, `--unset interval`, `--secret password`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "document/node.hpp"
#include "document/parse.hpp"

namespace pollux::app {

struct BodyEdits {
    std::string from_file;            // YAML or JSON; "-": standard input
    std::vector<std::string> set;     // path=value; a value in [] or {} is YAML
    std::vector<std::string> unset;   // path
    std::vector<std::string> labels;  // name=value
    std::vector<std::string> addons;  // names
    std::string address;
    std::vector<std::string> secrets;  // names of fields that are asked for
    bool empty() const;
};

// A map from a YAML or JSON file; "-" is standard input. Fails with client.usage, with the line.
base::Result<document::Node> read_map_file(const std::string& path,
                                           const document::ParseLimits& limits = {});

// The body with the edits. `credential`: a value that is a secret itself is refused, for arguments
// can be seen by others; references such as file:/path are fine. Fails with client.usage.
base::Result<document::Node> edited_body(document::Node body, const BodyEdits& edits,
                                         bool credential);

}  // namespace pollux::app
