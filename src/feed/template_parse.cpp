#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "feed/template.hpp"
#include "feed/template_program.hpp"

namespace pollux::feed {
namespace {

using base::quoted;

constexpr std::size_t kMaxPieces = 4'000;
constexpr std::size_t kMaxFilters = 8;
constexpr std::size_t kMaxTerms = 16;

struct FilterName {
    std::string_view name;
    FilterKind kind;
    bool takes_argument;
};

constexpr std::array kFilters = std::to_array<FilterName>({
    {"date", FilterKind::kDate, false},
    {"default", FilterKind::kDefault, true},
    {"first", FilterKind::kFirst, true},
    {"html", FilterKind::kHtml, false},
    {"join", FilterKind::kJoin, true},
    {"json", FilterKind::kJson, false},
    {"lines", FilterKind::kLines, false},
    {"lower", FilterKind::kLower, false},
    {"map", FilterKind::kMap, true},
    {"markdown", FilterKind::kMarkdown, false},
    {"number", FilterKind::kNumber, false},
    {"path", FilterKind::kPath, false},
    {"size", FilterKind::kSize, false},
    {"slack", FilterKind::kSlack, false},
    {"truncate", FilterKind::kTruncate, true},
    {"upper", FilterKind::kUpper, false},
    {"url", FilterKind::kUrl, false},
});

std::string filter_words() {
    std::vector<std::string_view> names;
    for (const FilterName& filter : kFilters) names.push_back(filter.name);
    return document::word_list(names);
}

bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The words of one tag: names, texts in quotes, and signs.
class TagReader {
  public:
    explicit TagReader(std::string_view text) : rest_(text) { skip(); }

    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    bool take(std::string_view sign) {
        if (!rest_.starts_with(sign)) return false;
        rest_.remove_prefix(sign.size());
        skip();
        return true;
    }
    // A whole word, so that `order` is not `or` and `der`.
    bool take_word(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        if (rest_.size() > word.size() &&
            (is_word_byte(rest_[word.size()]) || rest_[word.size()] == '.')) {
            return false;
        }
        return take(word);
    }
    // Letters, digits and _; empty if there is none.
    std::string name() {
        std::size_t length = 0;
        while (length < rest_.size() && is_word_byte(rest_[length])) ++length;
        const std::string out(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return out;
    }
    // The contents of "..." or '...'; \" and \\ as everywhere. False: it does not end.
    bool text(std::string& out) {
        const char quote = rest_.front();
        rest_.remove_prefix(1);
        while (!rest_.empty() && rest_.front() != quote) {
            if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
            out += rest_.front();
            rest_.remove_prefix(1);
        }
        if (rest_.empty()) return false;
        rest_.remove_prefix(1);
        skip();
        return true;
    }
    void skip() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
            rest_.remove_prefix(1);
    }

  private:
    std::string_view rest_;
};

// Follows the literal parts of a JSON template: are we inside of a string?
struct JsonPlace {
    bool in_string = false;
    bool escaped = false;  // a backslash stands before

    void pass(std::string_view text) {
        for (const char c : text) {
            if (!in_string) {
                in_string = c == '"';
            } else if (escaped) {
                escaped = false;
            } else if (c == '\\') {
                escaped = true;
            } else if (c == '"') {
                in_string = false;
            }
        }
    }
    bool operator==(const JsonPlace&) const = default;
};

class Parser {
  public:
    Parser(std::string_view text, Format format, std::span<const std::string_view> known)
        : rest_(text), format_(format), known_(known) {}

    base::Result<TemplateProgram> run() {
        TemplateProgram program;
        program.format = format_;
        if (rest_.size() > Template::kMaxBytes) {
            return base::config_error(
                "feed.template",
                fmt::format("the template is longer than {} bytes", Template::kMaxBytes));
        }
        std::string end;
        if (!pieces(program.pieces, end, 0)) return std::unexpected(error_);
        if (!end.empty()) {
            fail(fmt::format("{{% {} %}} ends nothing here", end));
            return std::unexpected(error_);
        }
        if (place_.in_string) {
            fail("the template ends inside of a JSON string");
            return std::unexpected(error_);
        }
        return program;
    }

  private:
    bool fail(std::string message) {
        if (error_.code.empty()) {
            error_ = {"feed.template", base::ErrorClass::kConfig,
                      fmt::format("line {}: {}", line_, std::move(message))};
        }
        return false;
    }

    void advance(std::size_t count) {
        line_ += static_cast<std::size_t>(std::ranges::count(rest_.substr(0, count), '\n'));
        rest_.remove_prefix(count);
    }

    bool add_literal(std::vector<Piece>& out, std::string_view text) {
        std::string kept(text);
        if (format_ == Format::kForm || format_ == Format::kUrl || format_ == Format::kHeader) {
            std::erase_if(kept, [](char c) { return c == '\n' || c == '\r'; });
        }
        if (kept.empty()) return true;
        if (format_ == Format::kJson) place_.pass(kept);
        return add(
            out,
            {.kind = PieceKind::kLiteral, .text = std::move(kept), .value = {}, .branches = {}});
    }

    bool add(std::vector<Piece>& out, Piece piece) {
        if (++count_ > kMaxPieces)
            return fail(fmt::format("the template has more than {} parts", kMaxPieces));
        out.push_back(std::move(piece));
        return true;
    }

    // A tag alone on its line leaves no empty line behind: its blanks before and its line end go.
    static std::string_view without_indent(std::string_view literal, std::string_view after_tag,
                                           bool at_start, std::size_t& skip) {
        const std::size_t line = literal.find_last_of('\n');
        const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
        const bool alone = (line != std::string_view::npos || at_start) &&
                           literal.find_first_not_of(' ', begin) == std::string_view::npos &&
                           (after_tag.empty() || after_tag.front() == '\n');
        skip = alone && !after_tag.empty() ? 1 : 0;
        return alone ? literal.substr(0, begin) : literal;
    }

    // Pieces up to the end or to a tag that ends a block, which is left in `end`.
    bool pieces(std::vector<Piece>& out, std::string& end, std::size_t depth) {
        if (depth > Template::kMaxDepth) {
            return fail(fmt::format("blocks are nested deeper than {}", Template::kMaxDepth));
        }
        while (true) {
            const std::size_t open = find_open();
            if (open == std::string_view::npos) {
                const bool good = add_literal(out, rest_);
                advance(rest_.size());
                return good;
            }
            const char kind = rest_[open + 1];
            const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
            const std::size_t stop = end_of_tag(open + 2, close);
            if (stop == std::string_view::npos) {
                advance(open);
                return fail(fmt::format("what begins here does not end with {}", close));
            }
            const std::string_view tag = rest_.substr(open + 2, stop - open - 2);
            const std::string_view after = rest_.substr(stop + 2);
            std::size_t skip = 0;
            std::string_view literal = rest_.substr(0, open);
            if (kind != '{') literal = without_indent(literal, after, at_line_start_, skip);
            if (!add_literal(out, literal)) return false;
            at_line_start_ = skip == 1;
            advance(open);
            if (!act(out, kind, tag, stop + 2 - open + skip, end, depth)) return false;
            if (!end.empty()) return true;
        }
    }

    bool act(std::vector<Piece>& out, char kind, std::string_view tag, std::size_t length,
             std::string& end, std::size_t depth) {
        if (kind == '#') {
            advance(length);
            return true;
        }
        if (place_.escaped) return fail("a value cannot stand after a backslash");
        TagReader reader(tag);
        if (kind == '{') {
            Piece piece{.kind = PieceKind::kValue,
                        .text = {},
                        .value = {},
                        .in_string = place_.in_string,
                        .branches = {}};
            if (!operand(reader, piece.value) || !finished(reader)) return false;
            advance(length);
            return add(out, std::move(piece));
        }
        return block(out, reader, length, end, depth);
    }

    bool block(std::vector<Piece>& out, TagReader& reader, std::size_t length, std::string& end,
               std::size_t depth) {
        const std::string word = reader.name();
        reader.skip();
        if (word == "if") return if_block(out, reader, length, depth);
        if (word == "for") return for_block(out, reader, length, depth);
        if (word == "elif" || word == "else" || word == "endif" || word == "endfor") {
            end = word;
            end_tag_ = reader;
            end_length_ = length;
            return word == "elif" || finished(reader);
        }
        return fail(fmt::format("{} is no tag; there are if, elif, else, endif, for and endfor",
                                quoted(word)));
    }

    bool if_block(std::vector<Piece>& out, TagReader reader, std::size_t length,
                  std::size_t depth) {
        Piece piece{.kind = PieceKind::kIf, .text = {}, .value = {}, .branches = {}};
        const JsonPlace before = place_;
        JsonPlace after;
        std::string end = "elif";
        while (end == "elif" || end == "else") {
            Branch branch;
            if (end == "elif" && (!condition(reader, branch.condition) || !finished(reader)))
                return false;
            const bool last = end == "else";
            advance(length);
            end.clear();
            place_ = before;
            if (!pieces(branch.pieces, end, depth + 1)) return false;
            if (end.empty() || end == "endfor" || (last && end != "endif")) {
                return fail("{% if %} ends with {% endif %}");
            }
            if (piece.branches.empty()) after = place_;
            if (place_ != after)
                return fail("all branches must end inside of a JSON string, or none");
            piece.branches.push_back(std::move(branch));
            reader = end_tag_;
            length = end_length_;
        }
        // Without an else nothing may be written at all.
        if (!piece.branches.back().condition.empty() && after != before) {
            return fail("a JSON string cannot begin or end inside of {% if %} without {% else %}");
        }
        advance(length);
        return add(out, std::move(piece));
    }

    bool for_block(std::vector<Piece>& out, TagReader reader, std::size_t length,
                   std::size_t depth) {
        Piece piece{.kind = PieceKind::kFor, .text = reader.name(), .value = {}, .branches = {}};
        reader.skip();
        if (piece.text.empty() || !reader.take_word("in")) {
            return fail("a loop is written {% for alert in alerts %}");
        }
        if (!operand(reader, piece.value) || !finished(reader)) return false;
        advance(length);
        const JsonPlace before = place_;
        std::string end;
        locals_.push_back(piece.text);
        piece.branches.resize(1);
        if (!pieces(piece.branches.front().pieces, end, depth + 1)) return false;
        locals_.pop_back();
        if (end != "endfor") return fail("{% for %} ends with {% endfor %}");
        if (place_ != before) return fail("a JSON string cannot begin or end inside of {% for %}");
        advance(end_length_);
        return add(out, std::move(piece));
    }

    bool finished(const TagReader& reader) {
        return reader.at_end() ||
               fail(fmt::format("{} is not understood here", quoted(reader.rest(), 40)));
    }

    bool condition(TagReader& reader, Condition& out) {
        std::size_t terms = 0;
        out.emplace_back();
        do {
            if (++terms > kMaxTerms)
                return fail(fmt::format("a condition has at most {} parts", kMaxTerms));
            Term one;
            one.negated = reader.take_word("not");
            if (!operand(reader, one.left)) return false;
            if (reader.take("==")) one.comparison = Comparison::kEqual;
            if (reader.take("!=")) one.comparison = Comparison::kNotEqual;
            if (one.comparison != Comparison::kTrue && !operand(reader, one.right)) return false;
            out.back().push_back(std::move(one));
            if (reader.take_word("and")) continue;
            if (!reader.take_word("or")) return true;
            out.emplace_back();
        } while (true);
    }

    bool operand(TagReader& reader, Operand& out) {
        const std::string_view next = reader.rest();
        if (next.starts_with('"') || next.starts_with('\'')) {
            std::string text;
            if (!reader.text(text)) return fail("a text has no end");
            out.literal = document::Node::text(std::move(text));
        } else if (!path(reader, out)) {
            return false;
        }
        while (reader.take("|")) {
            if (out.filters.size() == kMaxFilters)
                return fail(fmt::format("at most {} filters follow a value", kMaxFilters));
            if (!filter(reader, out.filters.emplace_back())) return false;
        }
        return true;
    }

    bool path(TagReader& reader, Operand& out) {
        do {
            out.path.push_back(reader.name());
            if (out.path.back().empty()) {
                return fail(fmt::format("a name is expected before {}", quoted(reader.rest(), 40)));
            }
        } while (reader.rest().starts_with('.') && reader.take("."));
        reader.skip();
        if (out.path.size() == 1 && document::is_json_number(out.path.front())) {
            out.literal = document::Node::plain(out.path.front());
            out.path.clear();
            return true;
        }
        return is_known(out.path.front());
    }

    bool is_known(const std::string& name) {
        if (known_.empty() || std::ranges::find(known_, name) != known_.end()) return true;
        if (std::ranges::find(locals_, name) != locals_.end()) return true;
        if (name == "loop" && !locals_.empty()) return true;
        return fail(
            fmt::format("there is no {}; there are {}", quoted(name), document::word_list(known_)));
    }

    bool filter(TagReader& reader, Filter& out) {
        const std::string name = reader.name();
        reader.skip();
        const auto found = std::ranges::find(kFilters, name, &FilterName::name);
        if (found == kFilters.end()) {
            return fail(
                fmt::format("there is no filter {}; there are {}", quoted(name), filter_words()));
        }
        out.kind = found->kind;
        if (!found->takes_argument) return true;
        if (!reader.take(":"))
            return fail(fmt::format("the filter {} needs a value: {}:\"…\"", name, name));
        if (reader.rest().starts_with('"') || reader.rest().starts_with('\'')) {
            if (!reader.text(out.argument)) return fail("a text has no end");
        } else {
            out.argument = reader.name();
            reader.skip();
        }
        return arguments(name, out);
    }

    bool arguments(const std::string& name, Filter& out) {
        if (out.kind == FilterKind::kTruncate || out.kind == FilterKind::kFirst) {
            const auto number = document::parse_integer(out.argument);
            if (!number || *number < 1 || *number > 100'000) {
                return fail(fmt::format("{} takes a number from 1 to 100000", name));
            }
            out.number = static_cast<std::size_t>(*number);
        }
        if (out.kind != FilterKind::kMap) return true;
        std::string_view rest = out.argument;
        while (!rest.empty()) {
            const std::string_view entry = rest.substr(0, rest.find(','));
            const std::size_t equals = entry.find('=');
            if (equals == std::string_view::npos) {
                return fail("map takes pairs: map:\"critical=1,major=2,*=3\"");
            }
            out.table.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
            rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        }
        return true;
    }

    std::size_t find_open() const {
        for (std::size_t at = rest_.find('{'); at != std::string_view::npos;
             at = rest_.find('{', at + 1)) {
            if (at + 1 >= rest_.size()) break;
            const char next = rest_[at + 1];
            if (next == '{' || next == '%' || next == '#') return at;
        }
        return std::string_view::npos;
    }

    // Outside of the tag's own quotes.
    std::size_t end_of_tag(std::size_t from, std::string_view close) const {
        char quote = 0;
        for (std::size_t at = from; at + 1 < rest_.size(); ++at) {
            const char c = rest_[at];
            if (quote != 0) {
                if (c == '\\') {
                    ++at;
                } else if (c == quote) {
                    quote = 0;
                }
            } else if ((c == '"' || c == '\'') && close != "#}") {
                quote = c;
            } else if (rest_.substr(at, 2) == close) {
                return at;
            }
        }
        return std::string_view::npos;
    }

    std::string_view rest_;
    Format format_;
    std::span<const std::string_view> known_;
    std::vector<std::string> locals_;
    JsonPlace place_;
    bool at_line_start_ = true;  // what follows begins a line
    TagReader end_tag_{""};      // the tag that ended a block, after its word
    std::size_t end_length_ = 0;
    std::size_t line_ = 1;
    std::size_t count_ = 0;
    base::Error error_;
};

}  // namespace

base::Result<TemplateProgram> parse_template(std::string_view text, Format format,
                                             std::span<const std::string_view> known) {
    return Parser(text, format, known).run();
}

}  // namespace pollux::feed
