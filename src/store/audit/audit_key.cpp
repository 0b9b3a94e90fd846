#include "store/audit/audit_key.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include "base/check.hpp"
#include "store/durable_file.hpp"
#include "store/secret_vault.hpp"

namespace pollux::store {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kMostFileBytes = 4096;
// No object can have this name, so no sealed credential passes for the key.
constexpr std::string_view kSealedName = "\naudit key";

static_assert(std::tuple_size_v<AuditMac> == crypto_generichash_BYTES);
static_assert(kSecretBytes == crypto_generichash_KEYBYTES);
static_assert(kSecretBytes == crypto_sign_SEEDBYTES);

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// One secret, two uses: what is derived for one says nothing about the other.
std::string derived(const base::Secret& secret, std::string_view purpose) {
    std::string key(crypto_generichash_BYTES, '\0');
    crypto_generichash(bytes_of(key), key.size(), bytes_of(purpose), purpose.size(),
                       bytes_of(secret.reveal()), secret.reveal().size());
    return key;
}

std::unexpected<base::Error> key_error(const std::string& path, std::string_view what) {
    return base::config_error(
        "audit.key",
        fmt::format("audit: the key of the trail {} {}: bring back the file and the master key it "
                    "was sealed under; if they are lost, move it away: the server then makes a new "
                    "one, and the records so far cannot be checked any more",
                    path, what));
}

base::Result<base::Secret> unsealed(const std::string& path, std::string_view sealed,
                                    const SecretVault& vault) {
    auto secret = vault.unseal(kSealedName, sealed);
    if (!secret) {
        const auto id = SecretVault::key_id_of(sealed);
        if (secret.error().code == "vault.wrong_key" && id) {
            return key_error(path, fmt::format("is sealed under the master key {}, and {} holds {}",
                                               *id, vault.origin(), vault.key_id()));
        }
        return key_error(path, "was changed or cut off");
    }
    if (secret->reveal().size() != kSecretBytes) return key_error(path, "has a wrong length");
    return secret;
}

base::Status write_sealed(const std::string& path, const base::Secret& secret,
                          const SecretVault& vault) {
    auto sealed = vault.seal(kSealedName, secret);
    if (!sealed) return std::unexpected(std::move(sealed.error()));
    return replace_file(path, *sealed);
}

}  // namespace

AuditKey::AuditKey(const base::Secret& secret) {
    POLLUX_CHECK_MSG(sodium_init() >= 0, "libsodium must find a source of randomness");
    POLLUX_CHECK(secret.reveal().size() == kSecretBytes);
    record_key_ = base::Secret(derived(secret, "pollux audit record key 1"));
    const base::Secret seed(derived(secret, "pollux audit signing key 1"));
    std::string signing(crypto_sign_SECRETKEYBYTES, '\0');
    public_key_.resize(crypto_sign_PUBLICKEYBYTES);
    crypto_sign_seed_keypair(bytes_of(public_key_), bytes_of(signing), bytes_of(seed.reveal()));
    signing_key_ = base::Secret(std::move(signing));
    public_hex_ = audit_hex(public_key_);
    std::string digest(crypto_generichash_BYTES, '\0');
    crypto_generichash(bytes_of(digest), digest.size(), bytes_of(public_key_), public_key_.size(),
                       nullptr, 0);
    id_ = audit_hex(std::string_view(digest).substr(0, kIdBytes));
}

std::shared_ptr<const AuditKey> AuditKey::random() {
    POLLUX_CHECK_MSG(sodium_init() >= 0, "libsodium must find a source of randomness");
    std::string bytes(kSecretBytes, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return std::make_shared<const AuditKey>(base::Secret(std::move(bytes)));
}

base::Result<std::shared_ptr<const AuditKey>> AuditKey::open(const std::string& path,
                                                             const SecretVault& vault) {
    auto sealed = read_file(path, kMostFileBytes);
    if (!sealed) return std::unexpected(std::move(sealed.error()));
    if (!*sealed) return key_error(path, "is not there");
    auto secret = unsealed(path, **sealed, vault);
    if (!secret) return std::unexpected(std::move(secret.error()));
    return std::make_shared<const AuditKey>(*secret);
}

base::Result<std::shared_ptr<const AuditKey>> AuditKey::open_or_make(const std::string& path,
                                                                     const SecretVault& vault) {
    auto sealed = read_file(path, kMostFileBytes);
    if (!sealed) return std::unexpected(std::move(sealed.error()));
    if (*sealed) return open(path, vault);
    std::string bytes(kSecretBytes, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    const base::Secret secret(std::move(bytes));
    if (auto status = write_sealed(path, secret, vault); !status) {
        return std::unexpected(std::move(status.error()));
    }
    return std::make_shared<const AuditKey>(secret);
}

base::Status AuditKey::reseal(const std::string& path, const SecretVault& vault) {
    auto sealed = read_file(path, kMostFileBytes);
    if (!sealed) return std::unexpected(std::move(sealed.error()));
    if (!*sealed || SecretVault::key_id_of(**sealed) == vault.key_id()) return {};
    auto secret = unsealed(path, **sealed, vault);
    if (!secret) return std::unexpected(std::move(secret.error()));
    return write_sealed(path, *secret, vault);
}

AuditMac AuditKey::mac(const AuditMac& previous, std::string_view record) const {
    static constexpr std::string_view kPurpose = "pollux audit record 1\n";
    AuditMac mac{};
    crypto_generichash_state state;
    crypto_generichash_init(&state, bytes_of(record_key_.reveal()), record_key_.reveal().size(),
                            mac.size());
    crypto_generichash_update(&state, bytes_of(kPurpose), kPurpose.size());
    crypto_generichash_update(&state, previous.data(), previous.size());
    crypto_generichash_update(&state, bytes_of(record), record.size());
    crypto_generichash_final(&state, mac.data(), mac.size());
    return mac;
}

std::string AuditKey::sign(std::string_view text) const {
    std::string signature(crypto_sign_BYTES, '\0');
    crypto_sign_detached(bytes_of(signature), nullptr, bytes_of(text), text.size(),
                         bytes_of(signing_key_.reveal()));
    return signature;
}

bool AuditKey::verify(std::string_view text, std::string_view signature) const {
    return signature.size() == crypto_sign_BYTES &&
           crypto_sign_verify_detached(bytes_of(signature), bytes_of(text), text.size(),
                                       bytes_of(public_key_)) == 0;
}

std::string audit_hex(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::string audit_hex(const AuditMac& mac) {
    return audit_hex(std::string_view(reinterpret_cast<const char*>(mac.data()), mac.size()));
}

std::optional<std::string> audit_unhex(std::string_view text) {
    const auto digit = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return -1;
    };
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = digit(text[i]);
        const int low = digit(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

}  // namespace pollux::store
