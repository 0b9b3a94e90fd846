// The mathematics of the User-based Security Model, without messages: keys from passwords (RFC
// 3414 A.2), digests (RFC 3414, RFC 7860), ciphers (RFC 3414 8, RFC 3826) and the two ways to make
// a digest's key long enough for AES-192 and AES-256.
//
// Not thread-safe: one per shard. OpenSSL's algorithms are looked up once, because that costs more
// than using them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "model/credentials.hpp"
#include "protocol/snmp/ber.hpp"

struct evp_cipher_ctx_st;
struct evp_cipher_st;
struct evp_mac_ctx_st;
struct evp_md_ctx_st;
struct evp_md_st;

namespace pollux::protocol::snmp {

inline constexpr std::size_t kMaxKeyBytes = 64;  // the digest of SHA-512
inline constexpr std::size_t kMaxMacBytes = 48;
inline constexpr std::size_t kSaltBytes = 8;

// A key; wiped when it goes.
struct Key {
    std::array<std::uint8_t, kMaxKeyBytes> bytes{};
    std::size_t size = 0;

    Key() = default;
    Key(const Key&) = default;
    Key& operator=(const Key&) = default;
    ~Key() {
        volatile std::uint8_t* at = bytes.data();
        for (std::size_t i = 0; i < bytes.size(); ++i) at[i] = 0;
    }
    Bytes view() const { return {bytes.data(), size}; }
};

// How long a key of the protocol is, and what of the HMAC goes into a message. 0: no such thing.
std::size_t digest_bytes(model::SnmpAuth auth);
std::size_t mac_bytes(model::SnmpAuth auth);
// DES: 16, half of it for the initialisation vector.
std::size_t cipher_key_bytes(model::SnmpPrivacy privacy);

// "SHA-256", "AES-128", as people write them.
std::string_view to_string(model::SnmpAuth auth);
std::string_view to_string(model::SnmpPrivacy privacy);

// In the same time wherever they differ.
bool equal_in_constant_time(Bytes a, Bytes b);

// What goes into the initialisation vector beside the key.
struct CipherTime {
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
};

class UsmCrypto {
  public:
    UsmCrypto();
    ~UsmCrypto();
    UsmCrypto(const UsmCrypto&) = delete;
    UsmCrypto& operator=(const UsmCrypto&) = delete;

    // Hashes a mebibyte: milliseconds. `auth` is not kNone, and the password not empty.
    Key key_of_password(model::SnmpAuth auth, std::string_view password);
    // The key for one engine.
    Key localise(model::SnmpAuth auth, const Key& key, Bytes engine_id);
    // A localised key, made as long as the cipher needs it; the "c" ciphers hash a mebibyte again
    // if the digest is too short for them.
    Key cipher_key(model::SnmpAuth auth, model::SnmpPrivacy privacy, const Key& localised,
                   Bytes engine_id);

    // The first mac_bytes() of the HMAC over the parts, one after another; into `mac`, which has
    // that size.
    void sign(model::SnmpAuth auth, const Key& key, std::initializer_list<Bytes> parts,
              std::span<std::uint8_t> mac);

    // In place. DES: the size is a multiple of 8. False: the cipher refuses the data.
    bool encrypt(model::SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                 std::span<std::uint8_t> data);
    bool decrypt(model::SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                 std::span<std::uint8_t> data);

  private:
    struct Algorithms;

    Key hash(model::SnmpAuth auth, std::initializer_list<Bytes> parts);
    bool run_cipher(model::SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                    std::span<std::uint8_t> data, bool encrypting);

    std::unique_ptr<Algorithms> algorithms_;
};

// Salts never repeat while a process lives, and start where nobody can guess: a restarted process
// does not repeat those of the one before.
class SaltCounter {
  public:
    explicit SaltCounter(std::uint64_t start) : next_(start) {}
    // DES: the engine's boots and 32 bits of the counter; AES: all 64.
    std::array<std::uint8_t, kSaltBytes> next(model::SnmpPrivacy privacy, std::uint32_t boots);

  private:
    std::uint64_t next_;
};

}  // namespace pollux::protocol::snmp
