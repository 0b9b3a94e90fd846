// Prometheus wants base units: seconds, bytes. Values keep their own unit everywhere else.
#pragma once

#include <string>
#include <string_view>

namespace pollux::observe {

struct BaseUnit {
    std::string unit;   // "bytes per second"
    double factor = 1;  // value in the base unit = value * factor
};

// A unit that is not known, or is a base unit already, stays as it is.
BaseUnit base_unit(std::string_view unit);

}  // namespace pollux::observe
