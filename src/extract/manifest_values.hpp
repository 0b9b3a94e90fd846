// Small texts of a manifest with a meaning of their own. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace pollux::extract {

// 4096, 64KiB, 4MiB; nothing: no size from 1 byte up to `most`.
std::optional<std::uint64_t> parse_size(std::string_view text, std::uint64_t most);

// 200, 200-299; nothing: no range within low to high.
std::optional<std::pair<int, int>> parse_range(std::string_view text, int low, int high);

}  // namespace pollux::extract
