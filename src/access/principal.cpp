#include "access/principal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"

namespace pollux::access {
namespace {

constexpr std::size_t kMaxGrants = 32;

bool gives(const std::vector<Grant>& grants, Permission permission) {
    return std::ranges::any_of(grants,
                               [&](const Grant& grant) { return allows(grant.role, permission); });
}

// A stored selector that cannot be read selects nothing.
bool gives_on(const std::vector<Grant>& grants, Permission permission, const Labels& labels) {
    return std::ranges::any_of(grants, [&](const Grant& grant) {
        if (!allows(grant.role, permission)) return false;
        if (grant.selector.empty()) return true;
        const auto selector = Selector::parse(grant.selector);
        return selector && selector->matches(labels);
    });
}

bool gives_everywhere(const std::vector<Grant>& grants, Permission permission) {
    return std::ranges::any_of(grants, [&](const Grant& grant) {
        return allows(grant.role, permission) && grant.selector.empty();
    });
}

bool gives_within(const std::vector<Grant>& grants, Permission permission,
                  const Selector& selector) {
    return std::ranges::any_of(grants, [&](const Grant& grant) {
        const auto own = Selector::parse(grant.selector);
        return own && allows(grant.role, permission) && own->covers(selector);
    });
}

// What holds whatever the object is: logged in, and within the scopes. kSelf needs no grant.
bool in_scope(const Principal& principal, Permission permission, std::optional<Area> area) {
    if (permission == Permission::kSelf && principal.anonymous()) return false;
    if (area) return scopes_cover(principal.scopes, permission, *area);
    return std::ranges::any_of(
        kAreas, [&](Area one) { return scopes_cover(principal.scopes, permission, one); });
}

template <class Gives>
bool decide(const Principal& principal, Permission permission, std::optional<Area> area,
            const Gives& given) {
    if (!in_scope(principal, permission, area)) return false;
    if (permission == Permission::kSelf) return true;
    return given(principal.grants) && (!principal.limits || given(*principal.limits));
}

}  // namespace

std::string audit_name(const Principal& principal) {
    return principal.anonymous() ? "anonymous"
                                 : fmt::format("{}:{}", principal.kind, principal.name);
}

bool may(const Principal& principal, Permission permission) {
    return decide(principal, permission, std::nullopt,
                  [&](const auto& grants) { return gives(grants, permission); });
}

bool may(const Principal& principal, Permission permission, Area area) {
    return decide(principal, permission, area,
                  [&](const auto& grants) { return gives(grants, permission); });
}

bool may_on(const Principal& principal, Permission permission, const Labels& labels) {
    return decide(principal, permission, std::nullopt,
                  [&](const auto& grants) { return gives_on(grants, permission, labels); });
}

bool may_on(const Principal& principal, Permission permission, Area area, const Labels& labels) {
    return decide(principal, permission, area,
                  [&](const auto& grants) { return gives_on(grants, permission, labels); });
}

bool may_on_all(const Principal& principal, Permission permission, Area area,
                const Selector& selector) {
    return decide(principal, permission, area,
                  [&](const auto& grants) { return gives_within(grants, permission, selector); });
}

bool may_everywhere(const Principal& principal, Permission permission, Area area) {
    return decide(principal, permission, area,
                  [&](const auto& grants) { return gives_everywhere(grants, permission); });
}

base::Status may_grant(const Principal& principal, const std::vector<Grant>& grants) {
    for (const Grant& grant : grants) {
        const auto selector = Selector::parse(grant.selector);
        if (!selector) return std::unexpected(selector.error());
        for (const Permission permission : kPermissions) {
            // Everybody has kSelf about himself: it is not handed on.
            if (permission == Permission::kSelf || !allows(grant.role, permission)) continue;
            const bool has = std::ranges::all_of(kAreas, [&](Area area) {
                return decide(principal, permission, area, [&](const auto& own) {
                    return gives_within(own, permission, *selector);
                });
            });
            if (has) continue;
            return base::make_error(
                base::ErrorClass::kAuth, "access.escalation",
                fmt::format("{} cannot grant {} {}: nobody can grant what he does not have",
                            audit_name(principal), to_string(grant.role),
                            grant.selector.empty() ? std::string("on everything")
                                                   : "on " + base::quoted(grant.selector)));
        }
    }
    return {};
}

base::Result<std::vector<Grant>> normal_grants(std::vector<Grant> grants) {
    if (grants.size() > kMaxGrants) {
        return base::config_error("access.grants",
                                  fmt::format("{} grants; at most {} are allowed, one selector can "
                                              "name many values",
                                              grants.size(), kMaxGrants));
    }
    for (Grant& grant : grants) {
        const auto selector = Selector::parse(grant.selector);
        if (!selector) return std::unexpected(selector.error());
        grant.selector = selector->text();
    }
    std::ranges::sort(grants, [](const Grant& a, const Grant& b) {
        return std::tie(a.role, a.selector) < std::tie(b.role, b.selector);
    });
    const auto doubles = std::ranges::unique(grants);
    grants.erase(doubles.begin(), doubles.end());
    return grants;
}

}  // namespace pollux::access
