// What a person is to the fleet. A grant gives a role, everywhere or on the objects of a selector.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pollux::access {

enum class Role : std::uint8_t { kViewer, kOperator, kAdmin, kAuditor };

inline constexpr std::array<Role, 4> kRoles = {Role::kViewer, Role::kOperator, Role::kAdmin,
                                               Role::kAuditor};
// By number of the role; stored and sent.
inline constexpr std::array<std::string_view, 4> kRoleNames = {"viewer", "operator", "admin",
                                                               "auditor"};

constexpr std::string_view to_string(Role role) {
    return kRoleNames[static_cast<std::size_t>(role)];
}
std::optional<Role> parse_role(std::string_view name);

}  // namespace pollux::access
