#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"

namespace pollux::document {
namespace {

class JsonReader {
  public:
    JsonReader(std::string_view text, std::shared_ptr<const std::string> file,
               const ParseLimits& limits)
        : text_(text), file_(std::move(file)), limits_(limits) {}

    // False: error() and at() say why and where.
    bool read_document(Node& out) {
        skip_blanks();
        if (!read(out, 0)) return false;
        skip_blanks();
        return at_ == text_.size() || fail("something follows the end of the value");
    }

    const std::string& error() const { return error_; }
    Mark at() const { return {file_, line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }

  private:
    bool fail(std::string message) {
        if (error_.empty()) error_ = std::move(message);
        return false;
    }

    bool skip_blanks() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\n') {
                ++line_;
                line_start_ = at_ + 1;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                break;
            }
            ++at_;
        }
        return true;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    bool read(Node& out, std::size_t depth) {
        if (++nodes_ > limits_.max_nodes) {
            return fail(fmt::format("more than {} values; split the document", limits_.max_nodes));
        }
        const Mark mark = at();
        bool ok = false;
        switch (peek()) {
            case '{': ok = read_map(out, depth); break;
            case '[': ok = read_sequence(out, depth); break;
            case '"': {
                std::string text;
                ok = read_string(text);
                out = Node::text(std::move(text));
                break;
            }
            default: ok = read_word(out);
        }
        out.set_mark(mark);
        return ok;
    }

    bool read_word(Node& out) {
        const std::size_t start = at_;
        std::size_t end = start;
        while (end < text_.size() && text_.substr(end, 1).find_first_of(" \t\r\n,]}:[{\"") != 0) {
            ++end;
        }
        const std::string_view word = text_.substr(start, end - start);
        if (word == "null") {
            out = Node();
        } else if (word == "true" || word == "false" || is_json_number(word)) {
            out = Node::plain(std::string(word));
        } else {
            return fail(word.empty() ? std::string("a value is missing")
                                     : fmt::format("{} is no JSON value; texts stand in double "
                                                   "quotes",
                                                   base::quoted(word)));
        }
        at_ = end;
        return true;
    }

    bool enter(std::size_t depth) {
        if (depth >= limits_.max_depth) {
            return fail(fmt::format("nested deeper than {} levels; flatten it", limits_.max_depth));
        }
        ++at_;
        return skip_blanks();
    }

    bool read_sequence(Node& out, std::size_t depth) {
        out = Node::sequence();
        if (!enter(depth)) return false;
        if (peek() == ']') return ++at_ > 0;
        while (true) {
            Node item;
            if (!read(item, depth + 1)) return false;
            out.push(std::move(item));
            skip_blanks();
            if (peek() == ']') return ++at_ > 0;
            if (peek() != ',') return fail("a comma or ] is missing in a list");
            ++at_;
            skip_blanks();
        }
    }

    bool read_map(Node& out, std::size_t depth) {
        out = Node::map();
        if (!enter(depth)) return false;
        if (peek() == '}') return ++at_ > 0;
        std::set<std::string, std::less<>> keys;
        while (true) {
            MapEntry entry;
            entry.key_mark = at();
            if (peek() != '"') return fail("a key in double quotes is missing");
            if (!read_string(entry.key)) return false;
            if (!keys.insert(entry.key).second) {
                return fail(fmt::format("the key {} is there already; remove one of them",
                                        base::quoted(entry.key)));
            }
            skip_blanks();
            if (peek() != ':') return fail("a colon is missing after a key");
            ++at_;
            skip_blanks();
            if (!read(entry.value, depth + 1)) return false;
            out.append(std::move(entry));
            skip_blanks();
            if (peek() == '}') return ++at_ > 0;
            if (peek() != ',') return fail("a comma or } is missing in a map");
            ++at_;
            skip_blanks();
        }
    }

    bool read_string(std::string& out) {
        ++at_;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return true;
            }
            if (static_cast<unsigned char>(c) < 0x20) {
                return fail("a text holds a control character or a line break; write it as \\n");
            }
            if (c != '\\') {
                out.push_back(c);
                ++at_;
            } else if (!read_escape(out)) {
                return false;
            }
        }
        return fail("the closing double quote of a text is missing");
    }

    bool read_escape(std::string& out) {
        constexpr std::string_view kNames = "\"\\/bfnrt";
        constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
        const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (c == 'u') return read_unicode(out);
        const std::size_t known = c == '\0' ? std::string_view::npos : kNames.find(c);
        if (known == std::string_view::npos) return fail("a backslash before an unknown character");
        out.push_back(kValues[known]);
        at_ += 2;
        return true;
    }

    // At a backslash: the four digits after \u, or -1.
    int code_unit() {
        if (text_.substr(at_, 2) != "\\u" || at_ + 6 > text_.size()) return -1;
        int value = 0;
        for (const char c : text_.substr(at_ + 2, 4)) {
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) return -1;
            value = value * 16 + digit;
        }
        at_ += 6;
        return value;
    }

    bool read_unicode(std::string& out) {
        const int high = code_unit();
        if (high < 0) return fail("\\u wants four hexadecimal digits");
        auto code = static_cast<std::uint32_t>(high);
        if (code >= 0xDC00 && code < 0xE000) return fail("half of a surrogate pair");
        if (code >= 0xD800 && code < 0xDC00) {
            const int low = code_unit();
            if (low < 0xDC00 || low >= 0xE000) return fail("half of a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10U) + static_cast<std::uint32_t>(low - 0xDC00);
        }
        append_utf8(out, code);
        return true;
    }

    static void append_utf8(std::string& out, std::uint32_t code) {
        const auto tail = [&](unsigned shift) {
            out.push_back(static_cast<char>(0x80U | ((code >> shift) & 0x3FU)));
        };
        if (code < 0x80) {
            out.push_back(static_cast<char>(code));
        } else if (code < 0x800) {
            out.push_back(static_cast<char>(0xC0U | code >> 6U));
            tail(0);
        } else if (code < 0x10000) {
            out.push_back(static_cast<char>(0xE0U | code >> 12U));
            tail(6);
            tail(0);
        } else {
            out.push_back(static_cast<char>(0xF0U | code >> 18U));
            tail(12);
            tail(6);
            tail(0);
        }
    }

    std::string_view text_;
    std::shared_ptr<const std::string> file_;
    ParseLimits limits_;
    std::string error_;
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    std::size_t nodes_ = 0;
    std::uint32_t line_ = 1;
};

}  // namespace

Parsed parse_json(std::string_view text, std::string file, Diagnostics& diagnostics,
                  const ParseLimits& limits) {
    if (text.size() > limits.max_bytes || !base::is_valid_utf8(text)) {
        const std::string why =
            text.size() > limits.max_bytes
                ? fmt::format("{} bytes; the limit is {}", text.size(), limits.max_bytes)
                : "the text is not UTF-8; save the file as UTF-8";
        diagnostics.add({Severity::kError, std::move(file), 0, 0, "", why});
        return {};
    }
    JsonReader reader(text, std::make_shared<const std::string>(std::move(file)), limits);
    Node root;
    if (!reader.read_document(root)) {
        diagnostics.error(reader.at(), "", fmt::format("not valid JSON: {}", reader.error()));
        return {};
    }
    return {std::move(root), true};
}

}  // namespace pollux::document
