// Reading and writing of `alerts:`: what a level of the fleet says about types of alerts.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"

namespace pollux::config::parts {

using document::Diagnostics;
using document::MapEntry;
using document::MapReader;
using document::Node;
using model::AlertOverride;

namespace {

constexpr std::size_t kMaxTypes = 1000;
constexpr std::size_t kMaxRows = 1000;
constexpr std::array<std::string_view, 5> kSeverities = {"critical", "major", "minor", "warning",
                                                         "info"};

// Adds to a map that the caller finishes.
AlertOverride read_override(MapReader& reader) {
    AlertOverride out;
    out.enabled = reader.boolean("enabled");
    out.trigger = reader.number("trigger");
    out.clear = reader.number("clear");
    if (const auto word = reader.one_of("severity", kSeverities)) {
        out.severity = model::severity_of(kSeverities[*word]);
    }
    const base::Duration none{};
    out.sustained = reader.duration("for", none, model::kLongestPatience);
    out.keep_firing_for = reader.duration("keep_firing_for", none, model::kLongestPatience);
    return out;
}

// Each entry of a map of maps, by its name.
template <class Read>
void each_entry(MapReader& outer, std::string_view key, std::string_view kind, std::size_t most,
                Diagnostics& diagnostics, Read&& read) {
    const Node* node = outer.map(key);
    if (node == nullptr) return;
    if (node->entries().size() > most) {
        outer.error(key, fmt::format("has more than {} entries", most));
        return;
    }
    for (const MapEntry& entry : node->entries()) {
        const std::string path = document::key_path(outer.path_of(key), entry.key);
        const auto name = read_name(kind, entry.key, entry.key_mark, path, diagnostics);
        MapReader reader(entry.value, path, diagnostics);
        const bool fresh = read(reader, name.value_or(""));
        reader.finish();
        if (!fresh) {
            diagnostics.error(entry.key_mark, path,
                              fmt::format("{} {} is there twice", kind, base::quoted(*name)));
        }
    }
}

void write_override(Node& node, const AlertOverride& values) {
    if (values.enabled) node.set("enabled", Node::boolean(*values.enabled));
    if (values.trigger) node.set("trigger", Node::number(*values.trigger));
    if (values.clear) node.set("clear", Node::number(*values.clear));
    if (values.severity) node.set("severity", Node::text(std::string(to_string(*values.severity))));
    if (values.sustained) node.set("for", duration_node(*values.sustained));
    if (values.keep_firing_for) {
        node.set("keep_firing_for", duration_node(*values.keep_firing_for));
    }
}

}  // namespace

ByName<AlertSettings> read_alerts(MapReader& outer, Diagnostics& diagnostics) {
    ByName<AlertSettings> alerts;
    each_entry(outer, "alerts", "alert", kMaxTypes, diagnostics,
               [&](MapReader& reader, const std::string& type) {
                   AlertSettings settings;
                   settings.all = read_override(reader);
                   each_entry(reader, "rows", "row", kMaxRows, diagnostics,
                              [&](MapReader& row, const std::string& pattern) {
                                  const AlertOverride values = read_override(row);
                                  return pattern.empty() ||
                                         settings.rows.emplace(pattern, values).second;
                              });
                   return type.empty() || alerts.emplace(type, std::move(settings)).second;
               });
    return alerts;
}

Node alerts_node(const ByName<AlertSettings>& alerts) {
    Node node = Node::map();
    for (const auto& [type, settings] : alerts) {
        Node one = Node::map();
        write_override(one, settings.all);
        Node rows = Node::map();
        for (const auto& [pattern, values] : settings.rows) {
            Node row = Node::map();
            write_override(row, values);
            rows.set(pattern, std::move(row));
        }
        if (!rows.entries().empty()) one.set("rows", std::move(rows));
        node.set(type, std::move(one));
    }
    return node;
}

}  // namespace pollux::config::parts
