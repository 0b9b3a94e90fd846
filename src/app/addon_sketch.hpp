// The beginning of an addon, made from something captured: the walk of an SNMP agent, the JSON of
// an API, or lines of keys and values. It compiles and its case passes; names, units, help and
// conditions are for a person to improve.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pollux::app {

struct Sketch {
    std::string manifest;              // YAML
    std::string test_case;             // YAML; names the captured file beside it
    std::string captured_name;         // of that file
    std::vector<std::string> remarks;  // what was left out, and why
};

inline constexpr std::size_t kMaxSketchMetrics = 200;

// Fails with sketch.unreadable, naming the forms that are understood.
base::Result<Sketch> sketch_addon(const std::string& name, std::string_view captured);

// By form; for sketch_addon().
base::Result<Sketch> sketch_snmp(const std::string& name, std::string_view walk);
base::Result<Sketch> sketch_json(const std::string& name, std::string_view body);
base::Result<Sketch> sketch_key_value(const std::string& name, std::string_view body,
                                      std::string_view separator);

// A name for a metric from any text: small letters, digits and _, not taken yet.
std::string fresh_identifier(std::string_view text, std::vector<std::string>& taken);

}  // namespace pollux::app
