// An object identifier: the arcs of its name, compared arc by arc.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::model {

inline constexpr std::size_t kMaxOidArcs = 128;  // RFC 2578

struct Oid {
    std::vector<std::uint32_t> arcs;

    auto operator<=>(const Oid&) const = default;
    bool starts_with(const Oid& prefix) const {
        return arcs.size() >= prefix.arcs.size() &&
               std::equal(prefix.arcs.begin(), prefix.arcs.end(), arcs.begin());
    }
};

// "1.3.6.1.2.1.1.3.0" or with a dot in front; 2 to 128 arcs. nullopt: not an OID.
std::optional<Oid> parse_oid(std::string_view text);
std::string to_string(const Oid& oid);

}  // namespace pollux::model
