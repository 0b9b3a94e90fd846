#include "feed/escape.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/write.hpp"

namespace pollux::feed {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool is_unreserved(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

// Characters that are not seen but change what is: directions, isolates, the mark of a byte order.
bool is_invisible_control(std::string_view sequence) {
    if (sequence.size() == 2) return sequence == "\xD8\x9C";  // U+061C
    if (sequence.size() != 3) return false;
    if (sequence == "\xEF\xBB\xBF") return true;  // U+FEFF
    const auto last = static_cast<unsigned char>(sequence[2]);
    if (sequence.starts_with("\xE2\x80")) {
        return last == 0x8EU || last == 0x8FU || (last >= 0xAAU && last <= 0xAEU);
    }
    return sequence.starts_with("\xE2\x81") && last >= 0xA6U && last <= 0xA9U;
}

bool is_line_separator(std::string_view sequence) {  // U+2028, U+2029, U+0085
    return sequence == "\xE2\x80\xA8" || sequence == "\xE2\x80\xA9" || sequence == "\xC2\x85";
}

// Calls `take` with each well-formed sequence of the text.
template <class Take>
void each_sequence(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t length = std::max<std::size_t>(1, base::utf8_sequence(text));
        take(text.substr(0, length));
        text.remove_prefix(length);
    }
}

std::string with_entities(std::string_view text, bool quotes) {
    std::string out;
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (quotes && c == '"') {
            out += "&quot;";
        } else if (quotes && c == '\'') {
            out += "&#39;";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

std::string_view to_string(Format format) {
    switch (format) {
        case Format::kText: return "text";
        case Format::kJson: return "json";
        case Format::kHtml: return "html";
        case Format::kForm: return "form";
        case Format::kUrl: return "url";
        case Format::kHeader: return "header";
    }
    return "unknown";
}

std::string clean_text(std::string_view text, bool keep_lines) {
    const std::string valid = base::valid_utf8(text);
    std::string out;
    out.reserve(valid.size());
    each_sequence(valid, [&](std::string_view sequence) {
        const auto first = static_cast<unsigned char>(sequence.front());
        if (sequence == "\r") return;
        if (sequence == "\n" || is_line_separator(sequence)) {
            out += keep_lines ? '\n' : ' ';
        } else if (first < 0x20U || first == 0x7FU ||
                   (first == 0xC2U && base::has_control(sequence))) {
            out += ' ';
        } else if (!is_invisible_control(sequence)) {
            out += sequence;
        }
    });
    return out;
}

void append_percent(std::string& out, std::string_view text, std::string_view kept) {
    for (const char c : text) {
        if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kHexDigits[byte >> 4U];
        out += kHexDigits[byte & 15U];
    }
}

std::string escape_html(std::string_view text) { return with_entities(text, true); }
std::string escape_slack(std::string_view text) { return with_entities(text, false); }

std::string escape_markdown(std::string_view text) {
    constexpr std::string_view kSpecial = "\\`*_[]<>|~";
    constexpr std::string_view kSpecialAtStart = "#+-";  // headings and lists
    std::string out;
    bool at_start = true;
    for (const char c : text) {
        const bool special = kSpecial.find(c) != std::string_view::npos ||
                             (at_start && kSpecialAtStart.find(c) != std::string_view::npos);
        if (special) out += '\\';
        out += c;
        if (c == '@') out += "\xE2\x80\x8B";  // U+200B: nobody is called by it
        at_start = c == '\n' || (at_start && c == ' ');
    }
    return out;
}

void append_escaped(std::string& out, Format format, std::string_view text) {
    switch (format) {
        case Format::kText:
        case Format::kHeader: out += text; return;
        case Format::kHtml: out += escape_html(text); return;
        case Format::kForm:
        case Format::kUrl: append_percent(out, text); return;
        case Format::kJson: {
            const std::string quoted = document::json_string(text);
            out.append(quoted, 1, quoted.size() - 2);
            return;
        }
    }
}

std::string base64(std::string_view bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    // OpenSSL wants unsigned bytes and writes a NUL after them.
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                       static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

std::string encode_mail_header(std::string_view text) {
    const std::string line = clean_text(text, false);
    const bool plain =
        std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
    // "=?" would be read as an encoded word; a line of a mail has at most 998 characters.
    if (plain && line.find("=?") == std::string::npos && line.size() <= 200) return line;
    constexpr std::size_t kBytesPerWord = 45;  // 60 letters of base64 and the 12 around them
    std::string out;
    std::string word;
    const auto flush = [&] {
        if (word.empty()) return;
        if (!out.empty()) out += "\r\n ";
        out += "=?UTF-8?B?" + base64(word) + "?=";
        word.clear();
    };
    each_sequence(line, [&](std::string_view sequence) {
        if (word.size() + sequence.size() > kBytesPerWord) flush();
        word += sequence;
    });
    flush();
    return out;
}

}  // namespace pollux::feed
