#include "app/proposal_text.hpp"

#include <fmt/format.h>

#include "app/api_command.hpp"

namespace pollux::app {
namespace {

using document::Node;

std::string joined(const std::vector<Node>& items, std::string_view between) {
    std::string text;
    for (const Node& item : items) {
        if (!text.empty()) text += between;
        text += item.is_sequence() ? joined(item.items(), " | ") : printable(item.scalar());
    }
    return text;
}

// What stands there now, and who decides about it.
std::string note_of(const Node& change) {
    const std::string standing = field(change, "standing");
    if (standing == "by_hand") return "stays: written by hand";
    if (standing == "same") return "is so already";
    if (standing == "gone") return "the device is gone";
    const std::string origin = field(change, "origin");
    return origin == "api" ? standing : fmt::format("{}; owned by {}", standing, origin);
}

std::string note_line(const Node& note) {
    if (note.is_scalar()) return printable(note.scalar());
    if (note.is_sequence()) return joined(note.items(), " - ");
    std::string line;
    for (const auto& entry : note.entries()) {
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", entry.key,
                            entry.value.is_sequence() ? joined(entry.value.items(), " or ")
                                                      : printable(entry.value.scalar()));
    }
    return line;
}

void add_notes(std::string& out, const Node& topology, const char* key, const char* words) {
    const Node* notes = topology.find(key);
    if (notes == nullptr) return;
    out += fmt::format("\n{} {}:\n", field(*notes, "count"), words);
    const auto& items = list_of(*notes, "items");
    for (const Node& item : items) out += "  " + note_line(item) + "\n";
    if (std::to_string(items.size()) != field(*notes, "count")) out += "  and more\n";
}

std::string topology_text(const Node& topology, bool colour) {
    std::string out =
        fmt::format("{} of {} devices answered; roots: {}\n", field(topology, "answered"),
                    field(topology, "asked"), joined(list_of(topology, "roots"), ", "));
    Table table({"DEVICE", "BEHIND", "NOW", "SEEN BY", "NOTE"});
    for (const Node& change : list_of(topology, "changes")) {
        table.add({field(change, "device"), joined(list_of(change, "parents"), " | "),
                   joined(list_of(change, "current"), ", "), joined(list_of(change, "by"), ", "),
                   note_of(change)});
    }
    if (!table.empty()) out += table.text(colour);
    out += fmt::format("{} more have the parents they should have\n", field(topology, "same"));
    if (field(topology, "left_out") != "0") {
        out += fmt::format("{} more did not fit: accept these, then run it again\n",
                           field(topology, "left_out"));
    }
    add_notes(out, topology, "unreached", "devices were not reached from a root");
    add_notes(out, topology, "unknown", "neighbours are not in the fleet");
    add_notes(out, topology, "ambiguous", "sightings fit several devices");
    add_notes(out, topology, "circles",
              "devices would stand behind themselves, with parents "
              "written by hand");
    add_notes(out, topology, "one_sided", "links are seen from one side only");
    return out;
}

std::string sweep_text(const Node& proposal, bool colour) {
    Table table({"DEVICE", "ADDON", "ADDRESS"});
    for (const Node& one : list_of(proposal, "operations")) {
        const Node* device = one.find("device_spec");
        table.add({field(one, "device"), field(one, "addon"),
                   device == nullptr ? "" : field(*device, "address")});
    }
    return table.empty() ? "nothing new was found\n" : table.text(colour);
}

}  // namespace

std::string proposal_text(const Node& proposal, bool colour) {
    const Node* topology = proposal.find("topology");
    return topology == nullptr ? sweep_text(proposal, colour) : topology_text(*topology, colour);
}

}  // namespace pollux::app
