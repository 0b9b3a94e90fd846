#include "api/access_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::api {
namespace {

base::Status take_ranges(const std::vector<std::string>& texts, std::vector<net::IpRange>& out) {
    for (const std::string& text : texts) {
        const auto range = net::IpRange::parse(text);
        if (!range) return std::unexpected(range.error());
        out.push_back(*range);
    }
    return {};
}

}  // namespace

base::Result<AccessRules> make_access_rules(const config::Settings& settings) {
    AccessRules rules;
    if (auto status = take_ranges(settings.trusted_proxies, rules.trusted_proxies); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = take_ranges(settings.proxy_auth_from, rules.proxy_from); !status) {
        return std::unexpected(std::move(status.error()));
    }
    rules.proxy_header = settings.proxy_auth_header.text;
    rules.proxy_role = access::kRoles[static_cast<std::size_t>(settings.proxy_auth_role)];
    rules.group_header = settings.proxy_auth_group_header.text;
    for (const auto& [group, role] : settings.proxy_auth_groups.items) {
        if (const auto known = access::parse_role(role)) rules.groups.emplace_back(group, *known);
    }
    rules.health_from_loopback = settings.anonymous_health == config::AnonymousHealth::kLoopback;
    rules.sessions.idle = std::chrono::hours(settings.session_hours);
    rules.sessions.life = rules.sessions.idle;
    rules.sessions.remembered =
        std::max<base::Duration>(rules.sessions.life, std::chrono::hours(720));
    return rules;
}

}  // namespace pollux::api
