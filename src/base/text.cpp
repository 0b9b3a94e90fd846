#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pollux::base {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

// Whether the well-formed sequence at the beginning of `text` is a control character.
bool begins_with_control(std::string_view text, std::size_t length) {
    const unsigned first = byte_at(text, 0);
    if (length == 1) return first < 0x20 || first == 0x7F;
    return first == 0xC2 && byte_at(text, 1) <= 0x9F;
}

// The length of the escape sequence of a terminal at the beginning of `text`, which begins with
// ESC; an unfinished one goes to the end.
std::size_t escape_length(std::string_view text) {
    if (text.size() < 2) return text.size();
    const char kind = text[1];
    if (kind == '[') {  // CSI: parameters, then one byte from @ to ~
        std::size_t at = 2;
        while (at < text.size() && byte_at(text, at) >= 0x20 && byte_at(text, at) < 0x40) ++at;
        return std::min(at + 1, text.size());
    }
    if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
        // A string for the terminal, such as a title: to BEL or ESC backslash.
        for (std::size_t at = 2; at < text.size(); ++at) {
            if (text[at] == '\a') return at + 1;
            if (text[at] == '\x1b') return std::min(at + 2, text.size());
        }
        return text.size();
    }
    const unsigned second = byte_at(text, 1);
    if (second >= 0x20 && second < 0x30) return std::min<std::size_t>(3, text.size());
    return second >= 0x30 && second < 0x7F ? 2 : 1;
}

// Plain Levenshtein distance; both texts are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

}  // namespace

std::size_t utf8_sequence(std::string_view text) {
    const unsigned first = byte_at(text, 0);
    if (first < 0x80) return 1;

    // The second byte's range excludes overlong forms, surrogates and what is past U+10FFFF.
    std::size_t length = 0;
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        length = 3;
        if (first == 0xE0) low = 0xA0;
        if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        if (first == 0xF0) low = 0x90;
        if (first == 0xF4) high = 0x8F;
    }
    if (length == 0 || text.size() < length) return 0;
    if (byte_at(text, 1) < low || byte_at(text, 1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
    }
    return length;
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

bool has_control(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        if (length == 0) {
            if (byte_at(text, 0) >= 0x80 && byte_at(text, 0) <= 0x9F) return true;
            text.remove_prefix(1);
            continue;
        }
        if (begins_with_control(text, length)) return true;
        text.remove_prefix(length);
    }
    return false;
}

std::string Quoted::operator()(std::string_view text, std::size_t max) const {
    std::string out = "\"";
    std::size_t shown = 0;
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        const std::size_t consumed = std::max<std::size_t>(1, length);
        std::string piece;
        std::size_t width = 1;
        if (length == 0 || begins_with_control(text, length)) {
            for (std::size_t i = 0; i < consumed; ++i) {
                piece += fmt::format("\\x{:02x}", byte_at(text, i));
            }
            width = piece.size();
        } else {
            if (text[0] == '"' || text[0] == '\\') piece = "\\";
            piece += text.substr(0, length);
            width = 1 + piece.size() - length;
        }
        if (shown + width > max) {
            out += "…";
            break;
        }
        out += piece;
        shown += width;
        text.remove_prefix(consumed);
    }
    out += '"';
    return out;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return out;
}

std::string plain_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        if (text[0] == '\x1b') {
            text.remove_prefix(escape_length(text));
            continue;
        }
        const std::size_t length = utf8_sequence(text);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
        } else if (text[0] == '\n' || text[0] == '\t' || !begins_with_control(text, length)) {
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    const std::size_t last = out.find_last_not_of(" \t\n");
    out.resize(last == std::string::npos ? 0 : last + 1);
    return out;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    constexpr std::size_t kFurthest = 2;
    std::optional<std::string_view> best;
    std::size_t best_distance = kFurthest + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        const std::size_t shorter = std::min(word.size(), candidate.size());
        if (longer - shorter > kFurthest) continue;
        const std::size_t distance = edit_distance(word, candidate);
        // At the shorter one's length nothing but noise is shared: "up" is no typo of "id".
        if (distance >= best_distance || (distance > 0 && distance >= shorter)) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

}  // namespace pollux::base
