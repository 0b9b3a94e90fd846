#include "app/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace pollux::app {
namespace {

constexpr std::string_view kHead = "\x1b[1m";
constexpr std::string_view kEnd = "\x1b[0m";

constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kColours = {{
    {"critical", "\x1b[31m"},  {"major", "\x1b[31m"},       {"minor", "\x1b[33m"},
    {"warning", "\x1b[33m"},   {"delivered", "\x1b[32m"},   {"resolved", "\x1b[32m"},
    {"open", "\x1b[31m"},      {"dead letter", "\x1b[31m"}, {"refused", "\x1b[31m"},
    {"failed", "\x1b[31m"},    {"failing", "\x1b[31m"},     {"expired", "\x1b[31m"},
    {"half_open", "\x1b[33m"}, {"disabled", "\x1b[33m"},    {"locked", "\x1b[33m"},
    {"cancelled", "\x1b[33m"}, {"closed", "\x1b[32m"},      {"ok", "\x1b[32m"},
    {"allowed", "\x1b[32m"},   {"completed", "\x1b[32m"},   {"enabled", "\x1b[32m"},
}};

// Characters, not bytes; wide ones count as one.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view colour_of(std::string_view cell) {
    for (const auto& [word, colour] : kColours) {
        if (word == cell) return colour;
    }
    return {};
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
    POLLUX_CHECK_MSG(cells.size() == heads_.size(), "a row has a cell for each head");
    for (std::string& cell : cells) cell = cell.empty() ? "-" : printable(cell);
    rows_.push_back(std::move(cells));
}

std::string Table::text(bool colour) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
        std::size_t widest = width(heads_[i]);
        for (const auto& row : rows_) widest = std::max(widest, width(row[i]));
        widths.push_back(widest);
    }
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells, bool head) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string_view paint =
                !colour ? std::string_view() : (head ? kHead : colour_of(cells[i]));
            out += paint;
            out += cells[i];
            if (!paint.empty()) out += kEnd;
            // The last column ends the line: no blanks behind it.
            if (i + 1 < cells.size()) out.append(widths[i] - width(cells[i]) + 2, ' ');
        }
        out += '\n';
    };
    line(heads_, true);
    for (const auto& row : rows_) line(row, false);
    return out;
}

bool wants_colour() {
    const char* none = std::getenv("NO_COLOR");
    return (none == nullptr || *none == '\0') && isatty(STDOUT_FILENO) == 1;
}

std::string printable(std::string_view text, std::size_t most) {
    std::string quoted = base::quoted(text, most);
    // Quotes inside are not escaped for a table.
    std::string out;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
        if (quoted[i] == '\\' && quoted[i + 1] == '"') continue;
        out += quoted[i];
    }
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += printable(text.substr(0, end), 4000);
        if (end < text.size()) out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace pollux::app
