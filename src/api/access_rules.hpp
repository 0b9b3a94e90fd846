// The settings that say who is believed, in the form in which each request asks them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "access/role.hpp"
#include "access/session_rules.hpp"
#include "base/result.hpp"
#include "config/settings.hpp"
#include "net/ip_address.hpp"

namespace pollux::api {

struct AccessRules {
    std::vector<net::IpRange> trusted_proxies = {};
    std::string proxy_header = {};  // empty: no login by proxy
    std::vector<net::IpRange> proxy_from = {};
    access::Role proxy_role = access::Role::kViewer;
    std::string group_header = {};
    std::vector<std::pair<std::string, access::Role>> groups = {};
    bool health_from_loopback = false;
    access::SessionLimits sessions = {};
};

base::Result<AccessRules> make_access_rules(const config::Settings& settings);

}  // namespace pollux::api
