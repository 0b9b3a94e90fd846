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
    std::ranges::stable_sort(out.entries_, {}, [](const auto& entry) { return entry.first; });
    return out;
}

std::optional<std::string_view> KeyValues::find(std::string_view key) const {
    const auto found =
        std::ranges::lower_bound(entries_, key, {}, [](const auto& entry) { return entry.first; });
    if (found == entries_.end() || found->first != key) return std::nullopt;
    return found->second;
}

}  // namespace pollux::extract
