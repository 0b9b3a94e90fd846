#include "runtime/jobs/neighbour_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "base/text.hpp"
#include "net/ip_address.hpp"

namespace pollux::runtime {
namespace {

using config::Neighbour;
using config::NeighbourFacts;
using config::Sighting;
using model::Oid;
using model::SnmpReply;
using model::SnmpRow;
using model::SnmpType;
using model::SnmpValue;

using Arcs = std::span<const std::uint32_t>;

constexpr std::size_t kMostName = 200;
constexpr std::size_t kHardwareBytes = 6;

// --- what is asked, in the order in which the answers are read -----------------------------------

enum SpokenGet : std::size_t { kSysName, kChassisType, kChassisId, kLldpName };
constexpr std::array<std::string_view, 4> kSpokenGets = {
    "1.3.6.1.2.1.1.5.0", "1.0.8802.1.1.2.1.3.1.0", "1.0.8802.1.1.2.1.3.2.0",
    "1.0.8802.1.1.2.1.3.3.0"};

enum SpokenWalk : std::size_t {
    kIfHardware,
    kIfName,
    kPortIdType,
    kPortId,
    kRemoteChassisType,
    kRemoteChassis,
    kRemoteName,
    kRemoteAddress,
    kCdpAddress,
    kCdpDevice,
};
constexpr std::array<std::string_view, 10> kSpokenWalks = {
    "1.3.6.1.2.1.2.2.1.6",           // ifPhysAddress
    "1.3.6.1.2.1.31.1.1.1.1",        // ifName
    "1.0.8802.1.1.2.1.3.7.1.2",      // lldpLocPortIdSubtype
    "1.0.8802.1.1.2.1.3.7.1.3",      // lldpLocPortId
    "1.0.8802.1.1.2.1.4.1.1.4",      // lldpRemChassisIdSubtype
    "1.0.8802.1.1.2.1.4.1.1.5",      // lldpRemChassisId
    "1.0.8802.1.1.2.1.4.1.1.9",      // lldpRemSysName
    "1.0.8802.1.1.2.1.4.2.1.3",      // lldpRemManAddrIfSubtype; the address is in the index
    "1.3.6.1.4.1.9.9.23.1.2.1.1.4",  // cdpCacheAddress
    "1.3.6.1.4.1.9.9.23.1.2.1.1.6",  // cdpCacheDeviceId
};

enum ArpWalk : std::size_t { kArpOld, kArpNew };
constexpr std::array<std::string_view, 2> kArpWalks = {
    "1.3.6.1.2.1.4.22.1.2",  // ipNetToMediaPhysAddress
    "1.3.6.1.2.1.4.35.1.4",  // ipNetToPhysicalPhysAddress
};

constexpr std::array<std::string_view, 1> kBridgeGets = {
    "1.3.6.1.2.1.17.1.1.0",  // dot1dBaseBridgeAddress
};
enum BridgeWalk : std::size_t { kPortInterface, kLearned, kLearnedByVlan };
constexpr std::array<std::string_view, 3> kBridgeWalks = {
    "1.3.6.1.2.1.17.1.4.1.2",      // dot1dBasePortIfIndex
    "1.3.6.1.2.1.17.4.3.1.2",      // dot1dTpFdbPort
    "1.3.6.1.2.1.17.7.1.2.2.1.2",  // dot1qTpFdbPort
};

// Subtypes of LldpChassisId and LldpPortId.
constexpr std::int64_t kChassisHardware = 4;
constexpr std::int64_t kChassisNetwork = 5;
constexpr std::int64_t kPortHardware = 3;
constexpr std::int64_t kPortIfName = 5;
constexpr std::int64_t kPortLocal = 7;

// --- single values -------------------------------------------------------------------------------

std::string hardware_text(std::string_view bytes) {
    if (bytes.size() != kHardwareBytes) return {};
    const bool none = bytes.find_first_not_of('\0') == std::string_view::npos;
    const bool group = (static_cast<unsigned char>(bytes.front()) & 1U) != 0;
    if (none || group) return {};
    std::string text;
    for (const char byte : bytes) {
        text += fmt::format("{}{:02x}", text.empty() ? "" : ":", static_cast<unsigned char>(byte));
    }
    return text;
}

std::string address_text(std::string_view bytes) {
    if (bytes.size() == 4) {
        std::array<std::uint8_t, 4> v4{};
        std::ranges::copy(bytes, v4.begin());
        return net::IpAddress::v4(v4).to_string();
    }
    if (bytes.size() == 16) {
        std::array<std::uint8_t, 16> v6{};
        std::ranges::copy(bytes, v6.begin());
        return net::IpAddress::v6(v6).to_string();
    }
    return {};
}

std::string bytes_of(Arcs arcs) {
    std::string bytes;
    for (const std::uint32_t arc : arcs) {
        if (arc > 0xFF) return {};
        bytes.push_back(static_cast<char>(arc));
    }
    return bytes;
}

std::string name_text(std::string_view bytes) {
    std::string text = base::plain_text(bytes.substr(0, kMostName));
    std::ranges::replace(text, '\n', ' ');
    return text;
}

const SnmpValue* get_at(const SnmpReply& reply, std::size_t at) {
    return at < reply.gets.size() && reply.gets[at].exists() ? &reply.gets[at] : nullptr;
}

std::span<const SnmpRow> walk_at(const SnmpReply& reply, std::size_t at) {
    if (at >= reply.walks.size()) return {};
    return reply.walks[at];
}

void add_hardware(NeighbourFacts& facts, std::string_view bytes) {
    if (std::string text = hardware_text(bytes); !text.empty()) {
        facts.hardware.push_back(std::move(text));
    }
}

// --- LLDP and CDP --------------------------------------------------------------------------------

// The interface behind each port number of LLDP, which is a count of its own.
class LldpPorts {
  public:
    explicit LldpPorts(const SnmpReply& reply) {
        std::map<std::string, std::uint32_t> by_name;
        std::map<std::string, std::uint32_t> by_hardware;
        for (const SnmpRow& row : walk_at(reply, kIfName)) {
            if (row.index.arcs.size() == 1) by_name.emplace(row.value.bytes, row.index.arcs[0]);
        }
        for (const SnmpRow& row : walk_at(reply, kIfHardware)) {
            if (row.index.arcs.size() != 1) continue;
            interfaces_.insert(row.index.arcs[0]);
            by_hardware.emplace(row.value.bytes, row.index.arcs[0]);
        }
        std::map<Oid, std::int64_t> types;
        for (const SnmpRow& row : walk_at(reply, kPortIdType)) types[row.index] = row.value.integer;
        for (const SnmpRow& row : walk_at(reply, kPortId)) {
            if (row.index.arcs.size() != 1) continue;
            const std::int64_t type = types[row.index];
            const std::string& id = row.value.bytes;
            std::optional<std::uint32_t> interface;
            if (const auto named = by_name.find(id);
                type == kPortIfName && named != by_name.end()) {
                interface = named->second;
            }
            if (const auto own = by_hardware.find(id);
                type == kPortHardware && own != by_hardware.end()) {
                interface = own->second;
            }
            if (type == kPortLocal) interface = number_in(id);
            if (interface) interfaces_of_[row.index.arcs[0]] = *interface;
        }
    }

    // Most agents count LLDP's ports as they count interfaces.
    std::uint32_t interface_of(std::uint32_t port) const {
        const auto found = interfaces_of_.find(port);
        if (found != interfaces_of_.end()) return found->second;
        return interfaces_.contains(port) ? port : 0;
    }

  private:
    std::optional<std::uint32_t> number_in(const std::string& text) const {
        if (text.empty() || text.size() > 9) return std::nullopt;
        std::uint32_t number = 0;
        for (const char c : text) {
            if (c < '0' || c > '9') return std::nullopt;
            number = number * 10 + static_cast<std::uint32_t>(c - '0');
        }
        return interfaces_.contains(number) ? std::optional(number) : std::nullopt;
    }

    std::set<std::uint32_t> interfaces_;
    std::map<std::uint32_t, std::uint32_t> interfaces_of_;
};

// Of a management address: the index goes on with kind, length and the address itself.
std::string address_in_index(Arcs rest) {
    if (rest.size() < 2 || rest.size() != rest[1] + std::size_t{2}) return {};
    return address_text(bytes_of(rest.subspan(2)));
}

void read_lldp(const SnmpReply& reply, NeighbourFacts& facts) {
    constexpr std::size_t kIndex = 3;  // time mark, port, number
    const LldpPorts ports(reply);
    std::map<Oid, Neighbour> rows;
    std::map<Oid, std::int64_t> types;
    const auto row_of = [&](const Oid& index) -> Neighbour* {
        if (index.arcs.size() < kIndex) return nullptr;
        Oid key;
        key.arcs.assign(index.arcs.begin(), index.arcs.begin() + kIndex);
        Neighbour& row = rows[key];
        row.by = Sighting::kLldp;
        row.port = ports.interface_of(key.arcs[1]);
        return &row;
    };
    for (const SnmpRow& row : walk_at(reply, kRemoteChassisType)) {
        types[row.index] = row.value.integer;
    }
    for (const SnmpRow& row : walk_at(reply, kRemoteChassis)) {
        Neighbour* const neighbour = row_of(row.index);
        if (neighbour == nullptr) continue;
        const std::int64_t type = types[row.index];
        if (type == kChassisHardware) neighbour->hardware = hardware_text(row.value.bytes);
        // Of a network address the first byte says of which family.
        const std::string address = type == kChassisNetwork && !row.value.bytes.empty()
                                        ? address_text(std::string_view(row.value.bytes).substr(1))
                                        : "";
        if (!address.empty()) neighbour->addresses.push_back(address);
    }
    for (const SnmpRow& row : walk_at(reply, kRemoteName)) {
        if (Neighbour* one = row_of(row.index)) one->name = name_text(row.value.bytes);
    }
    for (const SnmpRow& row : walk_at(reply, kRemoteAddress)) {
        Neighbour* const one = row_of(row.index);
        if (one == nullptr) continue;
        std::string address = address_in_index(Arcs(row.index.arcs).subspan(kIndex));
        if (!address.empty()) one->addresses.push_back(std::move(address));
    }
    for (auto& [index, one] : rows) facts.neighbours.push_back(std::move(one));
}

void read_cdp(const SnmpReply& reply, NeighbourFacts& facts) {
    std::map<Oid, Neighbour> rows;
    const auto row_of = [&](const Oid& index) -> Neighbour* {
        if (index.arcs.size() != 2) return nullptr;  // interface, number
        Neighbour& row = rows[index];
        row.by = Sighting::kCdp;
        row.port = index.arcs[0];
        return &row;
    };
    for (const SnmpRow& row : walk_at(reply, kCdpAddress)) {
        Neighbour* const one = row_of(row.index);
        std::string address = address_text(row.value.bytes);
        if (one != nullptr && !address.empty()) one->addresses.push_back(std::move(address));
    }
    for (const SnmpRow& row : walk_at(reply, kCdpDevice)) {
        if (Neighbour* one = row_of(row.index)) one->name = name_text(row.value.bytes);
    }
    for (auto& [index, one] : rows) facts.neighbours.push_back(std::move(one));
}

void read_spoken(const SnmpReply& reply, NeighbourFacts& facts) {
    if (const SnmpValue* name = get_at(reply, kSysName)) facts.name = name_text(name->bytes);
    const SnmpValue* lldp_name = get_at(reply, kLldpName);
    if (facts.name.empty() && lldp_name != nullptr) facts.name = name_text(lldp_name->bytes);
    const SnmpValue* type = get_at(reply, kChassisType);
    const SnmpValue* chassis = get_at(reply, kChassisId);
    if (type != nullptr && chassis != nullptr && type->integer == kChassisHardware) {
        add_hardware(facts, chassis->bytes);
    }
    for (const SnmpRow& row : walk_at(reply, kIfHardware)) add_hardware(facts, row.value.bytes);
    read_lldp(reply, facts);
    read_cdp(reply, facts);
}

// --- ARP and bridges -----------------------------------------------------------------------------

void read_arp(const SnmpReply& reply, NeighbourFacts& facts) {
    const auto add = [&](std::string address, std::string_view bytes) {
        std::string hardware = hardware_text(bytes);
        if (address.empty() || hardware.empty()) return;
        facts.arp.emplace_back(std::move(address), std::move(hardware));
    };
    for (const SnmpRow& row : walk_at(reply, kArpOld)) {
        if (row.index.arcs.size() != 5) continue;  // interface, four bytes
        add(address_text(bytes_of(Arcs(row.index.arcs).subspan(1))), row.value.bytes);
    }
    for (const SnmpRow& row : walk_at(reply, kArpNew)) {
        if (row.index.arcs.size() < 3) continue;  // interface, kind, length, bytes
        add(address_in_index(Arcs(row.index.arcs).subspan(1)), row.value.bytes);
    }
}

void read_bridge(const SnmpReply& reply, NeighbourFacts& facts) {
    if (const SnmpValue* own = get_at(reply, 0)) add_hardware(facts, own->bytes);
    std::map<std::uint32_t, std::uint32_t> interfaces;  // of the bridge's ports
    for (const SnmpRow& row : walk_at(reply, kPortInterface)) {
        if (row.index.arcs.size() != 1 || row.value.integer <= 0) continue;
        interfaces[row.index.arcs[0]] = static_cast<std::uint32_t>(row.value.integer);
    }
    const auto add = [&](Arcs address, std::int64_t port) {
        std::string hardware = hardware_text(bytes_of(address));
        if (port <= 0 || hardware.empty()) return;  // port 0: it does not know
        const auto number = static_cast<std::uint32_t>(port);
        const auto found = interfaces.find(number);
        facts.learned.emplace_back(std::move(hardware),
                                   found == interfaces.end() ? number : found->second);
    };
    for (const SnmpRow& row : walk_at(reply, kLearned)) {
        if (row.index.arcs.size() == kHardwareBytes) add(row.index.arcs, row.value.integer);
    }
    for (const SnmpRow& row : walk_at(reply, kLearnedByVlan)) {
        if (row.index.arcs.size() != kHardwareBytes + 1) continue;
        add(Arcs(row.index.arcs).subspan(1), row.value.integer);
    }
}

void set_oids(std::span<const std::string_view> texts, std::vector<Oid>& oids) {
    oids.clear();
    for (const std::string_view text : texts) oids.push_back(*model::parse_oid(text));
}

}  // namespace

std::string_view to_string(NeighbourTable table) {
    constexpr std::array<std::string_view, kNeighbourTables> kWords = {
        "LLDP and CDP", "the ARP table", "the forwarding table"};
    return kWords[static_cast<std::size_t>(table)];
}

void set_neighbour_request(NeighbourTable table, model::SnmpAsk& ask) {
    ask.max_rows = kMostNeighbourRows;
    switch (table) {
        case NeighbourTable::kSpoken:
            set_oids(kSpokenGets, ask.gets);
            set_oids(kSpokenWalks, ask.walks);
            break;
        case NeighbourTable::kArp:
            ask.gets.clear();
            set_oids(kArpWalks, ask.walks);
            break;
        case NeighbourTable::kBridge:
            set_oids(kBridgeGets, ask.gets);
            set_oids(kBridgeWalks, ask.walks);
            break;
    }
}

void read_neighbour_reply(NeighbourTable table, const SnmpReply& reply, NeighbourFacts& facts) {
    switch (table) {
        case NeighbourTable::kSpoken: return read_spoken(reply, facts);
        case NeighbourTable::kArp: return read_arp(reply, facts);
        case NeighbourTable::kBridge: return read_bridge(reply, facts);
    }
}

}  // namespace pollux::runtime
