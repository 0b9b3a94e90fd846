#include "extract/key_value.hpp"

#include <algorithm>

namespace pollux::extract {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view unquoted(std::string_view text) {
    const bool quotes = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                        text.front() == text.back();
    return quotes ? text.substr(1, text.size() - 2) : text;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Blanks are written as +, the rest as %XX; what is no such code stays.
std::string form_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool code = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                          hex_digit(text[i + 2]) >= 0;
        if (code) {
            out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
            i += 2;
        } else {
            out.push_back(text[i] == '+' ? ' ' : text[i]);
        }
    }
    return out;
}

}  // namespace

KeyValues KeyValues::parse(std::string_view text, std::string_view separator) {
    KeyValues out;
    std::size_t lines = 0;
    while (!text.empty() && lines < kMaxLines) {
        ++lines;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t at = line.find(separator);
        if (line.starts_with('#') || at == std::string_view::npos || at == 0) continue;
        out.entries_.emplace_back(trimmed(line.substr(0, at)),
                                  unquoted(trimmed(line.substr(at + separator.size()))));
    }
    out.sort();
    return out;
}

KeyValues KeyValues::parse_form(std::string_view text) {
    KeyValues out;
    while (!text.empty() && out.entries_.size() < kMaxLines) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t at = std::min(pair.find('='), pair.size());
        if (at == 0) continue;
        const std::string_view key = out.decoded_.emplace_back(form_decoded(pair.substr(0, at)));
        const std::string_view value = out.decoded_.emplace_back(
            form_decoded(at == pair.size() ? std::string_view() : pair.substr(at + 1)));
        out.entries_.emplace_back(key, value);
    }
    out.sort();
    return out;
}

void KeyValues::sort() {
    std::ranges::stable_sort(entries_, {}, [](const auto& entry) { return entry.first; });
}

std::optional<std::string_view> KeyValues::find(std::string_view key) const {
    const auto found =
        std::ranges::lower_bound(entries_, key, {}, [](const auto& entry) { return entry.first; });
    if (found == entries_.end() || found->first != key) return std::nullopt;
    return found->second;
}

}  // namespace pollux::extract
