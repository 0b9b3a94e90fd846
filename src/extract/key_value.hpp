// Bodies of lines like `load = 0.5`: split at the first separator, blanks cut off, quotes around a
// value removed. Views into the body, which outlives the reader.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pollux::extract {

class KeyValues {
  public:
    static constexpr std::size_t kMaxLines = 10'000;

    // Lines without the separator and comment lines (#) are passed over; so are lines past the
    // bound.
    static KeyValues parse(std::string_view text, std::string_view separator);

    // Of equal keys the first.
    std::optional<std::string_view> find(std::string_view key) const;
    std::size_t size() const { return entries_.size(); }

  private:
    std::vector<std::pair<std::string_view, std::string_view>> entries_;  // sorted by key
};

}  // namespace pollux::extract
