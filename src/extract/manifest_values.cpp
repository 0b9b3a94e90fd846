#include "extract/manifest_values.hpp"

#include "document/scalar.hpp"

namespace pollux::extract {

std::optional<std::uint64_t> parse_size(std::string_view text, std::uint64_t most) {
    std::uint64_t unit = 1;
    if (text.ends_with("KiB")) unit = 1U << 10U;
    if (text.ends_with("MiB")) unit = 1U << 20U;
    if (unit > 1) text.remove_suffix(3);
    const auto number = document::parse_unsigned(text);
    if (!number || *number == 0 || *number > most / unit) return std::nullopt;
    return *number * unit;
}

std::optional<std::pair<int, int>> parse_range(std::string_view text, int low, int high) {
    const std::size_t dash = text.find('-');
    const auto first = document::parse_integer(text.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : document::parse_integer(text.substr(dash + 1));
    if (!first || !last || *first < low || *last > high || *first > *last) return std::nullopt;
    return std::pair(static_cast<int>(*first), static_cast<int>(*last));
}

}  // namespace pollux::extract
