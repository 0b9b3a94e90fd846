#include "access/role.hpp"

namespace pollux::access {

std::optional<Role> parse_role(std::string_view name) {
    for (const Role role : kRoles) {
        if (to_string(role) == name) return role;
    }
    return std::nullopt;
}

}  // namespace pollux::access
