#include <algorithm>

#include "base/text.hpp"
#include "base/time.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "feed/template_program.hpp"

namespace pollux::feed {
namespace {

using document::Node;

std::string changed_case(std::string_view text, bool upper) {
    std::string out(text);
    for (char& c : out) {
        if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

// Cut after so many characters, with … as the last of them.
std::string truncated(const std::string& text, std::size_t characters) {
    const std::string valid = base::valid_utf8(text);
    std::size_t at = 0;
    std::size_t last = 0;  // where the last character that may stay begins
    for (std::size_t count = 0; at < valid.size(); ++count) {
        if (count == characters) return valid.substr(0, last) + "…";
        last = at;
        at += base::utf8_sequence(std::string_view(valid).substr(at));
    }
    return valid;
}

std::string joined(const Node& list, std::string_view by) {
    if (!list.is_sequence()) return text_of(list);
    std::string out;
    for (const Node& item : list.items()) {
        if (!out.empty()) out += by;
        out += text_of(item);
    }
    return out;
}

Node first_of(const Node& list, std::size_t count) {
    if (!list.is_sequence()) return list;
    Node out = Node::sequence();
    for (std::size_t i = 0; i < std::min(count, list.items().size()); ++i)
        out.push(list.items()[i]);
    return out;
}

std::size_t size_of(const Node& value) {
    if (value.is_sequence()) return value.items().size();
    if (value.is_map()) return value.entries().size();
    return value.scalar().size();
}

std::string date_of(const std::string& text) {
    const auto time = base::parse_utc(text);
    if (!time) return text;
    std::string utc = base::format_utc(*time);  // 2026-02-28T23:59:59.999Z
    utc[10] = ' ';
    return utc.substr(0, 16) + " UTC";
}

std::string mapped(const Filter& filter, std::string_view word) {
    for (const auto& [from, to] : filter.table) {
        if (from == word || from == "*") return to;
    }
    return std::string(word);
}

// Markup is made of clean text: cleaning it afterwards would not know one from the other.
Node markup(std::string (*escape)(std::string_view), const Node& value, bool keep_lines) {
    return Node::text(escape(clean_text(text_of(value), keep_lines)));
}

std::string percent(std::string_view text, std::string_view kept) {
    std::string out;
    append_percent(out, text, kept);
    return out;
}

Node one_filter(const Filter& filter, const Node& value, bool& keep_lines) {
    switch (filter.kind) {
        case FilterKind::kUpper: return Node::text(changed_case(text_of(value), true));
        case FilterKind::kLower: return Node::text(changed_case(text_of(value), false));
        case FilterKind::kLines: keep_lines = true; return value;
        case FilterKind::kHtml: return markup(&escape_html, value, keep_lines);
        case FilterKind::kSlack: return markup(&escape_slack, value, keep_lines);
        case FilterKind::kMarkdown: return markup(&escape_markdown, value, keep_lines);
        case FilterKind::kUrl:
            return Node::text(percent(clean_text(text_of(value), keep_lines), ""));
        case FilterKind::kPath: return Node::text(percent(clean_text(text_of(value), false), "/:"));
        case FilterKind::kTruncate: return Node::text(truncated(text_of(value), filter.number));
        case FilterKind::kDefault:
            return text_of(value).empty() ? Node::text(filter.argument) : value;
        case FilterKind::kFirst: return first_of(value, filter.number);
        case FilterKind::kJoin: return Node::text(joined(value, filter.argument));
        case FilterKind::kSize: return Node::unsigned_integer(size_of(value));
        case FilterKind::kDate: return Node::text(date_of(text_of(value)));
        case FilterKind::kMap: return Node::text(mapped(filter, text_of(value)));
        case FilterKind::kNumber: {
            const std::string text = text_of(value);
            return Node::plain(document::is_json_number(text) ? text : "0");
        }
        case FilterKind::kJson: return Node::text(document::to_json(value));
    }
    return value;
}

}  // namespace

std::string text_of(const Node& value) {
    if (value.is_null()) return {};
    return value.is_scalar() ? value.scalar() : document::to_json(value);
}

bool is_true(const Node& value) {
    if (value.is_sequence()) return !value.items().empty();
    if (value.is_map()) return !value.entries().empty();
    if (!value.is_scalar() || value.scalar().empty()) return false;
    return value.quoted() || (value.scalar() != "false" && value.scalar() != "0");
}

Node filtered(const Node& value, const std::vector<Filter>& filters, bool& keep_lines) {
    Node out = value;
    for (const Filter& filter : filters) out = one_filter(filter, out, keep_lines);
    return out;
}

}  // namespace pollux::feed
