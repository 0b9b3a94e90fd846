// From the JSON of an API: every number, truth value and text becomes a metric, every list of
// objects becomes rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/addon_sketch.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr std::size_t kMaxDepth = 8;

class JsonSketcher {
  public:
    // Of the document itself: an object, or a list of objects.
    void walk(const Node& root) {
        if (root.is_sequence()) {
            add_rows(root, "$", "items");
        } else {
            add_members(root, "$", "", nullptr, 0);
        }
    }

    Sketch finish(const std::string& name) {
        Sketch sketch;
        sketch.captured_name = "captured.json";
        sketch.remarks = std::move(remarks_);
        sketch.manifest = fmt::format(
            "schema: pollux/1\nname: {0}\nversion: 0.1.0\ntitle: {0}\n"
            "description: Made from a captured reply; say here what it is.\n"
            "category: application\nprotocol: http\ninterval: 60s\n\nparameters:\n"
            "  path: {{type: path, default: /, description: Path of the document.}}\n\nhttp:\n"
            "  base: \"http://{{host}}:{{port}}\"\n  headers: {{Accept: application/json}}\n"
            "  endpoints:\n    - name: document\n      path: \"{{path}}\"\n      format: json\n"
            "{1}\nmetrics:\n{2}",
            name, rows_.empty() ? "" : "      rows:\n" + rows_, metrics_);
        sketch.test_case = fmt::format(
            "description: What was captured.\nsteps:\n  - at: 0s\n"
            "    http: {{body_file: {}}}\n    expect:\n{}      missing: 0\n",
            sketch.captured_name, readings_.empty() ? "" : "      readings:\n" + readings_);
        return sketch;
    }

  private:
    // A member by name, in the brackets of RFC 9535 where the name is no plain word.
    static std::string step(std::string_view key) {
        const auto plain = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_';
        };
        const bool word =
            !key.empty() && std::ranges::all_of(key, plain) && !(key[0] >= '0' && key[0] <= '9');
        return word ? "." + std::string(key) : "[" + document::json_string(key) + "]";
    }

    static std::string_view type_of(const Node& value) {
        if (value.quoted()) return "text";
        return document::parse_boolean(value.scalar()) ? "state" : "gauge";
    }

    void add_members(const Node& map, const std::string& path, const std::string& prefix,
                     const std::string* rows, std::size_t depth) {
        if (depth > kMaxDepth) {
            remarks_.push_back(fmt::format("{} lies too deep and was left out", path));
            return;
        }
        for (const document::MapEntry& entry : map.entries()) {
            const std::string at = path + step(entry.key);
            const std::string label = prefix.empty() ? entry.key : prefix + "_" + entry.key;
            if (entry.value.is_scalar()) {
                add_metric(entry.value, at, label, rows);
            } else if (entry.value.is_map()) {
                add_members(entry.value, at, label, rows, depth + 1);
            } else if (entry.value.is_sequence() && rows == nullptr) {
                add_rows(entry.value, at, label);
            } else if (entry.value.is_sequence()) {
                remarks_.push_back(fmt::format("{} is a list within a row and was left out", at));
            }
        }
    }

    void add_metric(const Node& value, const std::string& path, const std::string& label,
                    const std::string* rows) {
        if (count_ >= kMaxSketchMetrics) {
            if (count_++ == kMaxSketchMetrics) {
                remarks_.push_back(
                    fmt::format("only the first {} values became metrics", kMaxSketchMetrics));
            }
            return;
        }
        ++count_;
        const std::string metric = fresh_identifier(label, taken_);
        const std::string_view type = type_of(value);
        metrics_ += fmt::format("  - {{name: {}, type: {}, {}path: {}, optional: true}}\n", metric,
                                type, rows == nullptr ? "" : "rows: " + *rows + ", ",
                                document::json_string(path));
        if (rows == nullptr && type != "state") {
            readings_ += fmt::format(
                "        {}: {}\n", metric,
                value.quoted() ? document::json_string(value.scalar()) : value.scalar());
        }
    }

    void add_rows(const Node& list, const std::string& path, const std::string& label) {
        const auto is_map = [](const Node& item) { return item.is_map(); };
        if (list.items().empty() || !std::ranges::all_of(list.items(), is_map)) {
            remarks_.push_back(fmt::format("{} is no list of objects and was left out", path));
            return;
        }
        const std::string rows = fresh_identifier(label, row_names_);
        rows_ += fmt::format("        {}: {{from: {}, name: {}}}\n", rows,
                             document::json_string(path + "[*]"), name_of_rows(list));
        add_members(list.items().front(), "$", rows, &rows, 1);
    }

    // The member that tells the rows apart, by the names that people give it.
    static std::string name_of_rows(const Node& list) {
        constexpr std::array<std::string_view, 9> kNames = {
            "name", "Name", "id", "ID", "label", "device", "interface", "key", "serial"};
        for (const std::string_view candidate : kNames) {
            std::vector<std::string> seen;
            for (const Node& item : list.items()) {
                const Node* value = item.find(candidate);
                if (value != nullptr && value->is_scalar()) seen.push_back(value->scalar());
            }
            std::ranges::sort(seen);
            const bool distinct = std::ranges::adjacent_find(seen) == seen.end();
            if (seen.size() == list.items().size() && distinct) {
                return document::json_string("$" + step(candidate));
            }
        }
        return "index";
    }

    std::string rows_;
    std::string metrics_;
    std::string readings_;
    std::vector<std::string> taken_;
    std::vector<std::string> row_names_;
    std::vector<std::string> remarks_;
    std::size_t count_ = 0;
};

}  // namespace

base::Result<Sketch> sketch_json(const std::string& name, std::string_view body) {
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse(body, "captured.json", diagnostics);
    if (!parsed.ok) return std::unexpected(diagnostics.as_error("sketch.unreadable"));
    JsonSketcher sketcher;
    sketcher.walk(parsed.root);
    return sketcher.finish(name);
}

}  // namespace pollux::app
