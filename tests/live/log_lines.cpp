#include "tests/live/log_lines.hpp"

#include <cstdlib>
#include <ctime>

namespace pollux::live {
namespace {

std::string take_value(std::string_view& rest) {
    std::string value;
    if (!rest.starts_with('"')) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        value = rest.substr(0, end);
        rest.remove_prefix(end);
        return value;
    }
    rest.remove_prefix(1);
    while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && rest.size() > 1) {
            rest.remove_prefix(1);
            value += rest[0] == 'n' ? '\n' : rest[0] == 't' ? '\t' : rest[0];
        } else {
            value += rest[0];
        }
        rest.remove_prefix(1);
    }
    rest.remove_prefix(rest.empty() ? 0 : 1);
    return value;
}

LogLine line_of(std::string_view rest) {
    LogLine line;
    while (true) {
        const std::size_t equals = rest.find('=');
        if (equals == std::string_view::npos) return line;
        std::string field(rest.substr(0, equals));
        rest.remove_prefix(equals + 1);
        line.fields[std::move(field)] = take_value(rest);
        if (rest.starts_with(' ')) rest.remove_prefix(1);
    }
}

}  // namespace

std::string LogLine::get(std::string_view field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? "" : found->second;
}

double LogLine::seconds() const {
    const std::string text = get("time");
    std::tm parts{};
    const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) return 0;
    const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
    return static_cast<double>(timegm(&parts)) + fraction;
}

std::uint64_t LogLine::number() const { return std::strtoull(get("number").c_str(), nullptr, 10); }

std::vector<LogLine> log_lines(std::string_view text) {
    std::vector<LogLine> lines;
    std::size_t end = text.find('\n');
    while (end != std::string_view::npos) {
        if (text.starts_with("time=")) lines.push_back(line_of(text.substr(0, end)));
        text.remove_prefix(end + 1);
        end = text.find('\n');
    }
    return lines;
}

std::vector<LogLine> lines_with(const std::vector<LogLine>& lines, std::string_view message,
                                std::string_view key) {
    std::vector<LogLine> found;
    for (const LogLine& line : lines) {
        if (!line.message().starts_with(message)) continue;
        if (key.empty() || line.get("key") == key) found.push_back(line);
    }
    return found;
}

}  // namespace pollux::live
