// Texts in columns: split at blanks or at a separator, with a header or names of their own, or by
// position. Each line becomes a row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extract/grok.hpp"

namespace pollux::extract {

struct TextTable {
    std::string separator;             // empty: any number of blanks
    std::vector<std::string> columns;  // empty: the first line names them
    // From the first to the last character, counted from 1; with it nothing is split. The last
    // may be 0: to the end of the line.
    std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>> fixed;
    std::size_t skip = 0;  // lines in front of the table

    // A list of objects, one per line that is not empty. Without a separator the last column takes
    // what is left of its line.
    std::string to_json(std::string_view text, std::size_t max_bytes) const;
};

// Lines, or the text as a whole, by a pattern with named parts.
struct GrokFormat {
    Grok grok;
    bool whole = false;

    // A list of objects, one per line that matches; with `whole` one at most.
    std::string to_json(std::string_view text, std::size_t max_bytes) const;
};

}  // namespace pollux::extract
