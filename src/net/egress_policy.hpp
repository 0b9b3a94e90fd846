// Which addresses may be contacted. Asked with the resolved address at the moment of connecting, so
// that no name, redirect or change in the DNS leads around it.
//
// An immutable value: one is shared by everything that connects, and replaced as a whole when the
// settings change.
//
// Rules
// 1. A target may be anywhere but in `target.deny`. By default that is where clouds hand out their
//    machines' credentials to whoever asks from inside.
// 2. A redirect must satisfy the rules of targets, must not be in `redirect.deny`, and must stay in
//    the class (loopback, link-local, private, public) of the address the ask went to first.
// 3. `allow` wins over `deny`, and `redirect.allow` also over the class.
// 4. An address that carries another one (IPv4-mapped, NAT64) must pass in both forms.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/ip_address.hpp"

namespace pollux::net {

enum class HostClass : std::uint8_t { kLoopback, kLinkLocal, kPrivate, kPublic };

// Stable lower-case name: "link-local".
std::string_view to_string(HostClass host_class);

struct EgressRules {
    std::vector<IpRange> allow;
    std::vector<IpRange> deny;
    bool operator==(const EgressRules&) const = default;
};

// Every range is a setting: `egress_allow`, `egress_loopback` and so on.
struct EgressSettings {
    EgressRules target;
    EgressRules redirect;
    bool redirect_same_class = true;
    std::vector<IpRange> loopback;
    std::vector<IpRange> link_local;
    std::vector<IpRange> private_ranges;  // the setting is `egress_private`
    bool operator==(const EgressSettings&) const = default;
};

EgressSettings default_egress_settings();

class EgressPolicy {
  public:
    EgressPolicy() : EgressPolicy(default_egress_settings()) {}
    explicit EgressPolicy(EgressSettings settings) : settings_(std::move(settings)) {}

    // The error names the address, the rule and the setting to change; its code is
    // "egress.denied".
    base::Status check_target(const IpAddress& address) const;
    base::Status check_redirect(const IpAddress& address, HostClass first) const;

    // By the address inside, for the forms that carry one.
    HostClass class_of(const IpAddress& address) const;

    const EgressSettings& settings() const { return settings_; }

  private:
    EgressSettings settings_;
};

}  // namespace pollux::net
