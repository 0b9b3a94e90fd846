// Random bits of the system, for ids.
#pragma once

#include <cstdint>
#include <utility>

namespace pollux::runtime {

std::pair<std::uint64_t, std::uint64_t> random_bits();

}  // namespace pollux::runtime
