#include "document/json_writer.hpp"

#include <array>

#include "base/text.hpp"

namespace pollux::document {
namespace {

// 0: stands for itself. 1: needs a look. The rest: the letter after the backslash.
constexpr std::array<char, 256> kEscapes = [] {
    std::array<char, 256> table{};
    for (std::size_t i = 0; i < 0x20; ++i) table[i] = 1;
    for (std::size_t i = 0x7F; i < 256; ++i) table[i] = 1;
    table['"'] = '"';
    table['\\'] = '\\';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    return table;
}();

void append_control(std::string& out, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\u00";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t clean = 0;  // where the run begins that is copied as it is
    std::size_t at = 0;
    while (at < text.size()) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const char escape = kEscapes[byte];
        if (escape == 0) {
            ++at;
            continue;
        }
        const std::size_t length =
            escape == 1 && byte >= 0x80 ? base::utf8_sequence(text.substr(at)) : 0;
        if (length > 0) {
            at += length;
            continue;
        }
        out.append(text, clean, at - clean);
        clean = ++at;
        if (escape != 1) {
            out += '\\';
            out += escape;
        } else if (byte < 0x80) {
            append_control(out, byte);
        } else {
            out += "\xEF\xBF\xBD";
        }
    }
    out.append(text, clean, at - clean);
    out += '"';
}

void JsonWriter::string(std::string_view text) { append_json_string(out_, text); }

JsonWriter& JsonWriter::value(base::WallTime time) {
    separate();
    out_ += '"';
    base::append_utc(out_, time);
    out_ += '"';
    return *this;
}

}  // namespace pollux::document
