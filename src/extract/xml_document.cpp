#include "extract/xml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <vector>

#include "base/text.hpp"
#include "extract/json_text.hpp"

namespace pollux::extract {
namespace {

using base::quoted;

constexpr std::size_t kMaxPath = 1024;

std::string_view local_name(std::string_view name) {
    const std::size_t colon = name.rfind(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

class Converter {
  public:
    Converter(const XmlLimits& limits, JsonText& out) : limits_(limits), out_(out) {}

    // False: past a bound.
    bool element(const pugi::xml_node& node, std::size_t depth) {
        if (depth > limits_.max_depth || ++nodes_ > limits_.max_nodes) return false;
        out_.begin_object();
        std::map<std::string_view, std::string_view>
            attributes;  // a name once, whatever its prefix
        for (const pugi::xml_attribute& attribute : node.attributes()) {
            if (++nodes_ > limits_.max_nodes) return false;
            attributes.emplace(local_name(attribute.name()), attribute.value());
        }
        for (const auto& [name, value] : attributes) {
            out_.key("@" + std::string(name));
            out_.text(value);
        }
        if (!children(node, depth)) return false;
        out_.end_object();
        return !out_.full();
    }

    bool children(const pugi::xml_node& node, std::size_t depth) {
        std::string text;
        std::map<std::string_view, std::vector<pugi::xml_node>> named;
        for (const pugi::xml_node& child : node.children()) {
            if (child.type() == pugi::node_element) {
                named[local_name(child.name())].push_back(child);
            } else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
                text += child.value();
            }
        }
        for (const auto& [name, nodes] : named) {
            out_.key(name);
            out_.begin_array();
            for (const pugi::xml_node& child : nodes) {
                if (!element(child, depth + 1)) return false;
            }
            out_.end_array();
        }
        out_.key("#text");
        out_.text(trimmed(text));
        return true;
    }

  private:
    const XmlLimits& limits_;
    JsonText& out_;
    std::size_t nodes_ = 0;
};

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    });
}

std::string member(std::string_view name) { return fmt::format("['{}']", name); }

// [2], [@id='x'], [name='x']
std::optional<std::string> condition(std::string_view text) {
    const bool number = !text.empty() && text.size() < 7 &&
                        std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (number) {
        int index = 0;
        for (const char c : text) index = index * 10 + (c - '0');
        if (index == 0) return std::nullopt;
        return fmt::format("[{}]", index - 1);
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view left = text.substr(0, equals);
    const std::string_view right = text.substr(equals + 1);
    const bool attribute = left.starts_with('@');
    if (!is_name(attribute ? left.substr(1) : left)) return std::nullopt;
    const bool quotes = right.size() >= 2 && (right.front() == '\'' || right.front() == '"') &&
                        right.back() == right.front();
    if (!quotes || right.find('\\') != std::string_view::npos) return std::nullopt;
    const std::string_view value = right.substr(1, right.size() - 2);
    if (value.find_first_of("'\"") != std::string_view::npos) return std::nullopt;
    return attribute ? fmt::format("[?@['{}'] == '{}']", left, value)
                     : fmt::format("[?@['{}'][0]['#text'] == '{}']", left, value);
}

}  // namespace

base::Result<std::string> xml_to_json(std::string_view text, const XmlLimits& limits) {
    const auto refuse = [](std::string_view code, std::string message) {
        return base::make_error(base::ErrorClass::kTransient, std::string(code),
                                std::move(message));
    };
    if (text.size() > limits.max_bytes) {
        return refuse("xml.too_large", fmt::format("more than {} bytes of XML", limits.max_bytes));
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_auto);
    if (!parsed) {
        const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0));
        return refuse(
            "xml.invalid",
            fmt::format("not XML: {} at byte {}, near {}", parsed.description(), at,
                        quoted(text.substr(std::min(at < 10 ? 0 : at - 10, text.size())), 30)));
    }
    const pugi::xml_node root = document.document_element();
    if (!root) return refuse("xml.invalid", "not XML: there is no element");
    JsonText out(limits.max_bytes * 4);
    out.begin_object();
    out.key(local_name(root.name()));
    out.begin_array();
    Converter converter(limits, out);
    if (!converter.element(root, 1)) {
        return refuse("xml.too_large", fmt::format("XML with more than {} levels or {} nodes",
                                                   limits.max_depth, limits.max_nodes));
    }
    out.end_array();
    out.end_object();
    return out.take();
}

base::Result<std::string> xml_path_to_json_path(std::string_view path, bool leaf) {
    const auto refuse = [&](std::string_view why) {
        return base::config_error(
            "xml_path.invalid",
            fmt::format("{}: {}; write it like root/disk/@status, //disk or disk[@id='1']/size",
                        quoted(path), why));
    };
    if (path.empty() || path.size() > kMaxPath) return refuse("is empty or too long");
    std::string out = "$";
    std::string_view rest = path;
    bool attribute = false;
    if (rest == ".") return leaf ? out + "['#text']" : out;
    if (rest.starts_with("./")) rest.remove_prefix(2);
    while (!rest.empty()) {
        if (attribute) return refuse("something follows an attribute");
        bool deep = false;
        if (rest.starts_with("//")) {
            deep = true;
            rest.remove_prefix(2);
        } else if (rest.starts_with('/')) {
            rest.remove_prefix(1);
        }
        const std::size_t end = std::min(rest.find_first_of("/["), rest.size());
        std::string_view name = rest.substr(0, end);
        rest.remove_prefix(end);
        attribute = name.starts_with('@');
        if (attribute) name.remove_prefix(1);
        name = local_name(name);
        if (name != "*" && !is_name(name)) return refuse("there is a step without a name");
        if (name == "*" && attribute) return refuse("* does not fit an attribute");
        if (deep) out += "..";
        if (attribute) {
            out += member(fmt::format("@{}", name));
            continue;
        }
        out += name == "*" ? "[*]" : member(name);
        if (!rest.starts_with('[')) {
            out += "[*]";
            continue;
        }
        const std::size_t close = rest.find(']');
        const auto narrowed =
            close == std::string_view::npos ? std::nullopt : condition(rest.substr(1, close - 1));
        if (!narrowed) return refuse("what stands in [ ] is not understood");
        out += *narrowed;
        rest.remove_prefix(close + 1);
        if (!rest.empty() && !rest.starts_with('/')) return refuse("a / is missing");
    }
    if (leaf && !attribute) out += "['#text']";
    return out;
}

}  // namespace pollux::extract
