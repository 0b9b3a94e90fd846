#include "store/secret_vault.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.hpp"
#include "store/key_file.hpp"

namespace pollux::store {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kKeyIdBytes = 8;
constexpr std::size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kHeaderBytes = 1 + kKeyIdBytes;
constexpr std::size_t kLeastSealed = kHeaderBytes + kNonceBytes + kTagBytes;

static_assert(kMasterKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string to_hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::string raw_id(const base::Secret& key) {
    static constexpr std::string_view kPurpose = "pollux key id 1";
    std::array<unsigned char, crypto_generichash_BYTES> digest{};
    crypto_generichash(digest.data(), digest.size(), bytes_of(kPurpose), kPurpose.size(),
                       bytes_of(key.reveal()), key.reveal().size());
    return {reinterpret_cast<const char*>(digest.data()), kKeyIdBytes};
}

// What the seal vouches for beside the secret: the header, and whose secret it is.
std::string associated(std::string_view header, std::string_view name) {
    return fmt::format("pollux credential\n{}{}", header, name);
}

std::unexpected<base::Error> damaged(std::string_view name, std::string_view seen) {
    return base::make_error(
        base::ErrorClass::kPermanent, "vault.damaged",
        fmt::format("vault: the stored secret of '{}' {}: enter it again", name, seen));
}

}  // namespace

KeySources KeySources::of_process(std::string key_file) {
    KeySources sources;
    if (const char* key = std::getenv("POLLUX_KEY")) sources.environment = base::Secret(key);
    if (const char* folder = std::getenv("CREDENTIALS_DIRECTORY")) {
        sources.credentials_directory = folder;
    }
    sources.key_file = std::move(key_file);
    return sources;
}

base::Result<SecretVault> SecretVault::with_key(base::Secret key) {
    POLLUX_CHECK_MSG(sodium_init() >= 0, "libsodium must find a source of randomness");
    if (key.reveal().size() != kMasterKeyBytes) {
        return base::config_error("vault.key",
                                  fmt::format("vault: a master key has {} bytes, this one {}",
                                              kMasterKeyBytes, key.reveal().size()));
    }
    SecretVault vault;
    std::string id = to_hex(raw_id(key));
    vault.keys_.push_back({std::move(key), std::move(id)});
    vault.origin_ = "a key given directly";
    return vault;
}

base::Result<SecretVault> SecretVault::open(const KeySources& sources) {
    POLLUX_CHECK_MSG(sodium_init() >= 0, "libsodium must find a source of randomness");
    const auto finish = [](base::Result<base::Secret> key,
                           std::string origin) -> base::Result<SecretVault> {
        if (!key) return std::unexpected(std::move(key.error()));
        auto vault = with_key(std::move(*key));
        if (vault) vault->origin_ = std::move(origin);
        return vault;
    };
    if (!sources.environment.empty()) {
        const std::string origin = "the environment variable POLLUX_KEY";
        return finish(decode_key(sources.environment, origin), origin);
    }
    if (!sources.credentials_directory.empty()) {
        const std::string path = sources.credentials_directory + "/pollux.key";
        if (key_file_exists(path)) {
            return finish(read_key_file(path, FileRights::kAsTheSystem),
                          "the systemd credential " + path);
        }
    }
    const std::string& file = sources.key_file;
    if (file.empty()) {
        return base::config_error("vault.key",
                                  "vault: there is no master key: set POLLUX_KEY, give the systemd "
                                  "credential pollux.key, or name a key file");
    }
    auto vault = finish(
        key_file_exists(file) ? read_key_file(file, FileRights::kOwnerOnly) : make_key_file(file),
        "the key file " + file);
    if (vault) vault->from_key_file_ = true;
    const std::string pending = file + ".new";
    if (!vault || !key_file_exists(pending)) return vault;
    // A rotation was interrupted: what is stored is under one of the two.
    auto next = finish(read_key_file(pending, FileRights::kOwnerOnly), vault->origin_);
    if (!next) return next;
    for (const auto& key : next->keys_) vault->keys_.push_back(key);
    return vault;
}

base::Result<std::string> SecretVault::seal(std::string_view name,
                                            const base::Secret& secret) const {
    const auto& key = keys_.front();
    std::string sealed;
    sealed += static_cast<char>(kVersion);
    sealed += raw_id(key.bytes);
    const std::string vouched = associated(sealed, name);
    sealed.resize(kLeastSealed + secret.reveal().size());
    unsigned char* nonce = bytes_of(sealed) + kHeaderBytes;
    randombytes_buf(nonce, kNonceBytes);
    unsigned long long length = 0;
    const int result = crypto_aead_xchacha20poly1305_ietf_encrypt(
        nonce + kNonceBytes, &length, bytes_of(secret.reveal()), secret.reveal().size(),
        bytes_of(vouched), vouched.size(), nullptr, nonce, bytes_of(key.bytes.reveal()));
    if (result != 0) {
        return base::internal_error("vault.seal",
                                    fmt::format("vault: cannot seal the secret of '{}'", name));
    }
    return sealed;
}

base::Result<base::Secret> SecretVault::unseal(std::string_view name,
                                               std::string_view sealed) const {
    const auto id = key_id_of(sealed);
    if (!id) return damaged(name, "is not a sealed one, or cut off");
    const auto key =
        std::ranges::find_if(keys_, [&](const Key& candidate) { return candidate.id == *id; });
    if (key == keys_.end()) {
        return base::config_error(
            "vault.wrong_key",
            fmt::format("vault: the secret of '{}' is sealed under key {}, and {} holds key {}: "
                        "bring back the old key, or enter the secret again",
                        name, *id, origin_, key_id()));
    }
    const std::string vouched = associated(sealed.substr(0, kHeaderBytes), name);
    const auto nonce = sealed.substr(kHeaderBytes, kNonceBytes);
    const auto cipher = sealed.substr(kHeaderBytes + kNonceBytes);
    std::string plain(cipher.size() - kTagBytes, '\0');
    const int result = crypto_aead_xchacha20poly1305_ietf_decrypt(
        bytes_of(plain), nullptr, nullptr, bytes_of(cipher), cipher.size(), bytes_of(vouched),
        vouched.size(), bytes_of(nonce), bytes_of(key->bytes.reveal()));
    if (result != 0) return damaged(name, "was changed, or sealed for another name");
    return base::Secret(std::move(plain));
}

std::optional<std::string> SecretVault::key_id_of(std::string_view sealed) {
    if (sealed.size() < kLeastSealed || static_cast<std::uint8_t>(sealed[0]) != kVersion) {
        return std::nullopt;
    }
    return to_hex(sealed.substr(1, kKeyIdBytes));
}

SecretVault SecretVault::followed_by(const SecretVault& next) const {
    SecretVault both;
    both.keys_ = next.keys_;
    both.keys_.insert(both.keys_.end(), keys_.begin(), keys_.end());
    both.origin_ = next.origin_;
    return both;
}

}  // namespace pollux::store
