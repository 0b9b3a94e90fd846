#include "app/addon_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kLongestIdentifier = 48;
constexpr std::size_t kShortestList = 2;  // lines of keys and values, to be recognised

std::string_view first_line(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.find_first_not_of(" \t\r") != line.npos && !line.starts_with('#')) return line;
        at = end + 1;
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> key_value_lines(std::string_view text,
                                                                 std::string_view separator) {
    std::vector<std::pair<std::string, std::string>> found;
    const auto trimmed = [](std::string_view part) {
        const std::size_t begin = part.find_first_not_of(" \t\r");
        if (begin == part.npos) return std::string();
        return std::string(part.substr(begin, part.find_last_not_of(" \t\r") - begin + 1));
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t at = line.find(separator);
        if (at == line.npos || at == 0) continue;
        found.emplace_back(trimmed(line.substr(0, at)),
                           trimmed(line.substr(at + separator.size())));
    }
    return found;
}

}  // namespace

std::string fresh_identifier(std::string_view text, std::vector<std::string>& taken) {
    std::string name;
    for (const char c : text) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (upper) {
            const bool word = !name.empty() && name.back() >= 'a' && name.back() <= 'z';
            name += word ? "_" : "";
            name += static_cast<char>(c - 'A' + 'a');
        } else if (plain) {
            name += c;
        } else if (!name.empty() && name.back() != '_') {
            name += '_';
        }
    }
    name = name.substr(0, kLongestIdentifier);
    while (name.ends_with('_')) name.pop_back();
    if (name.empty() || name[0] < 'a') name = "value_" + name;
    while (name.ends_with('_')) name.pop_back();
    std::string fresh = name;
    for (int number = 2; std::ranges::find(taken, fresh) != taken.end(); ++number) {
        fresh = fmt::format("{}_{}", name, number);
    }
    taken.push_back(fresh);
    return fresh;
}

base::Result<Sketch> sketch_key_value(const std::string& name, std::string_view body,
                                      std::string_view separator) {
    Sketch sketch;
    sketch.captured_name = "captured.txt";
    std::string metrics;
    std::string readings;
    std::vector<std::string> taken;
    for (const auto& [key, value] : key_value_lines(body, separator)) {
        if (taken.size() >= kMaxSketchMetrics) {
            sketch.remarks.push_back(
                fmt::format("only the first {} lines became metrics", kMaxSketchMetrics));
            break;
        }
        const bool number = document::parse_number(value).has_value();
        const std::string metric = fresh_identifier(key, taken);
        metrics += fmt::format("  - {{name: {}, type: {}, key: {}, optional: true}}\n", metric,
                               number ? "gauge" : "text", document::json_string(key));
        readings +=
            fmt::format("        {}: {}\n", metric, number ? value : document::json_string(value));
    }
    sketch.manifest = fmt::format(
        "schema: pollux/1\nname: {0}\nversion: 0.1.0\ntitle: {0}\n"
        "description: Made from a captured reply; say here what it is.\ncategory: application\n"
        "protocol: http\ninterval: 60s\n\nparameters:\n"
        "  path: {{type: path, default: /, description: Path of the page.}}\n\nhttp:\n"
        "  base: \"http://{{host}}:{{port}}\"\n  endpoints:\n"
        "    - {{name: page, path: \"{{path}}\", format: key_value, separator: "
        "{1}}}\n\nmetrics:\n{2}",
        name, document::json_string(separator), metrics);
    sketch.test_case = fmt::format(
        "description: What was captured.\nsteps:\n  - at: 0s\n    http: {{body_file: {}}}\n"
        "    expect:\n      readings:\n{}      missing: 0\n",
        sketch.captured_name, readings);
    return sketch;
}

base::Result<Sketch> sketch_addon(const std::string& name, std::string_view captured) {
    const std::string_view line = first_line(captured);
    if (line.starts_with('{') || line.starts_with('[')) return sketch_json(name, captured);
    if (line.find(" = ") != line.npos && (line.starts_with(".1.") || line.starts_with("1."))) {
        return sketch_snmp(name, captured);
    }
    for (const std::string_view separator : {"=", ":"}) {
        if (key_value_lines(captured, separator).size() >= kShortestList) {
            return sketch_key_value(name, captured, separator);
        }
    }
    return base::config_error(
        "sketch.unreadable",
        fmt::format("the first line {} is not understood; give the output of snmpwalk -On (lines "
                    "like .1.3.6.1.2.1.1.5.0 = STRING: core), a JSON document, or lines of "
                    "key=value",
                    base::quoted(line.substr(0, 80))));
}

}  // namespace pollux::app
