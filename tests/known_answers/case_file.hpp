// A file of known answers: {"about": text, "vectors": [case...]}, and a case is
// {"name", "category", "inputs": {...}, "expected": {...}} with an optional "note" for people.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tests/known_answers/fields.hpp"

namespace pollux::known_answers {

struct Case {
    std::string name;  // "case 3" where the file gives none
    std::string category;
    boost::json::object inputs;
    boost::json::object expected;
    Problems problems;  // found while reading; the case cannot pass
};

using Cases = std::vector<Case>;

// Fails when the text as a whole cannot be used: not JSON, another shape, no case at all. What is
// wrong with a single case stays with that case, so that one bad entry does not hide the others.
base::Result<Cases> parse_cases(std::string_view text);

base::Result<Cases> load_cases(const std::string& path);

}  // namespace pollux::known_answers
