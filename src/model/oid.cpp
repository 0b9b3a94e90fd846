#include "model/oid.hpp"

#include <charconv>

namespace pollux::model {

std::optional<Oid> parse_oid(std::string_view text) {
    if (text.starts_with('.')) text.remove_prefix(1);
    Oid oid;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        std::uint32_t arc = 0;
        const auto [stop, problem] = std::from_chars(at, end, arc);
        if (problem != std::errc{} || oid.arcs.size() == kMaxOidArcs) return std::nullopt;
        oid.arcs.push_back(arc);
        if (stop == end) break;
        if (*stop != '.') return std::nullopt;
        at = stop + 1;
    }
    // The first two arcs share one byte on the wire: X.690 8.19.4.
    if (oid.arcs.size() < 2 || oid.arcs[0] > 2 || (oid.arcs[0] < 2 && oid.arcs[1] > 39)) {
        return std::nullopt;
    }
    return oid;
}

std::string to_string(const Oid& oid) {
    std::string text;
    for (const std::uint32_t arc : oid.arcs) {
        if (!text.empty()) text += '.';
        text += std::to_string(arc);
    }
    return text;
}

}  // namespace pollux::model
