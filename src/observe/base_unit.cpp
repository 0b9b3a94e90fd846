#include "observe/base_unit.hpp"

#include <array>

namespace pollux::observe {
namespace {

struct Row {
    std::string_view unit;
    std::string_view base;
    double factor;
};

constexpr std::array<Row, 22> kRows = {{
    {"bits", "bytes", 0.125},          {"kilobits", "bytes", 125},
    {"megabits", "bytes", 125e3},      {"gigabits", "bytes", 125e6},
    {"kilobytes", "bytes", 1e3},       {"megabytes", "bytes", 1e6},
    {"gigabytes", "bytes", 1e9},       {"kibibytes", "bytes", 1024},
    {"mebibytes", "bytes", 1048576},   {"gibibytes", "bytes", 1073741824},
    {"nanoseconds", "seconds", 1e-9},  {"microseconds", "seconds", 1e-6},
    {"milliseconds", "seconds", 1e-3}, {"ms", "seconds", 1e-3},
    {"minutes", "seconds", 60},        {"hours", "seconds", 3600},
    {"days", "seconds", 86400},        {"millivolts", "volts", 1e-3},
    {"milliamperes", "amperes", 1e-3}, {"milliwatts", "watts", 1e-3},
    {"kilowatts", "watts", 1e3},       {"kilohertz", "hertz", 1e3},
}};

constexpr std::string_view kPerSecond = " per second";

}  // namespace

BaseUnit base_unit(std::string_view unit) {
    const bool rate = unit.ends_with(kPerSecond);
    const std::string_view plain = rate ? unit.substr(0, unit.size() - kPerSecond.size()) : unit;
    for (const Row& row : kRows) {
        if (row.unit != plain) continue;
        return {std::string(row.base) + (rate ? std::string(kPerSecond) : std::string()),
                row.factor};
    }
    return {std::string(unit), 1};
}

}  // namespace pollux::observe
