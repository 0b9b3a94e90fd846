// Secrets that we make: their text, and the hash that is all we keep of them. Random bytes are
// handed in. A secret has 256 bits, so a plain fast hash (BLAKE2b) is enough; passwords of people
// have their own (api/password_hash).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secret.hpp"

namespace pollux::access {

using RandomBytes = std::array<std::uint8_t, 32>;

inline constexpr std::string_view kTokenPrefix = "plx_";
inline constexpr std::string_view kBootstrapPrefix = "plxboot_";

// The prefix, 43 characters of base64url, 6 of a checksum: a mistyped token is told from a revoked
// one, and scanners for leaked secrets find it.
base::Secret make_token(std::string_view prefix, const RandomBytes& bytes);
// Whether the text has that form and its checksum is right.
bool is_token(std::string_view prefix, std::string_view text);

// 43 characters of base64url, as the cookie holds it.
base::Secret make_session_secret(const RandomBytes& bytes);

// What is stored: 64 hexadecimal digits.
std::string hash_secret(std::string_view secret);

// The token against forged requests of a session: bound to its secret, so nothing more is stored.
std::string csrf_token(std::string_view session_secret);

// In a time that depends on the lengths only.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace pollux::access
