// Numbers as pages show them: six digits behind the point are enough for people, and more would
// only be the noise of binary fractions.
#pragma once

#include <cmath>

namespace pollux::api {

inline double shown(double value) { return std::round(value * 1e6) / 1e6; }

}  // namespace pollux::api
