// What a monitoring plugin prints: text, long text and performance data, by the rules of Nagios.
//
//     PING OK - Packet loss = 0%, RTA = 0.80 ms|percent_packet_loss=0%;20;60;0;100
//     long text, any number of lines|'one more'=3
//     'and more'=4;;;0
//
// Never fails: what cannot be read is left out and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::extract {

struct PerfValue {
    std::string label;
    std::optional<double> value;  // nothing: the plugin says U, not known
    std::string unit;             // as printed: "ms", "%", "c", "MB"
    std::string warning;          // ranges as printed; empty: none
    std::string critical;
    std::optional<double> low;
    std::optional<double> high;
    bool operator==(const PerfValue&) const = default;
};

struct PluginOutput {
    std::string text;       // the first line, without what terminals obey
    std::string long_text;  // the lines after it
    std::vector<PerfValue> values;
    std::uint32_t unreadable = 0;  // pieces of performance data that are none, or past the bound
};

inline constexpr std::size_t kMaxPerfValues = 1000;

PluginOutput parse_plugin_output(std::string_view output);

// Numbers of a unit made comparable: "ms" and "us" in seconds, "KB" and so on in bytes; any other
// unit is itself.
struct BaseUnit {
    std::string unit;  // "seconds", "bytes", "percent", "count", or as printed
    double factor = 1;
};
BaseUnit base_unit(std::string_view unit);

// 0 ok, 1 warning, 2 critical, 3 unknown: anything else is unknown.
std::int64_t plugin_state(int exit_status);

}  // namespace pollux::extract
