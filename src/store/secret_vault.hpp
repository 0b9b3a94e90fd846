// Credentials at rest: sealed under a master key, opened only on the way to a driver.
//
// Sealed bytes: version 1, key id (8 bytes), nonce (24 random bytes), XChaCha20-Poly1305 of the
// secret with version, key id and the object's name as associated data. So a sealed secret cannot
// be moved to another object, and a renamed object has to be sealed anew.
//
// Immutable after it is made, so any thread may use it. No message holds a secret or a key; key ids
// are one-way and may be shown.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::store {

class Store;

inline constexpr std::size_t kMasterKeyBytes = 32;

// Where the master key may come from, first found: environment, systemd credential, key file.
struct KeySources {
    base::Secret environment;           // base64; empty: not set
    std::string credentials_directory;  // of systemd; `pollux.key` in it, if it is there
    std::string key_file;               // made with a new random key (0600) if it is absent

    // POLLUX_KEY and CREDENTIALS_DIRECTORY of this process.
    static KeySources of_process(std::string key_file);
};

class SecretVault {
  public:
    // Fails with vault.key (config) if the key has a wrong length or form, vault.key_file if the
    // file cannot be used or others can read it. Blocks for a file.
    static base::Result<SecretVault> open(const KeySources& sources);
    // 32 bytes as they are.
    static base::Result<SecretVault> with_key(base::Secret key);

    // Public name of the key that seals: 16 hexadecimal digits.
    const std::string& key_id() const { return keys_.front().id; }
    // Where it came from, for people: "the key file /var/lib/pollux/pollux.key".
    const std::string& origin() const { return origin_; }
    // Whether that is the key file: only this one can be replaced from here.
    bool from_key_file() const { return from_key_file_; }

    // `name` is the name of the object that the secret belongs to.
    base::Result<std::string> seal(std::string_view name, const base::Secret& secret) const;

    // Fails with vault.damaged (changed, cut off, or sealed for another name) or vault.wrong_key,
    // which names both key ids.
    base::Result<base::Secret> unseal(std::string_view name, std::string_view sealed) const;

    // The key id inside sealed bytes; nothing if they are none.
    static std::optional<std::string> key_id_of(std::string_view sealed);

    // One that seals with `next`'s key and still opens what was sealed by this one.
    SecretVault followed_by(const SecretVault& next) const;

  private:
    struct Key {
        base::Secret bytes;
        std::string id;
    };
    SecretVault() = default;

    std::vector<Key> keys_;  // the first one seals, all open
    std::string origin_;
    bool from_key_file_ = false;
};

// Seals every credential object of the store under the key of `next`, in one transaction. Blocks;
// not from the store's thread. On an error (a conflict: somebody edited meanwhile) nothing changed.
// Returns how many were sealed anew.
base::Result<std::size_t> reseal_all(Store& store, const SecretVault& from,
                                     const SecretVault& next);

// Seals anew what is not in the store. The vault seals under the new key and opens both.
using ResealOthers = std::function<base::Status(const SecretVault& both)>;

// Replaces the key in a key file: a new key is put beside it (`<file>.new`), everything is sealed
// anew, then the new file takes the place of the old one. Interrupted at any point, both keys are
// there, SecretVault::open() reads both, and calling this again finishes. Returns the new vault.
base::Result<SecretVault> rotate_key_file(Store& store, const std::string& key_file,
                                          const ResealOthers& others = {});

}  // namespace pollux::store
