#include "extract/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "extract/json_text.hpp"

namespace pollux::extract {
namespace {

constexpr std::size_t kMaxLines = 10'000;
constexpr std::size_t kMaxColumns = 256;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

void each_line(std::string_view text, const std::function<bool(std::string_view)>& take) {
    std::size_t lines = 0;
    while (!text.empty() && lines++ < kMaxLines) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!take(line)) return;
    }
}

std::vector<std::string_view> split(std::string_view line, std::string_view separator,
                                    std::size_t most) {
    std::vector<std::string_view> out;
    line = trimmed(line);
    while (!line.empty() || !out.empty()) {
        const std::size_t at = separator.empty() ? line.find_first_of(" \t") : line.find(separator);
        const bool last = at == std::string_view::npos || out.size() + 1 >= most;
        out.push_back(trimmed(last ? line : line.substr(0, at)));
        if (last) break;
        line.remove_prefix(at + std::max<std::size_t>(separator.size(), 1));
        if (!separator.empty()) continue;
        line = trimmed(line);
        if (line.empty()) break;
    }
    return out;
}

}  // namespace

std::string TextTable::to_json(std::string_view text, std::size_t max_bytes) const {
    JsonText out(max_bytes);
    std::vector<std::string> names = columns;
    std::size_t skipped = 0;
    out.begin_array();
    each_line(text, [&](std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (skipped < skip) {
            ++skipped;
            return true;
        }
        if (trimmed(line).empty()) return true;
        if (!fixed.empty()) {
            out.begin_object();
            for (const auto& [name, place] : fixed) {
                const std::size_t first = std::min(place.first - 1, line.size());
                const std::size_t last = place.second == 0 ? line.size() : place.second;
                out.key(name);
                out.text(trimmed(line.substr(first, last > first ? last - first : 0)));
            }
            out.end_object();
            return !out.full();
        }
        const bool header = names.empty();
        // The header has no end to go by; a line has as many columns as there are names.
        const std::size_t most = header || !separator.empty() ? kMaxColumns : names.size();
        const auto cells = split(line, separator, most);
        if (header) {
            std::set<std::string> taken;
            for (const std::string_view cell : cells) {
                std::string name(cell);
                while (!taken.insert(name).second) name += "_";
                names.push_back(std::move(name));
            }
            return true;
        }
        out.begin_object();
        for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i) {
            out.key(names[i]);
            out.text(cells[i]);
        }
        out.end_object();
        return !out.full();
    });
    if (out.full()) return "[]";
    out.end_array();
    return out.take();
}

std::string GrokFormat::to_json(std::string_view text, std::size_t max_bytes) const {
    JsonText out(max_bytes);
    out.begin_array();
    const auto record = [&](std::string_view part) {
        const auto fields = grok.match(part);
        if (!fields) return true;
        out.begin_object();
        for (const auto& [name, value] : *fields) {
            out.key(name);
            out.text(value);
        }
        out.end_object();
        return !out.full();
    };
    if (whole) {
        record(text);
    } else {
        each_line(text, [&](std::string_view line) {
            if (line.ends_with('\r')) line.remove_suffix(1);
            return record(line);
        });
    }
    if (out.full()) return "[]";
    out.end_array();
    return out.take();
}

}  // namespace pollux::extract
