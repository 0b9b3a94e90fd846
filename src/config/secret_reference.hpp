// Where a secret comes from. Fleet files name secrets, they do not hold them: `${VARIABLE}`,
// `file:/path` or `vault:name`. A literal is allowed in the section `credentials` only, with a
// warning, and never leaves memory unsealed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "model/ask.hpp"
#include "model/credentials.hpp"

namespace pollux::config {

enum class SecretKind : std::uint8_t {
    kEnvironment,  // ${NAME}: read from the environment of the server
    kFile,         // file:/path: first line of a file, read at each start and reload
    kVault,        // vault:name: a secret that was put into the vault by hand
    kLiteral,      // the secret itself
};

struct SecretReference {
    SecretKind kind = SecretKind::kEnvironment;
    std::string name;      // variable, absolute path or name in the vault; empty for a literal
    base::Secret literal;  // kLiteral only
    bool operator==(const SecretReference&) const = default;
};

// Refuses an empty text, a malformed variable name and a relative path. The message never holds
// the text itself, which may be a secret.
base::Result<SecretReference> parse_secret_reference(std::string_view text);

// The text that parse_secret_reference() reads back. For a literal this is the secret: only for
// what is sealed at once.
std::string reveal(const SecretReference& reference);

// For people: the reference, or "(secret)".
std::string describe(const SecretReference& reference);

// One entry of `credentials`. All parts are optional; a user name is no secret.
struct Credential {
    std::string username;
    std::optional<SecretReference> password;
    std::optional<SecretReference> token;
    std::optional<SecretReference> community;
    std::string client_certificate;  // path of a PEM file
    std::string client_key;          // path of a PEM file
    std::optional<SecretReference> client_key_password;
    // How it is shown to an HTTP server. Nothing: as the addon says, else basic for a user name and
    // bearer for a token.
    std::optional<model::HttpAuth> auth;
    std::string header;  // of an API key; empty: as the addon says
    // SNMPv3, with `username` as the security name.
    model::SnmpAuth snmp_auth = model::SnmpAuth::kNone;
    std::optional<SecretReference> snmp_auth_password;
    model::SnmpPrivacy snmp_privacy = model::SnmpPrivacy::kNone;
    std::optional<SecretReference> snmp_privacy_password;
    std::string snmp_context;
    bool operator==(const Credential&) const = default;
};

// Reads environment, files and vault; handed in by the caller, because this folder does no I/O.
using SecretSource = std::function<base::Result<base::Secret>(const SecretReference&)>;

// Fills in every reference. A failure names the credential and the part, never a value.
base::Result<model::Credentials> resolve(std::string_view name, const Credential& credential,
                                         const SecretSource& source);

}  // namespace pollux::config
