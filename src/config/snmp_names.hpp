// How people write the protocols of an SNMPv3 user; in the order of the enumerations.
#pragma once

#include <array>
#include <string_view>

#include "model/credentials.hpp"

namespace pollux::config {

inline constexpr std::array<std::string_view, 7> kSnmpAuthNames = {
    "none", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"};
inline constexpr std::array<std::string_view, 7> kSnmpPrivacyNames = {
    "none", "des", "aes128", "aes192", "aes256", "aes192c", "aes256c"};
static_assert(kSnmpAuthNames.size() == static_cast<std::size_t>(model::SnmpAuth::kSha512) + 1);
static_assert(kSnmpPrivacyNames.size() ==
              static_cast<std::size_t>(model::SnmpPrivacy::kAes256c) + 1);

}  // namespace pollux::config
