#include "protocol/snmp/usm_crypto.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

constexpr std::size_t kPasswordBytes = 1U << 20U;  // how much of the repeated password is hashed
constexpr std::size_t kDesBlock = 8;

struct DigestRow {
    const char* openssl;
    std::string_view name;
    std::size_t digest;
    std::size_t mac;
};
constexpr std::array<DigestRow, 7> kDigests = {{{nullptr, "none", 0, 0},
                                                {"MD5", "MD5", 16, 12},
                                                {"SHA1", "SHA-1", 20, 12},
                                                {"SHA224", "SHA-224", 28, 16},
                                                {"SHA256", "SHA-256", 32, 24},
                                                {"SHA384", "SHA-384", 48, 32},
                                                {"SHA512", "SHA-512", 64, 48}}};

struct CipherRow {
    const char* openssl;
    std::string_view name;
    std::size_t key;
};
// DES with three equal keys in a row is DES, which OpenSSL's default provider does not have.
constexpr std::array<CipherRow, 7> kCiphers = {{{nullptr, "none", 0},
                                                {"DES-EDE3-CBC", "DES", 16},
                                                {"AES-128-CFB", "AES-128", 16},
                                                {"AES-192-CFB", "AES-192", 24},
                                                {"AES-256-CFB", "AES-256", 32},
                                                {"AES-192-CFB", "AES-192-C", 24},
                                                {"AES-256-CFB", "AES-256-C", 32}}};

const DigestRow& row(SnmpAuth auth) { return kDigests[static_cast<std::size_t>(auth)]; }
const CipherRow& row(SnmpPrivacy privacy) { return kCiphers[static_cast<std::size_t>(privacy)]; }

bool extends_as_cisco(SnmpPrivacy privacy) {
    return privacy == SnmpPrivacy::kAes192c || privacy == SnmpPrivacy::kAes256c;
}

void put_big_endian(std::span<std::uint8_t> to, std::uint64_t value) {
    for (std::size_t i = to.size(); i > 0; --i, value >>= 8U) {
        to[i - 1] = static_cast<std::uint8_t>(value & 0xFFU);
    }
}

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Free {
    void operator()(EVP_MD* md) const { EVP_MD_free(md); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

}  // namespace

std::size_t digest_bytes(SnmpAuth auth) { return row(auth).digest; }
std::size_t mac_bytes(SnmpAuth auth) { return row(auth).mac; }
std::size_t cipher_key_bytes(SnmpPrivacy privacy) { return row(privacy).key; }
std::string_view to_string(SnmpAuth auth) { return row(auth).name; }
std::string_view to_string(SnmpPrivacy privacy) { return row(privacy).name; }

bool equal_in_constant_time(Bytes a, Bytes b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// Each is looked up at its first use.
struct UsmCrypto::Algorithms {
    Handle<EVP_MD_CTX> digest{EVP_MD_CTX_new()};
    Handle<EVP_CIPHER_CTX> cipher{EVP_CIPHER_CTX_new()};
    Handle<EVP_MAC> hmac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
    std::array<Handle<EVP_MD>, kDigests.size()> digests;
    std::array<Handle<EVP_MAC_CTX>, kDigests.size()> macs;
    std::array<Handle<EVP_CIPHER>, kCiphers.size()> ciphers;

    EVP_MD* digest_of(SnmpAuth auth) {
        Handle<EVP_MD>& found = digests[static_cast<std::size_t>(auth)];
        if (!found) found.reset(EVP_MD_fetch(nullptr, row(auth).openssl, nullptr));
        POLLUX_CHECK_MSG(found != nullptr, "OpenSSL lacks a digest of SNMPv3");
        return found.get();
    }

    EVP_MAC_CTX* mac_of(SnmpAuth auth) {
        Handle<EVP_MAC_CTX>& found = macs[static_cast<std::size_t>(auth)];
        if (!found) {
            found.reset(EVP_MAC_CTX_new(hmac.get()));
            // OpenSSL takes the name as changeable text, and does not change it.
            const std::array<OSSL_PARAM, 2> parameters = {
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                                 const_cast<char*>(row(auth).openssl), 0),
                OSSL_PARAM_construct_end()};
            POLLUX_CHECK_MSG(
                found != nullptr && EVP_MAC_CTX_set_params(found.get(), parameters.data()) == 1,
                "OpenSSL lacks a digest of SNMPv3");
        }
        return found.get();
    }

    EVP_CIPHER* cipher_of(SnmpPrivacy privacy) {
        Handle<EVP_CIPHER>& found = ciphers[static_cast<std::size_t>(privacy)];
        if (!found) found.reset(EVP_CIPHER_fetch(nullptr, row(privacy).openssl, nullptr));
        POLLUX_CHECK_MSG(found != nullptr, "OpenSSL lacks a cipher of SNMPv3");
        return found.get();
    }
};

UsmCrypto::UsmCrypto() : algorithms_(std::make_unique<Algorithms>()) {}
UsmCrypto::~UsmCrypto() = default;

Key UsmCrypto::hash(SnmpAuth auth, std::initializer_list<Bytes> parts) {
    EVP_MD_CTX* context = algorithms_->digest.get();
    Key result;
    unsigned int size = 0;
    POLLUX_CHECK(EVP_DigestInit_ex2(context, algorithms_->digest_of(auth), nullptr) == 1);
    for (const Bytes part : parts) {
        POLLUX_CHECK(EVP_DigestUpdate(context, part.data(), part.size()) == 1);
    }
    POLLUX_CHECK(EVP_DigestFinal_ex(context, result.bytes.data(), &size) == 1);
    result.size = size;
    return result;
}

Key UsmCrypto::key_of_password(SnmpAuth auth, std::string_view password) {
    POLLUX_CHECK(!password.empty());
    EVP_MD_CTX* context = algorithms_->digest.get();
    POLLUX_CHECK(EVP_DigestInit_ex2(context, algorithms_->digest_of(auth), nullptr) == 1);
    // In pieces of whole passwords, so that the next piece goes on where this one ended.
    std::string piece;
    while (piece.size() < 4096) piece += password;
    for (std::size_t left = kPasswordBytes; left > 0;) {
        const std::size_t size = std::min(left, piece.size());
        POLLUX_CHECK(EVP_DigestUpdate(context, piece.data(), size) == 1);
        left -= size;
    }
    OPENSSL_cleanse(piece.data(), piece.size());
    Key result;
    unsigned int size = 0;
    POLLUX_CHECK(EVP_DigestFinal_ex(context, result.bytes.data(), &size) == 1);
    result.size = size;
    return result;
}

Key UsmCrypto::localise(SnmpAuth auth, const Key& key, Bytes engine_id) {
    return hash(auth, {key.view(), engine_id, key.view()});
}

Key UsmCrypto::cipher_key(SnmpAuth auth, SnmpPrivacy privacy, const Key& localised,
                          Bytes engine_id) {
    const std::size_t wanted = cipher_key_bytes(privacy);
    Key key = localised;
    while (key.size < wanted) {
        // At most once: the shortest digest has half of the longest key.
        const Key more = extends_as_cisco(privacy)
                             ? localise(auth, key_of_password(auth, text_of(key.view())), engine_id)
                             : hash(auth, {key.view()});
        const std::size_t taken = std::min(more.size, wanted - key.size);
        std::copy_n(more.bytes.begin(), taken,
                    key.bytes.begin() + static_cast<std::ptrdiff_t>(key.size));
        key.size += taken;
    }
    key.size = wanted;
    return key;
}

void UsmCrypto::sign(SnmpAuth auth, const Key& key, std::initializer_list<Bytes> parts,
                     std::span<std::uint8_t> mac) {
    POLLUX_CHECK(mac.size() == mac_bytes(auth));
    EVP_MAC_CTX* context = algorithms_->mac_of(auth);
    POLLUX_CHECK(EVP_MAC_init(context, key.bytes.data(), key.size, nullptr) == 1);
    for (const Bytes part : parts) {
        POLLUX_CHECK(EVP_MAC_update(context, part.data(), part.size()) == 1);
    }
    std::array<std::uint8_t, kMaxKeyBytes> full{};
    std::size_t size = 0;
    POLLUX_CHECK(EVP_MAC_final(context, full.data(), &size, full.size()) == 1);
    std::copy_n(full.begin(), mac.size(), mac.begin());
}

bool UsmCrypto::run_cipher(SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                           std::span<std::uint8_t> data, bool encrypting) {
    if (salt.size() != kSaltBytes || key.size != cipher_key_bytes(privacy)) return false;
    if (data.empty()) return true;
    std::array<std::uint8_t, 16> vector{};
    std::array<std::uint8_t, 32> cipher_key{};
    if (privacy == SnmpPrivacy::kDes) {
        if (data.size() % kDesBlock != 0) return false;
        for (std::size_t i = 0; i < kDesBlock; ++i) {
            vector[i] = key.bytes[kDesBlock + i] ^ salt[i];
            cipher_key[i] = cipher_key[8 + i] = cipher_key[16 + i] = key.bytes[i];
        }
    } else {
        put_big_endian(std::span(vector).first(4), time.boots);
        put_big_endian(std::span(vector).subspan(4, 4), time.time);
        std::copy(salt.begin(), salt.end(), vector.begin() + 8);
        std::copy_n(key.bytes.begin(), key.size, cipher_key.begin());
    }
    EVP_CIPHER_CTX* context = algorithms_->cipher.get();
    int done = 0;
    const bool ok = EVP_CipherInit_ex2(context, algorithms_->cipher_of(privacy), cipher_key.data(),
                                       vector.data(), encrypting ? 1 : 0, nullptr) == 1 &&
                    EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
                    EVP_CipherUpdate(context, data.data(), &done, data.data(),
                                     static_cast<int>(data.size())) == 1 &&
                    static_cast<std::size_t>(done) == data.size();
    OPENSSL_cleanse(cipher_key.data(), cipher_key.size());
    return ok;
}

bool UsmCrypto::encrypt(SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                        std::span<std::uint8_t> data) {
    return run_cipher(privacy, key, time, salt, data, true);
}

bool UsmCrypto::decrypt(SnmpPrivacy privacy, const Key& key, CipherTime time, Bytes salt,
                        std::span<std::uint8_t> data) {
    return run_cipher(privacy, key, time, salt, data, false);
}

std::array<std::uint8_t, kSaltBytes> SaltCounter::next(SnmpPrivacy privacy, std::uint32_t boots) {
    std::array<std::uint8_t, kSaltBytes> salt{};
    const std::uint64_t number = next_++;
    if (privacy == SnmpPrivacy::kDes) {
        put_big_endian(std::span(salt).first(4), boots);
        put_big_endian(std::span(salt).subspan(4), number & 0xFFFFFFFFU);
    } else {
        put_big_endian(salt, number);
    }
    return salt;
}

}  // namespace pollux::protocol::snmp
