// The canonical bytes of an audit record: what the chain of the trail vouches for. Version byte,
// number, then every field; each text with its length in front. One record has exactly one form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/audit.hpp"

namespace pollux::engine {

inline constexpr std::uint8_t kAuditVersion = 1;

struct NumberedEntry {
    std::uint64_t number = 0;
    model::AuditEntry entry;
    bool operator==(const NumberedEntry&) const = default;
};

// The entry must be within its bounds (model::bounded).
std::string encode_audit(std::uint64_t number, const model::AuditEntry& entry);

// All of the bytes. Fails with codec.version (another program wrote it) or codec.damaged: cut off,
// bytes left over, a number or length in a longer form than needed, a field past its bound.
base::Result<NumberedEntry> decode_audit(std::string_view bytes);

}  // namespace pollux::engine
