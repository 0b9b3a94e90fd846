#include "lab/mib_view.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "lab/interface_model.hpp"

namespace pollux::lab {
namespace {

std::vector<std::uint8_t> encode(const std::vector<std::uint32_t>& arcs) {
    std::vector<std::uint8_t> bytes = {static_cast<std::uint8_t>(arcs[0] * 40 + arcs[1])};
    for (std::size_t i = 2; i < arcs.size(); ++i)
        bytes.push_back(static_cast<std::uint8_t>(arcs[i]));
    return bytes;  // every arc of our prefixes is below 128
}

void add(std::vector<MibNode>& nodes, MibGroup group, std::initializer_list<std::uint32_t> base,
         std::initializer_list<std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers) {
        MibNode node{
            .group = group, .number = number, .counter64 = false, .prefix = base, .encoded = {}};
        node.prefix.push_back(number);
        node.encoded = encode(node.prefix);
        node.counter64 = group == MibGroup::kIfXTable && number >= 6 && number <= 13;
        nodes.push_back(std::move(node));
    }
}

std::vector<MibNode> make_nodes() {
    std::vector<MibNode> nodes;
    add(nodes, MibGroup::kSystem, {1, 3, 6, 1, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7});
    add(nodes, MibGroup::kIfNumber, {1, 3, 6, 1, 2, 1, 2}, {1});
    add(nodes, MibGroup::kIfTable, {1, 3, 6, 1, 2, 1, 2, 2, 1},
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 19, 20});
    add(nodes, MibGroup::kIfXTable, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1},
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    return nodes;
}

const std::vector<MibNode>& nodes() {
    static const std::vector<MibNode> all = make_nodes();
    return all;
}

std::uint32_t first_index(const MibNode& node) { return node.is_column() ? 1 : 0; }

std::uint32_t last_index(const Device& device, const MibNode& node, MibOptions options) {
    if (!node.is_column()) return 0;
    return options.endless ? std::numeric_limits<std::uint32_t>::max() : device.interfaces();
}

// The first index of the node whose name comes after `oid`.
std::optional<std::uint32_t> index_after(const Device& device, const MibNode& node,
                                         const model::Oid& oid, MibOptions options) {
    const auto [at_prefix, at_oid] =
        std::mismatch(node.prefix.begin(), node.prefix.end(), oid.arcs.begin(), oid.arcs.end());
    if (at_prefix != node.prefix.end()) {
        const bool before = at_oid == oid.arcs.end() || *at_oid < *at_prefix;
        return before ? std::optional(first_index(node)) : std::nullopt;
    }
    if (at_oid == oid.arcs.end()) return first_index(node);
    const std::uint32_t last = last_index(device, node, options);
    if (*at_oid >= last) return std::nullopt;
    return std::max(*at_oid + 1, first_index(node));
}

std::optional<MibInstance> first_from(const MibNode* node, MibOptions options) {
    const MibNode* end = nodes().data() + nodes().size();
    while (node != end && options.version1 && node->counter64) ++node;
    if (node == end) return std::nullopt;
    return MibInstance{node, first_index(*node)};
}

void read_system(const Device& device, std::uint32_t number, FleetTime now,
                 model::SnmpValue& value) {
    using model::SnmpType;
    value.type = SnmpType::kOctetString;
    switch (number) {
        case 1: value.bytes.assign(device.model()).append(", simulated by Pollux"); break;
        case 2:
            value.type = SnmpType::kObjectId;
            value.oid.arcs = {1, 3, 6, 1, 4, 1, 99999, 1, device.interfaces()};
            break;
        case 3:
            value.type = SnmpType::kTimeTicks;
            value.unsigned_value = ticks(device.uptime(now));
            break;
        case 4: value.bytes = "operator@example.org"; break;
        case 5: value.bytes = device.name(); break;
        case 6: value.bytes = device.site(); break;
        default:
            value.type = SnmpType::kInteger;
            value.integer = 2;
            break;
    }
}

model::Oid name_of(MibInstance instance) {
    if (instance.wired != nullptr) return instance.wired->name;
    model::Oid name{instance.node->prefix};
    name.arcs.push_back(instance.index);
    return name;
}

// Whether nothing of the wiring can stand between them: both are of one table.
bool same_group(const model::Oid& oid, MibInstance next) {
    const auto& prefix = next.node->prefix;
    const auto common = static_cast<std::ptrdiff_t>(prefix.size() - 1);
    return oid.arcs.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.begin() + common, oid.arcs.begin());
}

// The nearer one of what is computed and what is wired.
std::optional<MibInstance> nearer(const Device& device, const model::Oid& oid,
                                  std::optional<MibInstance> computed, MibOptions options) {
    if (options.wiring == nullptr || (computed && same_group(oid, *computed))) return computed;
    const auto rows = options.wiring->rows(device);
    const auto found = std::ranges::upper_bound(rows, oid, {}, &WiredRow::name);
    if (found == rows.end() || (computed && name_of(*computed) < found->name)) return computed;
    return MibInstance{.node = nullptr, .index = 0, .wired = &*found};
}

std::optional<MibInstance> find_wired(const Device& device, const model::Oid& oid,
                                      MibOptions options) {
    if (options.wiring == nullptr) return std::nullopt;
    const auto rows = options.wiring->rows(device);
    const auto found = std::ranges::lower_bound(rows, oid, {}, &WiredRow::name);
    if (found == rows.end() || found->name != oid) return std::nullopt;
    return MibInstance{.node = nullptr, .index = 0, .wired = &*found};
}

std::optional<MibInstance> next_computed(const Device& device, const model::Oid& oid,
                                         MibOptions options) {
    // Nodes whose last name is not after `oid` stand at the front.
    const auto found = std::partition_point(
        nodes().begin(), nodes().end(),
        [&](const MibNode& node) { return !index_after(device, node, oid, options); });
    if (found == nodes().end()) return std::nullopt;
    if (options.version1 && found->counter64) return first_from(&*found, options);
    return MibInstance{&*found, *index_after(device, *found, oid, options)};
}

}  // namespace

std::span<const MibNode> mib_nodes() { return nodes(); }

std::optional<MibInstance> find_instance(const Device& device, const model::Oid& oid,
                                         MibOptions options) {
    if (oid.arcs.size() < 2) return std::nullopt;
    const std::size_t length = oid.arcs.size() - 1;
    const auto found = std::lower_bound(
        nodes().begin(), nodes().end(), oid, [length](const MibNode& node, const model::Oid& name) {
            return std::lexicographical_compare(
                node.prefix.begin(), node.prefix.end(), name.arcs.begin(),
                name.arcs.begin() + static_cast<std::ptrdiff_t>(length));
        });
    if (found == nodes().end() || found->prefix.size() != length ||
        !std::equal(found->prefix.begin(), found->prefix.end(), oid.arcs.begin())) {
        return find_wired(device, oid, options);
    }
    const std::uint32_t index = oid.arcs.back();
    if (index < first_index(*found) || index > last_index(device, *found, options)) {
        return std::nullopt;
    }
    if (options.version1 && found->counter64) return std::nullopt;
    return MibInstance{&*found, index};
}

std::optional<MibInstance> next_instance(const Device& device, const model::Oid& oid,
                                         MibOptions options) {
    return nearer(device, oid, next_computed(device, oid, options), options);
}

std::optional<MibInstance> next_instance(const Device& device, MibInstance instance,
                                         MibOptions options) {
    if (instance.wired != nullptr) return next_instance(device, name_of(instance), options);
    if (instance.index < last_index(device, *instance.node, options)) {
        return MibInstance{instance.node, instance.index + 1};
    }
    const auto computed = first_from(instance.node + 1, options);
    const bool together = computed && computed->node->group == instance.node->group;
    if (options.wiring == nullptr || together) return computed;
    return nearer(device, name_of(instance), computed, options);
}

void read_instance(const Device& device, MibInstance instance, FleetTime now,
                   model::SnmpValue& value) {
    if (instance.wired != nullptr) {
        value = instance.wired->value;
        return;
    }
    switch (instance.node->group) {
        case MibGroup::kSystem: return read_system(device, instance.node->number, now, value);
        case MibGroup::kIfNumber:
            value.type = model::SnmpType::kInteger;
            value.integer = device.interfaces();
            return;
        case MibGroup::kIfTable:
            return read_if_column(device, instance.index, instance.node->number, now, value);
        case MibGroup::kIfXTable:
            return read_ifx_column(device, instance.index, instance.node->number, now, value);
    }
}

}  // namespace pollux::lab
