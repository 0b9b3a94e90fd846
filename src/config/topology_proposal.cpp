#include "config/topology_proposal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;

constexpr std::size_t kMostNotes = 50;       // of each kind
constexpr std::size_t kMostNoteBytes = 200;  // of a text that a device told
constexpr std::size_t kMostNoteDevices = 8;  // of an ambiguous sighting
constexpr std::size_t kAroundDevice = 8;     // dash, blanks, line end
constexpr std::size_t kAroundGroup = 80;     // the words of its keys
constexpr std::size_t kOwnWords = 512;       // counts and section heads
constexpr std::size_t kWrittenPerByte = 4;   // of a text with escapes, at most
constexpr std::array<std::string_view, 5> kStandings = {"new", "changed", "same", "by_hand",
                                                        "circle"};

Node names_of(const std::vector<std::string>& names) { return parts::names_node(names); }

Node words_of(const std::set<Sighting>& by) {
    Node list = Node::sequence();
    for (const Sighting one : by) list.push(Node::text(std::string(to_string(one))));
    return list;
}

// As a device told it: bounded, without control characters.
Node told(const std::string& text) {
    std::string plain = base::plain_text(std::string_view(text).substr(0, kMostNoteBytes));
    std::ranges::replace(plain, '\n', ' ');
    std::ranges::replace(plain, '\t', ' ');
    return Node::text(std::move(plain));
}

template <class List, class Write>
void add_notes(Node& root, const char* key, const List& list, Write write) {
    if (list.empty()) return;
    Node notes = Node::map();
    notes.set("count", Node::unsigned_integer(list.size()));
    Node items = Node::sequence();
    for (std::size_t i = 0; i < std::min(list.size(), kMostNotes); ++i) items.push(write(list[i]));
    notes.set("items", std::move(items));
    root.set(key, std::move(notes));
}

Node note_of(const UnknownNeighbour& one) {
    Node node = Node::map();
    if (!one.name.empty()) node.set("name", told(one.name));
    if (!one.address.empty()) node.set("address", told(one.address));
    if (!one.hardware.empty()) node.set("hardware", told(one.hardware));
    node.set("seen_by", Node::text(one.seen_by));
    node.set("by", Node::text(std::string(to_string(one.by))));
    return node;
}

Node note_of(const AmbiguousSighting& one) {
    Node node = Node::map();
    node.set("what", told(one.what));
    if (!one.seen_by.empty()) node.set("seen_by", Node::text(one.seen_by));
    const std::size_t shown = std::min(one.devices.size(), kMostNoteDevices);
    node.set("devices", names_of({one.devices.begin(),
                                  one.devices.begin() + static_cast<std::ptrdiff_t>(shown)}));
    return node;
}

void add_all_notes(Node& root, const Topology& topology) {
    const auto name = [](const std::string& one) { return Node::text(one); };
    add_notes(root, "unreached", topology.unreached, name);
    add_notes(root, "unknown", topology.unknown, [](const auto& one) { return note_of(one); });
    add_notes(root, "ambiguous", topology.ambiguous, [](const auto& one) { return note_of(one); });
    std::vector<std::string> circles;
    for (const ProposedParents& one : topology.proposals) {
        if (one.standing == Standing::kCircle) circles.push_back(one.device);
    }
    add_notes(root, "circles", circles, name);
    std::vector<const TopologyEdge*> one_sided;
    for (const TopologyEdge& edge : topology.edges) {
        if (edge.one_sided) one_sided.push_back(&edge);
    }
    add_notes(root, "one_sided", one_sided,
              [](const TopologyEdge* edge) { return names_of({edge->one, edge->other}); });
}

std::size_t written_size(const std::string& text) {
    return text.size() * kWrittenPerByte + kAroundDevice;
}

// Devices with the same parents by the same evidence stand together: a switch has many.
class Groups {
  public:
    explicit Groups(std::size_t room) : room_(room) {}

    // False: no room for it.
    bool add(const ProposedParents& one) {
        const auto key = std::tuple(one.distance, one.parents, one.by);
        const auto found = groups_.find(key);
        std::size_t needed = document::to_yaml(Node::text(one.device)).size() + kAroundDevice;
        if (found == groups_.end()) {
            needed += kAroundGroup;
            for (const std::string& parent : one.parents) needed += written_size(parent);
        }
        if (needed > room_) return false;
        room_ -= needed;
        groups_[key].push_back(one.device);
        return true;
    }
    Node node() const {
        Node list = Node::sequence();
        for (const auto& [key, devices] : groups_) {
            Node group = Node::map();
            group.set("parents", names_of(std::get<1>(key)));
            group.set("by", words_of(std::get<2>(key)));
            group.set("devices", names_of(devices));
            list.push(std::move(group));
        }
        return list;
    }

  private:
    std::size_t room_;
    std::map<std::tuple<std::uint32_t, std::vector<std::string>, std::set<Sighting>>,
             std::vector<std::string>>
        groups_;
};

std::vector<std::string> texts_of(const Node* list) {
    std::vector<std::string> texts;
    if (list == nullptr) return texts;
    for (const Node& item : list->items()) texts.push_back(item.scalar());
    return texts;
}

const ConfigObject* device_in(std::span<const ConfigObject> current, std::string_view name) {
    const auto range =
        std::ranges::equal_range(current, ObjectKind::kDevice, {}, &ConfigObject::kind);
    const auto found = std::ranges::lower_bound(range, name, {}, &ConfigObject::name);
    return found != range.end() && found->name == name ? &*found : nullptr;
}

Device read_body(const ConfigObject& object) {
    document::Diagnostics ignored;  // it is stored, so it was good
    const Node body = document::parse_json(object.body, object.name, ignored).root;
    return parts::read_device({body, "", ignored});
}

Device with_parents(Device device, const ParentsChange& change, const std::string& job_id) {
    device.parents.clear();
    device.labels.erase(std::string(kParentsLabel));
    if (change.parents.empty()) return device;
    device.parents.push_back(change.parents);
    device.labels.emplace(kParentsLabel, job_id);
    return device;
}

std::string file_text(const ParentsChange& change, const std::string& job_id) {
    const Node all = parts::write(with_parents({}, change, job_id));
    Node entry = Node::map();
    entry.set(change.device, all);
    Node root = Node::map();
    root.set("devices", std::move(entry));
    return document::to_yaml(root);
}

void compare(ParentsChange& change, std::span<const ConfigObject> current) {
    const ConfigObject* object = device_in(current, change.device);
    if (object == nullptr) return;
    change.origin = object->origin;
    const Device device = read_body(*object);
    change.current = device.parents;
    change.standing = standing_of(device, change.parents);
}

}  // namespace

std::string_view to_string(Standing standing) {
    return kStandings[static_cast<std::size_t>(standing)];
}

Node topology_node(const Topology& topology, const TopologyAsked& asked, std::size_t room) {
    Node root = Node::map();
    root.set("roots", names_of(topology.roots));
    root.set("asked", Node::unsigned_integer(asked.asked));
    root.set("answered", Node::unsigned_integer(asked.answered));
    Node notes = Node::map();
    add_all_notes(notes, topology);
    const std::size_t taken =
        document::to_yaml(notes).size() + kOwnWords + document::to_yaml(root).size();
    Groups groups(room > taken ? room - taken : 0);
    std::size_t same = 0;
    std::size_t proposed = 0;
    std::size_t left_out = 0;
    for (const ProposedParents& one : topology.proposals) {
        if (one.standing == Standing::kCircle) continue;
        // A root that has no parents has nothing to be told.
        if (one.standing == Standing::kSame) {
            if (!one.parents.empty()) ++same;
        } else if (groups.add(one)) {
            ++proposed;
        } else {
            ++left_out;
        }
    }
    root.set("proposed", Node::unsigned_integer(proposed));
    root.set("same", Node::unsigned_integer(same));
    root.set("left_out", Node::unsigned_integer(left_out));
    root.set("behind", groups.node());
    for (const auto& entry : notes.entries()) root.set(entry.key, entry.value);
    return root;
}

std::vector<ParentsChange> read_changes(const Node& topology, const std::string& job_id,
                                        std::span<const ConfigObject> current) {
    std::vector<ParentsChange> changes;
    const Node* groups = topology.find("behind");
    if (groups == nullptr) return changes;
    for (const Node& group : groups->items()) {
        const std::vector<std::string> parents = texts_of(group.find("parents"));
        const std::vector<std::string> by = texts_of(group.find("by"));
        for (std::string& device : texts_of(group.find("devices"))) {
            ParentsChange change;
            change.device = std::move(device);
            change.parents = parents;
            change.by = by;
            compare(change, current);
            change.text = file_text(change, job_id);
            changes.push_back(std::move(change));
        }
    }
    return changes;
}

base::Result<std::vector<WantedObject>> plan_parents(std::span<const ParentsChange> changes,
                                                     const std::string& job_id,
                                                     std::span<const ConfigObject> current,
                                                     const ParentsChoice& choice) {
    std::map<std::string_view, const ParentsChange*> by_name;
    for (const ParentsChange& change : changes) by_name.emplace(change.device, &change);
    std::set<std::string_view> chosen(choice.devices.begin(), choice.devices.end());
    if (chosen.empty()) {
        for (const ParentsChange& change : changes) {
            const bool open =
                change.standing == Standing::kNew || change.standing == Standing::kChanged;
            const bool ours = change.origin == model::Origin::kApi;
            if (open && change.origin && (ours || choice.adopt)) chosen.insert(change.device);
        }
    }
    std::vector<WantedObject> wanted;
    for (const std::string_view name : chosen) {
        const auto found = by_name.find(name);
        const ConfigObject* object = device_in(current, name);
        if (found == by_name.end() || object == nullptr) {
            return base::config_error(
                "topology.unknown",
                fmt::format("the job proposes nothing for device {}{}", quoted(name),
                            found == by_name.end() ? "" : " any more: it is gone"));
        }
        const ParentsChange& change = *found->second;
        if (change.standing == Standing::kSame) continue;
        if (change.standing == Standing::kByHand) {
            return base::config_error(
                "topology.by_hand",
                fmt::format("the parents of device {} were written by hand ({}): take them away "
                            "there first, if the proposal is right",
                            quoted(name), parents_text(change.current)));
        }
        WantedObject one;
        one.kind = ObjectKind::kDevice;
        one.name = change.device;
        one.if_version = object->version;
        if (object->origin != model::Origin::kApi && choice.adopt) {
            one.verb = EditVerb::kAdopt;
            wanted.push_back(one);
            one.if_version.reset();  // it is ours from here on
        }
        one.verb = EditVerb::kReplace;
        one.body = parts::write(with_parents(read_body(*object), change, job_id));
        wanted.push_back(std::move(one));
    }
    return wanted;
}

}  // namespace pollux::config
