#include "alert/planner_state.hpp"

#include <algorithm>
#include <limits>

#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::alert::planner {
namespace {

using base::WallTime;
using document::MapReader;
using document::Node;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr document::ParseLimits kLimits{
    .max_bytes = 16U << 20U, .max_depth = 16, .max_nodes = 1'000'000};

Node time_node(WallTime at) { return Node::integer(at.us); }
Node severity_node(model::Severity severity) {
    return Node::integer(static_cast<std::int64_t>(severity));
}
template <class Names>
Node names_node(const Names& names) {
    Node list = Node::sequence();
    for (const std::string& name : names) list.push(Node::text(name));
    return list;
}
Node times_node(const std::vector<WallTime>& times) {
    Node list = Node::sequence();
    for (const WallTime at : times) list.push(time_node(at));
    return list;
}

// Reads one map; what is missing or out of range is a diagnostic of the row.
struct Reader {
    MapReader reader;
    document::Diagnostics& diagnostics;

    Reader(const Node& node, std::string path, document::Diagnostics& into)
        : reader(node, std::move(path), into), diagnostics(into) {}

    std::string text(std::string_view key) { return reader.string(key).value_or(""); }
    WallTime time(std::string_view key) {
        return {reader.integer(key, -kMost, kMost, document::Need::kRequired).value_or(0)};
    }
    std::uint32_t count(std::string_view key) {
        return static_cast<std::uint32_t>(
            reader.integer(key, 0, std::numeric_limits<std::uint32_t>::max()).value_or(0));
    }
    std::uint64_t large(std::string_view key) {
        return static_cast<std::uint64_t>(reader.integer(key, 0, kMost).value_or(0));
    }
    model::Severity severity(std::string_view key) {
        return static_cast<model::Severity>(reader.integer(key, 0, 4).value_or(0));
    }
    NameSet names(std::string_view key) {
        NameSet set;
        for (const std::string& name : reader.strings(key)) set.insert(name);
        return set;
    }
    std::vector<WallTime> times(std::string_view key) {
        std::vector<WallTime> result;
        const Node* list = reader.list(key);
        if (list == nullptr) return result;
        for (const Node& item : list->items()) {
            Node wrapped = Node::map();
            wrapped.set("at", item);
            result.push_back(Reader(wrapped, reader.path_of(key), diagnostics).time("at"));
        }
        return result;
    }
    template <class Read>
    void each(std::string_view key, Read read) {
        const Node* list = reader.list(key);
        if (list == nullptr) return;
        for (std::size_t i = 0; i < list->items().size(); ++i) {
            Reader item(list->items()[i], document::item_path(reader.path_of(key), i), diagnostics);
            read(item);
            item.reader.finish();
        }
    }
};

template <class Value, class Read>
base::Result<Value> read_row(std::string_view row, Read read) {
    document::Diagnostics diagnostics;
    const auto parsed = document::parse_json(row, "row of the planner", diagnostics, kLimits);
    Value value;
    if (parsed.ok) {
        Reader reader(parsed.root, "", diagnostics);
        read(reader, value);
        reader.reader.finish();
    }
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("planner.row"));
    return value;
}

Node told_node(const Told& told) {
    Node node = Node::map();
    node.set("open", names_node(told.open));
    node.set("owed", names_node(told.owed));
    node.set("lost", names_node(told.lost));
    node.set("severity", severity_node(told.severity));
    node.set("last", time_node(told.last));
    node.set("ordinal", Node::integer(told.ordinal));
    node.set("reviewed", Node::boolean(told.reviewed));
    return node;
}

Told read_told(Reader& reader) {
    Told told;
    told.open = reader.names("open");
    told.owed = reader.names("owed");
    told.lost = reader.names("lost");
    told.severity = reader.severity("severity");
    told.last = reader.time("last");
    told.ordinal = reader.count("ordinal");
    told.reviewed = reader.reader.boolean("reviewed").value_or(false);
    return told;
}

}  // namespace

bool NameSet::contains(std::string_view name) const {
    return std::ranges::binary_search(names_, name);
}

void NameSet::insert(std::string_view name) {
    const auto at = std::ranges::lower_bound(names_, name);
    if (at == names_.end() || *at != name) names_.insert(at, std::string(name));
}

void NameSet::erase(std::string_view name) {
    const auto at = std::ranges::lower_bound(names_, name);
    if (at != names_.end() && *at == name) names_.erase(at);
}

const model::Alert* Case::root() const {
    const auto found = std::ranges::find_if(
        alerts, [&](const model::Alert& alert) { return alert.id == incident.root; });
    return found == alerts.end() ? nullptr : &*found;
}

MatchLabels Case::labels() const {
    const model::Alert* alert = root();
    return alert == nullptr ? labels_of(incident) : labels_of(*alert);
}

std::string Case::fingerprint() const {
    const model::Alert* alert = root();
    return alert == nullptr ? "incident:" + std::string(to_string(incident.cause))
                            : alert->fingerprint;
}

bool Case::recurs() const {
    const model::Alert* alert = root();
    return alert == nullptr || alert->flapping || !alert->previous.empty();
}

void Case::sort_alerts() {
    std::ranges::sort(alerts, [&](const model::Alert& a, const model::Alert& b) {
        const bool a_root = a.id == incident.root;
        const bool b_root = b.id == incident.root;
        return a_root != b_root ? a_root : a.number < b.number;
    });
}

std::string group_row(const Group& group) {
    Node node = Node::map();
    node.set("route", Node::text(group.route));
    node.set("leader", Node::text(group.leader));
    Node labels = Node::map();
    for (const auto& [name, value] : group.labels) labels.set(name, Node::text(value));
    node.set("labels", std::move(labels));
    Node members = Node::sequence();
    for (const Member& member : group.members) {
        Node one = Node::map();
        one.set("incident", Node::text(member.incident));
        one.set("routed", severity_node(member.routed));
        if (!member.part_of.empty()) one.set("part_of", Node::text(member.part_of));
        members.push(std::move(one));
    }
    node.set("members", std::move(members));
    Node told = Node::sequence();
    for (const auto& [receiver, known] : group.told) {
        Node one = told_node(known);
        one.set("receiver", Node::text(receiver));
        told.push(std::move(one));
    }
    node.set("told", std::move(told));
    node.set("wait_until", time_node(group.wait_until));
    node.set("first_told", time_node(group.first_told));
    node.set("steps", Node::integer(group.steps));
    node.set("left_out", Node::unsigned_integer(group.left_out));
    return document::to_json(node);
}

base::Result<Group> read_group(std::string_view row) {
    return read_row<Group>(row, [](Reader& reader, Group& group) {
        group.route = reader.text("route");
        group.leader = reader.text("leader");
        if (const Node* labels = reader.reader.map("labels")) {
            for (const auto& entry : labels->entries()) {
                group.labels.emplace(entry.key, entry.value.scalar());
            }
        }
        reader.each("members", [&](Reader& one) {
            group.members.push_back(
                {one.text("incident"), one.severity("routed"), one.text("part_of")});
        });
        reader.each("told", [&](Reader& one) {
            const std::string receiver = one.text("receiver");
            group.told.emplace(receiver, read_told(one));
        });
        group.wait_until = reader.time("wait_until");
        group.first_told = reader.time("first_told");
        group.steps = reader.count("steps");
        group.left_out = reader.large("left_out");
    });
}

std::string channel_row(const ChannelMemory& channel) {
    Node node = Node::map();
    node.set("recent", times_node(channel.recent));
    Node waiting = Node::sequence();
    for (const DigestLine& line : channel.waiting) {
        Node one = Node::map();
        one.set("incident", Node::text(line.incident));
        one.set("title", Node::text(line.title));
        one.set("device", Node::text(line.device));
        one.set("severity", severity_node(line.severity));
        one.set("opened_at", time_node(line.opened_at));
        one.set("resolved_at", time_node(line.resolved_at));
        if (line.lane != line.incident) one.set("lane", Node::text(line.lane));
        waiting.push(std::move(one));
    }
    node.set("waiting", std::move(waiting));
    node.set("more", Node::unsigned_integer(channel.more));
    node.set("ordinal", Node::integer(channel.ordinal));
    return document::to_json(node);
}

base::Result<ChannelMemory> read_channel(std::string_view row) {
    return read_row<ChannelMemory>(row, [](Reader& reader, ChannelMemory& channel) {
        channel.recent = reader.times("recent");
        reader.each("waiting", [&](Reader& one) {
            DigestLine line;
            line.incident = one.text("incident");
            line.title = one.text("title");
            line.device = one.text("device");
            line.severity = one.severity("severity");
            line.opened_at = one.time("opened_at");
            line.resolved_at = one.time("resolved_at");
            line.lane = one.reader.string("lane").value_or(line.incident);
            channel.waiting.push_back(std::move(line));
        });
        channel.more = reader.large("more");
        channel.ordinal = reader.count("ordinal");
    });
}

std::string flap_row(const FlapMemory& memory) {
    Node node = Node::map();
    node.set("told", times_node(memory));
    return document::to_json(node);
}

base::Result<FlapMemory> read_flap(std::string_view row) {
    return read_row<FlapMemory>(row, [](Reader& reader, FlapMemory& memory) {
        memory = reader.times("told");
        if (memory.empty()) reader.reader.error("told", "must name a time");
    });
}

}  // namespace pollux::alert::planner
