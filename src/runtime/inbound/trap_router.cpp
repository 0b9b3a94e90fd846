#include "runtime/inbound/trap_router.hpp"

#include <algorithm>

namespace pollux::runtime {
namespace {

// Without the interface it came in by: the same device on another one is the same device.
net::IpAddress plain(const net::IpAddress& address) {
    const net::IpAddress unwrapped = address.unwrapped();
    if (unwrapped.is_v4() || unwrapped.scope() == 0) return unwrapped;
    std::array<std::uint8_t, 16> bytes{};
    std::ranges::copy(unwrapped.bytes(), bytes.begin());
    return net::IpAddress::v6(bytes);
}

bool may_send(const InboundTarget& target, const model::TrapMessage& trap,
              const TrapOrigin& origin) {
    const model::Credentials* credentials = target.credentials.get();
    const bool by_user = credentials != nullptr && !credentials->username.empty();
    if (trap.version == model::SnmpVersion::kV3) {
        return by_user && credentials->username == origin.user;
    }
    if (by_user) return false;
    if (credentials == nullptr || credentials->community.empty()) return true;
    return credentials->community.matches(origin.community);
}

}  // namespace

std::string_view describe(TrapMiss miss) {
    switch (miss) {
        case TrapMiss::kNoDevice:
            return "no device with a trap addon has this address: add one to the fleet, or its "
                   "forwarder to POLLUX_TRAP_FORWARDERS";
        case TrapMiss::kNoAddon:
            return "none of the device's trap addons is for this enterprise: add one that is";
        case TrapMiss::kUnauthorised:
            return "another community or user than the target's credentials say";
    }
    return "";
}

void TrapRouter::set_targets(const InboundImage& image) {
    targets_.clear();
    names_.clear();
    for (const InboundTargetPtr& target : image.targets) {
        if (target->kind != model::ProtocolKind::kTrap || !target->hears()) continue;
        targets_.push_back(target);
        for (const std::string& address : target->addresses) {
            if (!net::IpAddress::parse(address)) names_.insert(address);
        }
    }
    std::erase_if(resolved_, [&](const auto& entry) { return !names_.contains(entry.first); });
    index();
}

void TrapRouter::set_forwarders(std::vector<net::IpRange> forwarders) {
    forwarders_ = std::move(forwarders);
}

void TrapRouter::set_resolved(const std::string& name,
                              const std::vector<net::IpAddress>& addresses) {
    if (!names_.contains(name)) return;
    std::vector<net::IpAddress>& known = resolved_[name];
    if (known == addresses) return;
    known = addresses;
    index();
}

void TrapRouter::index() {
    by_address_.clear();
    for (const InboundTargetPtr& target : targets_) {
        std::set<net::IpAddress> addresses;
        for (const std::string& text : target->addresses) {
            if (const auto literal = net::IpAddress::parse(text)) {
                addresses.insert(plain(*literal));
            } else if (const auto found = resolved_.find(text); found != resolved_.end()) {
                for (const net::IpAddress& one : found->second) addresses.insert(plain(one));
            }
        }
        for (const net::IpAddress& address : addresses) by_address_[address].push_back(target);
    }
}

net::IpAddress TrapRouter::device_of(const model::TrapMessage& trap,
                                     const net::IpAddress& sender) const {
    const net::IpAddress from = plain(sender);
    if (trap.agent_address.empty()) return from;
    const bool forwards = std::ranges::any_of(
        forwarders_, [&](const net::IpRange& range) { return range.contains(from); });
    if (!forwards) return from;
    return net::IpAddress::parse(trap.agent_address).value_or(from);
}

TrapRoute TrapRouter::route(const model::TrapMessage& trap, const TrapOrigin& origin) const {
    TrapRoute route;
    route.device = device_of(trap, origin.sender);
    const auto found = by_address_.find(route.device);
    if (found == by_address_.end()) return route;
    route.miss = TrapMiss::kNoAddon;
    std::optional<std::size_t> best;
    for (const InboundTargetPtr& target : found->second) {
        const auto fit = target->addon->trap_fit(trap);
        if (!fit || (best && *fit <= *best)) continue;
        if (!may_send(*target, trap, origin)) {
            if (!route.target) route.miss = TrapMiss::kUnauthorised;
            continue;
        }
        best = fit;
        route.target = target;
    }
    return route;
}

}  // namespace pollux::runtime
