// To which target a trap belongs: by the address of its sender, then by the longest enterprise that
// fits, then by who may send. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/inbound.hpp"
#include "net/ip_address.hpp"
#include "runtime/inbound/inbound_target.hpp"

namespace pollux::runtime {

enum class TrapMiss : std::uint8_t {
    kNoDevice,      // no device with a trap addon has the address
    kNoAddon,       // none of the device's trap addons is for this enterprise
    kUnauthorised,  // another community or user than the target's
};

// For people: what is wrong, and what to do.
std::string_view describe(TrapMiss miss);

struct TrapOrigin {
    net::IpAddress sender;
    std::string_view community;  // v1 and v2c; a secret
    std::string_view user;       // v3: proven
};

struct TrapRoute {
    InboundTargetPtr target;  // null: `miss` says why
    TrapMiss miss = TrapMiss::kNoDevice;
    net::IpAddress device;  // whom the trap is about: the sender, or whom a forwarder names
};

class TrapRouter {
  public:
    void set_targets(const InboundImage& image);
    void set_forwarders(std::vector<net::IpRange> forwarders);
    // What names among the addresses of devices stand for; asked for by whoever can resolve.
    const std::set<std::string, std::less<>>& names() const { return names_; }
    void set_resolved(const std::string& name, const std::vector<net::IpAddress>& addresses);

    TrapRoute route(const model::TrapMessage& trap, const TrapOrigin& origin) const;

  private:
    void index();
    net::IpAddress device_of(const model::TrapMessage& trap, const net::IpAddress& sender) const;

    std::vector<InboundTargetPtr> targets_;
    std::vector<net::IpRange> forwarders_;
    std::set<std::string, std::less<>> names_;
    std::map<std::string, std::vector<net::IpAddress>, std::less<>> resolved_;
    std::map<net::IpAddress, std::vector<InboundTargetPtr>> by_address_;
};

}  // namespace pollux::runtime
