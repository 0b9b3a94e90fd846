// From the walk of an SNMP agent: instances that end in .0 and stand alone are scalars, the others
// are taken apart into tables, columns and indices.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "app/addon_sketch.hpp"
#include "document/write.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/shipped_addons.hpp"
#include "runtime/trial/case_reply.hpp"

namespace pollux::app {
namespace {

using model::Oid;
using model::SnmpType;
using model::SnmpValue;

constexpr std::size_t kShortestEntry = 7;  // below 1.3.6.1.2.1.x or 1.3.6.1.4.1.x

using Columns = std::map<Oid, std::map<Oid, const SnmpValue*>>;  // column -> index -> value

Oid head_of(const Oid& oid, std::size_t arcs) {
    return {{oid.arcs.begin(), oid.arcs.begin() + static_cast<std::ptrdiff_t>(arcs)}};
}

Oid tail_of(const Oid& oid, std::size_t from) {
    return {{oid.arcs.begin() + static_cast<std::ptrdiff_t>(from), oid.arcs.end()}};
}

// Names that our own addons give to objects.
std::map<Oid, std::string> known_names() {
    std::map<Oid, std::string> names;
    for (const extract::ShippedAddon& shipped : extract::shipped_addons()) {
        const auto compiled = extract::compile(shipped.manifest, std::string(shipped.file));
        if (compiled.addon == nullptr) continue;
        for (auto& [oid, name] : compiled.addon->object_names()) {
            names.emplace(oid, std::move(name));
        }
    }
    return names;
}

std::string_view metric_type(const SnmpValue& value) {
    switch (value.type) {
        case SnmpType::kCounter32:
        case SnmpType::kCounter64: return "counter";
        case SnmpType::kInteger:
        case SnmpType::kGauge32:
        case SnmpType::kTimeTicks: return "gauge";
        default: return "text";
    }
}

bool is_text(const SnmpValue& value) {
    return value.type == SnmpType::kOctetString && !value.bytes.empty() &&
           std::ranges::all_of(value.bytes, [](char c) { return c >= ' ' && c <= '~'; });
}

class SnmpSketcher {
  public:
    explicit SnmpSketcher(const runtime::SnmpCapture& values)
        : values_(values), names_(known_names()) {}

    Sketch sketch(const std::string& name) {
        take_apart();
        std::string gets;
        for (const auto& [oid, value] : scalars_) gets += add_scalar(oid, *value);
        std::string tables;
        for (const auto& [entry, columns] : tables_) tables += add_table(entry, columns);
        Sketch sketch;
        sketch.captured_name = "captured.txt";
        sketch.remarks = std::move(remarks_);
        sketch.manifest = fmt::format(
            "schema: pollux/1\nname: {0}\nversion: 0.1.0\ntitle: {0}\n"
            "description: Made from a walk; say here what it is.\ncategory: network\n"
            "protocol: snmp\ninterval: 60s\ntimeout: 10s\n\nsnmp:\n{1}{2}\nmetrics:\n{3}",
            name, gets.empty() ? "" : "  gets:\n" + gets,
            tables.empty() ? "" : "  tables:\n" + tables, metrics_);
        sketch.test_case = fmt::format(
            "description: What was captured.\nsteps:\n  - at: 0s\n    snmp: {{file: {}}}\n"
            "    expect:\n{}      missing: 0\n",
            sketch.captured_name, readings_.empty() ? "" : "      readings:\n" + readings_);
        return sketch;
    }

  private:
    // The only instance of its object, .0, and no row of a table: an index may end in 0 too.
    bool is_scalar(const Oid& oid) {
        if (oid.arcs.size() < kShortestEntry || oid.arcs.back() != 0) return false;
        const Oid object = head_of(oid, oid.arcs.size() - 1);
        const auto next = std::next(values_.find(oid));
        if (next != values_.end() && next->first.starts_with(object)) return false;
        for (std::size_t at = kShortestEntry; at + 3 < oid.arcs.size(); ++at) {
            if (oid.arcs[at] == 1 && shape_of(head_of(oid, at + 1)).is_table) return false;
        }
        return true;
    }

    void take_apart() {
        for (const auto& [oid, value] : values_) {
            if (is_scalar(oid)) scalars_.emplace(oid, &value);
        }
        std::size_t strange = 0;
        for (const auto& [oid, value] : values_) {
            if (scalars_.contains(oid)) continue;
            const auto entry = entry_of(oid);
            if (!entry) {
                ++strange;
                continue;
            }
            const Oid column = head_of(oid, *entry + 1);
            tables_[head_of(oid, *entry)][column][tail_of(oid, *entry + 1)] = &value;
        }
        if (strange > 0) {
            remarks_.push_back(
                fmt::format("{} values are neither scalars nor parts of a table", strange));
        }
    }

    // How many arcs the entry of the table has: T.1 in T.1.column.index. Of the places where the
    // arc 1 stands, the one below which most columns share their indices.
    std::optional<std::size_t> entry_of(const Oid& oid) {
        std::optional<std::size_t> best;
        std::size_t most = 0;
        for (std::size_t at = kShortestEntry; at + 2 < oid.arcs.size(); ++at) {
            if (oid.arcs[at] != 1) continue;
            const Shape shape = shape_of(head_of(oid, at + 1));
            if (shape.alike > most) {
                most = shape.alike;
                best = at + 1;
            }
        }
        return best;
    }

    struct Shape {
        std::size_t alike = 0;  // columns that have the same indices; 0: no entry
        bool is_table = false;  // several columns, most of them alike
    };

    Shape shape_of(const Oid& entry) {
        const auto known = shapes_.find(entry);
        if (known != shapes_.end()) return known->second;
        Shape& shape = shapes_[entry];
        std::map<std::uint32_t, std::set<Oid>> indices;
        for (auto at = values_.lower_bound(entry);
             at != values_.end() && at->first.starts_with(entry); ++at) {
            // A value right below an entry: it is none.
            if (at->first.arcs.size() < entry.arcs.size() + 2) return shape;
            indices[at->first.arcs[entry.arcs.size()]].insert(
                tail_of(at->first, entry.arcs.size() + 1));
        }
        std::map<std::set<Oid>, std::size_t> alike;
        for (const auto& [column, set] : indices) {
            shape.alike = std::max(shape.alike, ++alike[set]);
        }
        shape.is_table = indices.size() > 1 && shape.alike * 5 >= indices.size() * 3;
        return shape;
    }

    std::string object_name(const Oid& oid, std::string_view otherwise) {
        const auto known = names_.find(oid);
        return fresh_identifier(known == names_.end() ? otherwise : known->second, taken_);
    }

    bool room() {
        if (taken_.size() < kMaxSketchMetrics) return true;
        if (!full_) {
            remarks_.push_back(
                fmt::format("only the first {} objects became metrics", kMaxSketchMetrics));
        }
        full_ = true;
        return false;
    }

    std::string add_scalar(const Oid& oid, const SnmpValue& value) {
        if (!room()) return "";
        const std::size_t size = oid.arcs.size();
        const std::string name =
            object_name(oid, fmt::format("value_{}_{}", oid.arcs[size - 3], oid.arcs[size - 2]));
        const bool ticks = value.type == SnmpType::kTimeTicks;
        metrics_ += fmt::format("  - {{name: {0}, type: {1}, get: {0}{2}, optional: true}}\n", name,
                                metric_type(value), ticks ? ", unit: seconds, scale: 0.01" : "");
        if (is_text(value)) {
            readings_ += fmt::format("        {}: {}\n", name, document::json_string(value.bytes));
        } else if (value.type == SnmpType::kInteger) {
            readings_ += fmt::format("        {}: {}\n", name, value.integer);
        }
        return fmt::format("    - {{name: {}, oid: {}}}\n", name, model::to_string(oid));
    }

    std::string add_table(const Oid& entry, const Columns& columns) {
        if (!room()) return "";
        const std::string table = fresh_identifier(
            fmt::format("table_{}", entry.arcs[entry.arcs.size() - 2]), table_names_);
        std::string text = fmt::format("    - name: {}\n      columns:\n", table);
        std::string row;
        for (const auto& [oid, cells] : columns) {
            if (!room()) break;
            const std::string name = object_name(oid, fmt::format("{}_{}", table, oid.arcs.back()));
            const SnmpValue& first = *cells.begin()->second;
            if (row.empty() && names_rows(cells)) row = name;
            text += fmt::format("        {}: {}\n", name, model::to_string(oid));
            metrics_ += fmt::format(
                "  - {{name: {0}, type: {1}, rows: {2}, column: {0}, optional: true}}\n", name,
                metric_type(first), table);
        }
        return text + fmt::format("      row: {}\n", row.empty() ? "index" : "[" + row + "]");
    }

    // A text in every row, no two alike.
    static bool names_rows(const std::map<Oid, const SnmpValue*>& cells) {
        std::set<std::string_view> seen;
        for (const auto& [index, value] : cells) {
            if (!is_text(*value) || !seen.insert(value->bytes).second) return false;
        }
        return true;
    }

    const runtime::SnmpCapture& values_;
    std::map<Oid, std::string> names_;
    std::map<Oid, const SnmpValue*> scalars_;
    std::map<Oid, Columns> tables_;  // by entry
    std::map<Oid, Shape> shapes_;    // by entry
    std::vector<std::string> taken_;
    std::vector<std::string> table_names_;
    std::string metrics_;
    std::string readings_;
    std::vector<std::string> remarks_;
    bool full_ = false;
};

}  // namespace

base::Result<Sketch> sketch_snmp(const std::string& name, std::string_view walk) {
    const auto values = runtime::read_snmp_capture(walk);
    if (!values) return std::unexpected(values.error());
    return SnmpSketcher(*values).sketch(name);
}

}  // namespace pollux::app
