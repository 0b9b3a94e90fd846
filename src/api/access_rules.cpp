#include "api/access_rules.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

base::Status check_key_file(const std::string& path) {
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) {
        return base::config_error(
            "api.tls_key",
            fmt::format("the key {} cannot be read: {}", base::quoted(path), std::strerror(errno)));
    }
    if ((facts.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) == 0) return {};
    return base::config_error(
        "api.tls_key",
        fmt::format("the key {} can be read or changed by others than its owner and group (mode "
                    "{:04o}): chmod 0600 {}",
                    base::quoted(path), facts.st_mode & 07777U, path));
}

}  // namespace pollux::api
