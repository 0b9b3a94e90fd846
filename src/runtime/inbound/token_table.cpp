#include "runtime/inbound/token_table.hpp"

#include <fmt/format.h>

namespace pollux::runtime {

bool is_usable_token(std::string_view token) {
    return token.size() >= kLeastTokenBytes && token.size() <= kMostTokenBytes &&
           std::ranges::all_of(token, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_' || c == '~';
           });
}

base::Secret derived_token(base::SipKey key, std::string_view target_id) {
    // Two results of one keyed function: 128 bits that nobody without the key can tell from chance.
    const std::string text(target_id);
    return base::Secret(fmt::format("{:016x}{:016x}", base::siphash24(key, "token/1/" + text),
                                    base::siphash24(key, "token/2/" + text)));
}

void TokenTable::add(InboundTargetPtr target) {
    const std::uint64_t hash = base::siphash24(key_, target->token.reveal());
    targets_.emplace(hash, std::move(target));
}

InboundTargetPtr TokenTable::find(std::string_view token, model::ProtocolKind kind) const {
    // Longer than any token can be: its hash would be work for nothing.
    const std::string_view bounded = token.substr(0, kMostTokenBytes + 1);
    const auto [begin, end] = targets_.equal_range(base::siphash24(key_, bounded));
    InboundTargetPtr found;
    for (auto one = begin; one != end; ++one) {
        if (one->second->token.matches(bounded) && one->second->kind == kind) {
            found = one->second;
        }
    }
    return found;
}

}  // namespace pollux::runtime
