// Localised keys of users, made once and kept: from a password they cost milliseconds, and a shard
// uses them thousands of times per second.
//
// Two bounded caches: keys of passwords, which all engines share, and keys of (credentials,
// engine). The oldest entry makes room. No password is kept: the first cache knows passwords by a
// keyed fingerprint, the second one knows credentials by their identity and forgets them when they
// are gone.
//
// Not thread-safe; one per shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/flat_index.hpp"
#include "base/siphash.hpp"
#include "model/credentials.hpp"
#include "protocol/snmp/usm_crypto.hpp"

namespace pollux::protocol::snmp {

// What messages of one user to or from one engine are signed and encrypted with.
struct LocalKeys {
    Key auth;
    Key privacy;
};

class UsmKeys {
  public:
    UsmKeys(UsmCrypto& crypto, base::SipKey key, std::size_t capacity = 65'536,
            std::size_t password_capacity = 1024);

    // Valid until the next call. Credentials without authentication have empty keys.
    // Before a stranger's signature is checked, leave the key for privacy out: it may cost much.
    const LocalKeys& find(const std::shared_ptr<const model::Credentials>& credentials,
                          Bytes engine_id, bool with_privacy = true);

    // How often a mebibyte was hashed: bounded by passwords, not by polls.
    std::uint64_t derivations() const { return derivations_; }
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::weak_ptr<const model::Credentials> credentials;
        const model::Credentials* identity = nullptr;
        std::string engine_id;
        LocalKeys keys;
    };
    struct PasswordKey {
        model::SnmpAuth auth = model::SnmpAuth::kNone;
        std::uint64_t fingerprint[2] = {0, 0};
        Key key;
    };

    std::uint64_t hash_of(const model::Credentials* identity, Bytes engine_id) const;
    Key auth_key(const model::Credentials& credentials, Bytes engine_id);
    Key privacy_key(const model::Credentials& credentials, Bytes engine_id);
    std::uint32_t place_for(const std::shared_ptr<const model::Credentials>& credentials,
                            Bytes engine_id);
    Key key_of_password(model::SnmpAuth auth, const base::Secret& password);

    UsmCrypto& crypto_;
    base::SipKey key_;
    std::size_t capacity_;
    std::size_t password_capacity_;
    std::vector<Entry> entries_;
    std::size_t oldest_ = 0;
    base::FlatIndex index_;
    std::vector<PasswordKey> passwords_;
    std::size_t oldest_password_ = 0;
    std::uint64_t derivations_ = 0;
};

}  // namespace pollux::protocol::snmp
