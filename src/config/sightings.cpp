#include "config/sightings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace pollux::config {
namespace {

using Names = std::set<std::string, std::less<>>;
using Index = std::map<std::string, Names, std::less<>>;

// "SW1.example.org", "SW1(FOC1234)" -> "sw1".
std::string small(std::string_view name) {
    std::string text(name.substr(0, name.find('(')));
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    return text;
}
std::string without_domain(std::string name) {
    const std::size_t dot = name.find('.');
    const bool digits = name.find_first_not_of("0123456789") == dot;  // an address, no domain
    if (dot != std::string::npos && dot > 0 && !digits) name.resize(dot);
    return name;
}

const Names& found_in(const Index& index, const std::string& key) {
    static const Names none;
    const auto found = key.empty() ? index.end() : index.find(key);
    return found == index.end() ? none : found->second;
}

Names common(const Names& one, const Names& other) {
    Names both;
    std::ranges::set_intersection(one, other, std::inserter(both, both.end()));
    return both;
}

class Reader {
  public:
    Reader(const TopologyInput& input, const std::vector<std::string>& roots)
        : input_(input), roots_(roots.begin(), roots.end()) {
        for (const NeighbourFacts& facts : input_.facts) {
            if (input_.devices.contains(facts.device)) facts_.push_back(&facts);
        }
        make_indexes();
    }

    Sightings run() {
        for (const NeighbourFacts* facts : facts_) read_told(*facts);
        read_bridges();
        for (const auto& [ends, edge] : edges_) {
            const bool spoken = edge.by != std::set{Sighting::kBridge};
            const bool both_read =
                read_.contains(ends.first) && read_.contains(ends.second) && spoken;
            result_.edges.push_back({.one = ends.first,
                                     .other = ends.second,
                                     .by = edge.by,
                                     .one_sided = both_read && edge.told_by.size() == 1});
            result_.neighbours[ends.first][ends.second] = edge.by;
            result_.neighbours[ends.second][ends.first] = edge.by;
        }
        return std::move(result_);
    }

  private:
    struct Edge {
        std::set<Sighting> by;
        Names told_by;
    };
    // What a switch has on one port.
    struct Port {
        Names learned;     // devices whose hardware address it holds
        Names neighbours;  // devices that it names there
    };
    using Ports = std::map<std::uint32_t, Port>;

    void make_indexes() {
        for (const auto& [name, addresses] : input_.addresses) {
            if (!input_.devices.contains(name)) continue;
            for (const std::string& address : addresses) by_address_[address].insert(name);
        }
        for (const auto& [name, device] : input_.devices) add_name(name, name);
        for (const NeighbourFacts* facts : facts_) {
            read_.insert(facts->device);
            if (!facts->learned.empty()) switches_.insert(facts->device);
            if (!facts->name.empty()) add_name(facts->name, facts->device);
            for (const std::string& one : facts->hardware) own_[one].insert(facts->device);
        }
        holders_ = own_;
        for (const NeighbourFacts* facts : facts_) {
            for (const auto& [address, hardware] : facts->arp) {
                for (const std::string& device : found_in(by_address_, address)) {
                    holders_[hardware].insert(device);
                }
            }
        }
    }

    void add_name(const std::string& name, const std::string& device) {
        const std::string whole = small(name);
        const std::string bare = without_domain(whole);
        by_name_[whole].insert(device);
        (bare == whole ? by_bare_name_ : by_short_name_)[bare].insert(device);
    }

    // The first kind of evidence that fits anybody says who it is; the others only narrow it down.
    Names meant(const Neighbour& neighbour) const {
        Names by_address;
        for (const std::string& address : neighbour.addresses) {
            by_address.merge(Names(found_in(by_address_, address)));
        }
        // A domain may be missing on one side; two different ones are two devices.
        const std::string name = small(neighbour.name);
        const std::string bare = without_domain(name);
        const Names& by_part =
            bare == name ? found_in(by_short_name_, name) : found_in(by_bare_name_, bare);
        Names result;
        for (const Names& kind :
             {found_in(own_, neighbour.hardware), by_address, found_in(by_name_, name), by_part}) {
            if (result.empty()) {
                result = kind;
            } else if (Names both = common(result, kind); !both.empty()) {
                result = std::move(both);
            }
        }
        return result;
    }

    void read_told(const NeighbourFacts& facts) {
        for (const Neighbour& neighbour : facts.neighbours) {
            Names who = meant(neighbour);
            // A loop in the cabling, or a name that everybody has.
            if (who.erase(facts.device) > 0 && who.empty()) continue;
            if (who.empty()) {
                result_.unknown.insert(
                    {.name = neighbour.name,
                     .address = neighbour.addresses.empty() ? "" : neighbour.addresses.front(),
                     .hardware = neighbour.hardware,
                     .seen_by = facts.device,
                     .by = neighbour.by});
                continue;
            }
            if (who.size() > 1) {
                result_.ambiguous.insert({.what = fmt::format("neighbour {}", shown(neighbour)),
                                          .seen_by = facts.device,
                                          .devices = {who.begin(), who.end()}});
                continue;
            }
            connect(facts.device, *who.begin(), neighbour.by);
            heard_.insert(facts.device);
            heard_.insert(*who.begin());
            if (neighbour.port != 0) {
                ports_[facts.device][neighbour.port].neighbours.insert(*who.begin());
            }
        }
    }

    static std::string shown(const Neighbour& neighbour) {
        if (!neighbour.name.empty()) return neighbour.name;
        if (!neighbour.addresses.empty()) return neighbour.addresses.front();
        return neighbour.hardware;
    }

    void connect(const std::string& from, const std::string& to, Sighting by) {
        Edge& edge = edges_[{std::min(from, to), std::max(from, to)}];
        edge.by.insert(by);
        edge.told_by.insert(from);
    }

    // Those that neither speak nor are spoken of: behind the port that holds them alone.
    void read_bridges() {
        for (const NeighbourFacts* facts : facts_) {
            for (const auto& [hardware, port] : facts->learned) {
                const Names& who = found_in(holders_, hardware);
                if (port != 0) {
                    ports_[facts->device][port].learned.insert(who.begin(), who.end());
                }
            }
        }
        std::map<std::string, Names, std::less<>> behind;  // device -> switches
        for (const auto& [device, ports] : ports_) {
            for (const auto& [number, port] : ports) {
                for (const std::string& one : port.learned) {
                    const bool silent = one != device && !heard_.contains(one);
                    if (silent && is_edge_port(port, one)) behind[one].insert(device);
                }
            }
        }
        for (const auto& [device, switches] : behind) {
            if (switches.size() == 1) {
                connect(*switches.begin(), device, Sighting::kBridge);
            } else {
                result_.ambiguous.insert({.what = fmt::format("device {}", device),
                                          .seen_by = "",
                                          .devices = {switches.begin(), switches.end()}});
            }
        }
    }

    // Nothing but ends of the network is there beside the device.
    bool is_edge_port(const Port& port, const std::string& device) const {
        const auto leads_on = [&](const std::string& other) {
            return other != device && (switches_.contains(other) || roots_.contains(other));
        };
        const auto unread = [&](const std::string& other) {
            return other != device && !read_.contains(other);
        };
        return std::ranges::none_of(port.learned, leads_on) &&
               std::ranges::none_of(port.neighbours, leads_on) &&
               std::ranges::none_of(port.neighbours, unread);
    }

    const TopologyInput& input_;
    Names roots_;
    std::vector<const NeighbourFacts*> facts_;
    Names read_;
    Names switches_;  // that showed what is behind their ports
    Names heard_;     // that have a neighbour by LLDP or CDP
    Index own_;       // hardware address -> whose it is, as they say themselves
    Index holders_;   // the same, and by the tables of those that spoke with them
    Index by_address_;
    Index by_name_;
    Index by_bare_name_;   // of names without a domain
    Index by_short_name_;  // of the others: what stands before it
    std::map<std::pair<std::string, std::string>, Edge> edges_;
    std::map<std::string, Ports, std::less<>> ports_;
    Sightings result_;
};

}  // namespace

Sightings read_sightings(const TopologyInput& input, const std::vector<std::string>& roots) {
    return Reader(input, roots).run();
}

}  // namespace pollux::config
