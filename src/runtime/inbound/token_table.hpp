// Which target a token belongs to. Tokens are found by a keyed hash and then compared whole, in a
// time that tells nothing about the tokens that are known. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "runtime/inbound/inbound_target.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kLeastTokenBytes = 16;
inline constexpr std::size_t kMostTokenBytes = 200;

// Letters, digits, '-', '.', '_' and '~', of a length that cannot be guessed: what can stand in the
// path of an address as it is.
bool is_usable_token(std::string_view token);

// The token of a target that was given none: by the key of this installation and the target's id,
// so that it stays the same and need not be kept.
base::Secret derived_token(base::SipKey key, std::string_view target_id);

class TokenTable {
  public:
    explicit TokenTable(base::SipKey key) : key_(key) {}

    void clear() { targets_.clear(); }
    void add(InboundTargetPtr target);
    // Null: no target of this kind has it.
    InboundTargetPtr find(std::string_view token, model::ProtocolKind kind) const;

  private:
    base::SipKey key_;  // random: nobody outside can find texts of one hash
    std::multimap<std::uint64_t, InboundTargetPtr> targets_;
};

}  // namespace pollux::runtime
