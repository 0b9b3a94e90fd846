// What proves to a device who we are, ready for use. Lives in memory only; at rest it is sealed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/secret.hpp"

namespace pollux::model {

enum class SnmpAuth : std::uint8_t { kNone, kMd5, kSha1, kSha224, kSha256, kSha384, kSha512 };
// AES with keys longer than the digest: the extension of draft-blumenthal ("AES-256"), or the one
// that Cisco uses ("AES-256-C", draft-reeder).
enum class SnmpPrivacy : std::uint8_t {
    kNone,
    kDes,
    kAes128,
    kAes192,
    kAes256,
    kAes192c,
    kAes256c
};

inline constexpr std::size_t kShortestSnmpPassword = 8;  // RFC 3414 11.2

struct Credentials {
    std::string username;
    base::Secret password;
    base::Secret token;              // bearer token, or the value of an API-key header
    base::Secret community;          // SNMP v1 and v2c; empty: "public"
    std::string client_certificate;  // path of a PEM file
    std::string client_key;          // path of a PEM file
    base::Secret client_key_password;
    // SNMPv3, with `username` as the security name.
    SnmpAuth snmp_auth = SnmpAuth::kNone;
    base::Secret snmp_auth_password;
    SnmpPrivacy snmp_privacy = SnmpPrivacy::kNone;
    base::Secret snmp_privacy_password;
    std::string snmp_context;
    // SSH, with `username` and `password`.
    std::string ssh_key;  // path of a private key
    base::Secret ssh_key_password;
    bool ssh_agent = false;  // also ask the agent at SSH_AUTH_SOCK
    bool operator==(const Credentials&) const = default;
};

}  // namespace pollux::model
