// The key of the audit trail: it vouches for records (a keyed hash, in a chain) and signs what is
// kept outside of the store (Ed25519: whoever has the public key can check a checkpoint).
//
// The secret is 32 random bytes in the file `audit.key`, sealed by the vault. So a new master key
// seals the same secret anew, and old records stay verifiable.
//
// Immutable, so any thread may use it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "store/audit/audit_types.hpp"

namespace pollux::store {

class SecretVault;

inline constexpr const char* kAuditKeyFile = "audit.key";

class AuditKey {
  public:
    // 32 bytes; anything else is a mistake of the program.
    explicit AuditKey(const base::Secret& secret);
    static std::shared_ptr<const AuditKey> random();

    // Reads and opens the file; makes one with a new random secret if there is none, durably. Fails
    // with audit.key, naming the file and what to do. Blocks for a file.
    static base::Result<std::shared_ptr<const AuditKey>> open_or_make(const std::string& path,
                                                                      const SecretVault& vault);
    // As above, but a missing file is an error: changes nothing.
    static base::Result<std::shared_ptr<const AuditKey>> open(const std::string& path,
                                                              const SecretVault& vault);
    // Seals the file anew, under the key that the vault seals with now. Nothing to do without one.
    static base::Status reseal(const std::string& path, const SecretVault& vault);

    // Of a record: keyed BLAKE2b over the purpose, the mac of the record before, and its bytes.
    AuditMac mac(const AuditMac& previous, std::string_view record) const;

    // 64 bytes over the text; texts begin with what they are, so that none passes for another.
    std::string sign(std::string_view text) const;
    bool verify(std::string_view text, std::string_view signature) const;

    // Public name: 16 hexadecimal digits.
    const std::string& id() const { return id_; }
    // 64 hexadecimal digits.
    const std::string& public_key() const { return public_hex_; }

  private:
    base::Secret record_key_;
    base::Secret signing_key_;
    std::string public_key_;
    std::string public_hex_;
    std::string id_;
};

std::string audit_hex(std::string_view bytes);
std::string audit_hex(const AuditMac& mac);
std::optional<std::string> audit_unhex(std::string_view text);

}  // namespace pollux::store
