// The log of a server in logfmt, read line by line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::live {

struct LogLine {
    std::map<std::string, std::string, std::less<>> fields;

    std::string get(std::string_view field) const;  // empty if it has none
    std::string message() const { return get("msg"); }
    double seconds() const;  // Unix time of the line

    // A transition of a task has a number.
    bool is_change() const { return fields.contains("number"); }
    std::uint64_t number() const;
    bool committed() const { return get("provisional") == "false"; }
};

// The last line counts only with its end: what was being written when a process died is no line.
std::vector<LogLine> log_lines(std::string_view text);

// Those whose message begins so, of one key if it is given.
std::vector<LogLine> lines_with(const std::vector<LogLine>& lines, std::string_view message,
                                std::string_view key = "");

}  // namespace pollux::live
