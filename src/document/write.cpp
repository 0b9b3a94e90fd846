#include "document/write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/scalar.hpp"

namespace pollux::document {
namespace {

// A plain scalar as JSON has it: numbers in one form, everything else that is no truth value as
// text.
std::string json_scalar(const Node& node) {
    const std::string& text = node.scalar();
    if (node.quoted()) return json_string(text);
    if (const auto value = parse_boolean(text)) return *value ? "true" : "false";
    if (const auto value = parse_integer(text)) return fmt::format("{}", *value);
    if (const auto value = parse_unsigned(text)) return fmt::format("{}", *value);
    if (const auto value = parse_number(text)) return fmt::format("{}", *value);
    return json_string(text);
}

void append_json(const Node& node, std::string& out) {
    switch (node.kind()) {
        case NodeKind::kNull: out += "null"; return;
        case NodeKind::kScalar: out += json_scalar(node); return;
        case NodeKind::kSequence: {
            out += '[';
            const char* separator = "";
            for (const Node& item : node.items()) {
                out += separator;
                append_json(item, out);
                separator = ",";
            }
            out += ']';
            return;
        }
        case NodeKind::kMap: break;
    }
    std::vector<const MapEntry*> entries;
    entries.reserve(node.entries().size());
    for (const MapEntry& entry : node.entries()) entries.push_back(&entry);
    std::ranges::sort(entries, {}, &MapEntry::key);
    out += '{';
    const char* separator = "";
    for (const MapEntry* entry : entries) {
        out += separator;
        out += json_string(entry->key);
        out += ':';
        append_json(entry->value, out);
        separator = ",";
    }
    out += '}';
}

// Whether YAML reads the bare text as this very text: letters and digits with a few harmless
// characters, that is no number, truth value or null.
bool is_bare_word(std::string_view text) {
    if (text.empty() || text.size() > 200) return false;
    if (parse_duration(text) && !parse_number(text)) return true;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!letter(text.front()) && text.front() != '_' && text.front() != '/' &&
        text.front() != '$') {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (letter(c) || digit(c) || std::string_view("_-./+$@()").find(c) != text.npos) continue;
        const bool last = i + 1 == text.size();
        if (c == ' ' && !last && text[i + 1] != '#' && text[i + 1] != ' ') continue;
        if (c == ':' && !last && text[i + 1] != ' ') continue;
        return false;
    }
    constexpr std::string_view kSpecial[] = {
        "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", "yes",
        "no",   "on",   "off",  "y",    "n",    "Yes",  "No",    "On",    "Off"};
    return std::ranges::find(kSpecial, text) == std::end(kSpecial);
}

std::string yaml_text(std::string_view text) {
    return is_bare_word(text) ? std::string(text) : json_string(text);
}

std::string yaml_scalar(const Node& node) {
    if (node.is_null()) return "null";
    if (node.is_sequence()) return "[]";
    if (node.is_map()) return "{}";
    const std::string& text = node.scalar();
    if (!node.quoted() && (parse_boolean(text) || parse_number(text))) return text;
    return yaml_text(text);
}

constexpr std::size_t kLongestPlainKey = 1000;

bool is_nested(const Node& node) { return !node.items().empty() || !node.entries().empty(); }

void append_yaml(const Node& node, std::size_t indent, bool first_inline, std::string& out) {
    const std::string blanks(indent, ' ');
    bool first = first_inline;
    for (const Node& item : node.items()) {
        out += first ? "" : blanks;
        first = false;
        out += "- ";
        if (is_nested(item)) {
            append_yaml(item, indent + 2, true, out);
        } else {
            out += yaml_scalar(item) + "\n";
        }
    }
    for (const MapEntry& entry : node.entries()) {
        out += first ? "" : blanks;
        first = false;
        const std::string key = yaml_text(entry.key);
        // A key that is not announced by a question mark must end within 1024 characters.
        out += key.size() < kLongestPlainKey ? key + ":" : "? " + key + "\n" + blanks + ":";
        if (is_nested(entry.value)) {
            out += "\n";
            append_yaml(entry.value, indent + 2, false, out);
        } else {
            out += " " + yaml_scalar(entry.value) + "\n";
        }
    }
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (byte < 0x20 || byte == 0x7f) {
                    out += fmt::format("\\u{:04x}", byte);
                } else {
                    out.push_back(c);
                }
        }
    }
    return out + "\"";
}

std::string to_json(const Node& node) {
    std::string out;
    append_json(node, out);
    return out;
}

std::string to_yaml(const Node& node) {
    if (!is_nested(node)) return yaml_scalar(node) + "\n";
    std::string out;
    append_yaml(node, 0, false, out);
    return out;
}

}  // namespace pollux::document
