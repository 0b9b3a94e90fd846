#include "extract/placeholder.hpp"

#include <fmt/format.h>

namespace pollux::extract {
namespace {

bool is_name_character(char c, bool first) {
    return (c >= 'a' && c <= 'z') || c == '_' || (!first && c >= '0' && c <= '9');
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~").find(c) != std::string_view::npos;
}

template <class Keep>
std::string encoded(std::string_view text, Keep keep) {
    std::string out;
    for (const char c : text) {
        if (keep(c)) {
            out.push_back(c);
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace

Template Template::compile(std::string_view text) {
    Template out;
    std::string literal;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = at + 1;
        while (text[at] == '{' && end < text.size() &&
               is_name_character(text[end], end == at + 1)) {
            ++end;
        }
        if (text[at] == '{' && end > at + 1 && end < text.size() && text[end] == '}') {
            if (!literal.empty()) out.parts_.push_back({std::move(literal), false});
            literal.clear();
            out.parts_.push_back({std::string(text.substr(at + 1, end - at - 1)), true});
            at = end + 1;
        } else {
            literal.push_back(text[at]);
            ++at;
        }
    }
    if (!literal.empty()) out.parts_.push_back({std::move(literal), false});
    return out;
}

std::vector<std::string> Template::names() const {
    std::vector<std::string> out;
    for (const Part& part : parts_) {
        if (part.is_name) out.push_back(part.text);
    }
    return out;
}

bool Template::has_placeholders() const {
    for (const Part& part : parts_) {
        if (part.is_name) return true;
    }
    return false;
}

std::string Template::fill(
    const std::function<std::optional<std::string>(std::string_view)>& value) const {
    std::string out;
    for (const Part& part : parts_) {
        if (!part.is_name) {
            out += part.text;
        } else if (const auto text = value(part.text)) {
            out += *text;
        } else {
            out += "{" + part.text + "}";
        }
    }
    return out;
}

std::string percent_encoded(std::string_view text) { return encoded(text, is_unreserved); }

std::string percent_encoded_path(std::string_view text) {
    return encoded(text, [](char c) {
        return is_unreserved(c) ||
               std::string_view("/?&=%+:@!$'()*,;").find(c) != std::string_view::npos;
    });
}

}  // namespace pollux::extract
