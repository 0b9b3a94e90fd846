// Bodies of lines like `load = 0.5`: split at the first separator, blanks cut off, quotes around a
// value removed; and forms. Views into the body, which outlives the reader.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pollux::extract {

class KeyValues {
  public:
    static constexpr std::size_t kMaxLines = 10'000;

    KeyValues() = default;
    KeyValues(KeyValues&&) = default;
    KeyValues& operator=(KeyValues&&) = default;

    // Lines without the separator and comment lines (#) are passed over; so are lines past the
    // bound.
    static KeyValues parse(std::string_view text, std::string_view separator);

    // application/x-www-form-urlencoded: pairs between &, decoded.
    static KeyValues parse_form(std::string_view text);

    // Of equal keys the first.
    std::optional<std::string_view> find(std::string_view key) const;
    std::size_t size() const { return entries_.size(); }

  private:
    void sort();

    std::deque<std::string> decoded_;  // what the views of a form look at
    std::vector<std::pair<std::string_view, std::string_view>> entries_;  // sorted by key
};

}  // namespace pollux::extract
