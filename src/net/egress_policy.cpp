#include "net/egress_policy.hpp"

#include <fmt/format.h>

#include <initializer_list>

#include "base/check.hpp"

namespace pollux::net {
namespace {

std::vector<IpRange> ranges(std::initializer_list<std::string_view> texts) {
    std::vector<IpRange> result;
    for (const std::string_view text : texts) {
        const auto range = IpRange::parse(text);
        POLLUX_CHECK(range.has_value());
        result.push_back(*range);
    }
    return result;
}

const IpRange* find(const std::vector<IpRange>& among, const IpAddress& address) {
    for (const IpRange& range : among) {
        if (range.contains(address)) return &range;
    }
    return nullptr;
}

// The forms that must pass, the second only if it differs.
std::vector<IpAddress> forms_of(const IpAddress& address) {
    const IpAddress inner = address.unwrapped();
    if (inner == address) return {address};
    return {address, inner};
}

std::unexpected<base::Error> denied(std::string message) {
    return base::make_error(base::ErrorClass::kConfig, "egress.denied", std::move(message));
}

base::Status check_list(const EgressRules& rules, std::string_view deny_setting,
                        const IpAddress& shown, const IpAddress& form,
                        std::string_view allow_setting) {
    if (find(rules.allow, form) != nullptr) return {};
    const IpRange* range = find(rules.deny, form);
    if (range == nullptr) return {};
    return denied(fmt::format(
        "connecting to {} is not allowed: {} is in {} ({}); if it is meant, "
        "add it to {}",
        shown.to_string(), form.to_string(), deny_setting, range->to_string(), allow_setting));
}

}  // namespace

std::string_view to_string(HostClass host_class) {
    switch (host_class) {
        case HostClass::kLoopback: return "loopback";
        case HostClass::kLinkLocal: return "link-local";
        case HostClass::kPrivate: return "private";
        case HostClass::kPublic: return "public";
    }
    return "public";
}

EgressSettings default_egress_settings() {
    EgressSettings settings;
    settings.target.deny = ranges({"169.254.169.254", "fd00:ec2::254"});
    // A connection to the unspecified address ends at our own machine.
    settings.loopback = ranges({"127.0.0.0/8", "::1", "0.0.0.0/8", "::"});
    settings.link_local = ranges({"169.254.0.0/16", "fe80::/10"});
    settings.private_ranges =
        ranges({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"});
    return settings;
}

base::Status EgressPolicy::check_target(const IpAddress& address) const {
    for (const IpAddress& form : forms_of(address)) {
        if (auto status =
                check_list(settings_.target, "egress_deny", address, form, "egress_allow");
            !status) {
            return status;
        }
    }
    return {};
}

base::Status EgressPolicy::check_redirect(const IpAddress& address, HostClass first) const {
    bool all_allowed = true;
    for (const IpAddress& form : forms_of(address)) {
        if (find(settings_.redirect.allow, form) != nullptr) continue;
        all_allowed = false;
        if (auto status =
                check_list(settings_.target, "egress_deny", address, form, "egress_redirect_allow");
            !status) {
            return status;
        }
        if (auto status = check_list(settings_.redirect, "egress_redirect_deny", address, form,
                                     "egress_redirect_allow");
            !status) {
            return status;
        }
    }
    const HostClass now = class_of(address);
    if (all_allowed || !settings_.redirect_same_class || now == first) return {};
    return denied(fmt::format(
        "a redirect to {} is not allowed: it leads from a {} to a {} address; if it is meant, add "
        "it to egress_redirect_allow or set egress_redirect_same_class to false",
        address.to_string(), to_string(first), to_string(now)));
}

HostClass EgressPolicy::class_of(const IpAddress& address) const {
    const IpAddress inner = address.unwrapped();
    if (find(settings_.loopback, inner) != nullptr) return HostClass::kLoopback;
    if (find(settings_.link_local, inner) != nullptr) return HostClass::kLinkLocal;
    if (find(settings_.private_ranges, inner) != nullptr) return HostClass::kPrivate;
    return HostClass::kPublic;
}

}  // namespace pollux::net
