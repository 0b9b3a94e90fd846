// A compiled template: what template_parse.cpp makes and template.cpp runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "document/node.hpp"
#include "feed/escape.hpp"

namespace pollux::feed {

enum class FilterKind : std::uint8_t {
    kUpper,
    kLower,
    kLines,  // keeps line ends
    kHtml,   // for markup inside of another format
    kSlack,
    kMarkdown,
    kUrl,       // percent-encoded, for a URL inside of another format
    kPath,      // likewise, / and : are kept
    kTruncate,  // to so many characters
    kDefault,   // instead of nothing
    kFirst,     // so many of a list
    kJoin,      // a list by this text
    kSize,      // of a list, a map or a text
    kDate,      // "2026-02-28 23:59 UTC"
    kMap,       // "critical=1,major=2,*=3"
    kNumber,    // as a number; 0 if it is none
    kJson,      // the value as JSON text
};

struct Filter {
    FilterKind kind = FilterKind::kUpper;
    std::string argument;
    std::size_t number = 0;                                  // kTruncate, kFirst
    std::vector<std::pair<std::string, std::string>> table;  // kMap
};

struct Operand {
    std::vector<std::string> path;  // empty: the literal
    document::Node literal;
    std::vector<Filter> filters;
};

enum class Comparison : std::uint8_t { kTrue, kEqual, kNotEqual };

struct Term {
    bool negated = false;
    Operand left;
    Comparison comparison = Comparison::kTrue;
    Operand right;
};

// Any of these, of which each needs all of its terms.
using Condition = std::vector<std::vector<Term>>;

struct Piece;

struct Branch {
    Condition condition;  // empty: else
    std::vector<Piece> pieces;
};

enum class PieceKind : std::uint8_t { kLiteral, kValue, kIf, kFor };

struct Piece {
    PieceKind kind = PieceKind::kLiteral;
    std::string text;              // kLiteral; kFor: the name of the item
    Operand value;                 // kValue; kFor: the list
    bool in_string = false;        // kValue in JSON
    std::vector<Branch> branches;  // kIf; kFor: the first is its body
};

struct TemplateProgram {
    Format format = Format::kText;
    std::vector<Piece> pieces;
};

base::Result<TemplateProgram> parse_template(std::string_view text, Format format,
                                             std::span<const std::string_view> known);

// The value after its filters. `text` is cleaned already where a filter made markup of it.
document::Node filtered(const document::Node& value, const std::vector<Filter>& filters,
                        bool& keep_lines);
bool is_true(const document::Node& value);
std::string text_of(const document::Node& value);

}  // namespace pollux::feed
