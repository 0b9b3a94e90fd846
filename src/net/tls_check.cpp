#include "net/tls_check.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "net/ip_address.hpp"

namespace pollux::net {
namespace {

constexpr int kMaxChain = 8;
constexpr std::size_t kLongestName = 256;

using PeerHolder = std::shared_ptr<TlsPeer>;

void free_peer(void*, void* holder, CRYPTO_EX_DATA*, int, long, void*) {
    delete static_cast<PeerHolder*>(holder);
}

int peer_index() {
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_peer);
    return index;
}

std::string name_text(const X509_NAME* name) {
    BIO* memory = BIO_new(BIO_s_mem());
    if (memory == nullptr) return {};
    X509_NAME_print_ex(memory, name, 0,
                       XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB));
    char* bytes = nullptr;
    const long length = BIO_get_mem_data(memory, &bytes);
    std::string text(bytes, length > 0 ? static_cast<std::size_t>(length) : 0);
    BIO_free(memory);
    if (text.size() > kLongestName || !base::is_valid_utf8(text) || base::has_control(text)) {
        text = base::quoted(text, kLongestName);
    }
    return text;
}

base::WallTime time_of(const ASN1_TIME* time) {
    tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
    return base::WallTime{static_cast<std::int64_t>(timegm(&parts)) * 1'000'000};
}

bool fingerprint(const X509* certificate, Sha256& out) {
    unsigned length = 0;
    return X509_digest(certificate, EVP_sha256(), out.data(), &length) == 1 && length == out.size();
}

model::CertificateFacts make_facts(const X509* certificate) {
    model::CertificateFacts facts;
    facts.subject = name_text(X509_get_subject_name(certificate));
    facts.issuer = name_text(X509_get_issuer_name(certificate));
    facts.not_before = time_of(X509_get0_notBefore(certificate));
    facts.not_after = time_of(X509_get0_notAfter(certificate));
    Sha256 digest{};
    if (fingerprint(certificate, digest)) {
        facts.sha256 = fmt::format("{:02x}", fmt::join(digest, ""));
    }
    return facts;
}

void note_certificates(X509_STORE_CTX* context, TlsPeer& peer) {
    peer.certificates.clear();
    const X509* leaf = X509_STORE_CTX_get0_cert(context);
    if (leaf != nullptr) peer.certificates.push_back(make_facts(leaf));
    const STACK_OF(X509)* sent = X509_STORE_CTX_get0_untrusted(context);
    for (int i = 0; i < sk_X509_num(sent) && i < kMaxChain; ++i) {
        const X509* certificate = sk_X509_value(sent, i);
        if (leaf != nullptr && X509_cmp(certificate, leaf) == 0) continue;
        peer.certificates.push_back(make_facts(certificate));
    }
}

bool expect_host(X509_STORE_CTX* context, const std::string& host) {
    X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context);
    if (const auto address = IpAddress::parse(host)) {
        const auto bytes = address->bytes();
        return X509_VERIFY_PARAM_set1_ip(parameters, bytes.data(), bytes.size()) == 1;
    }
    std::string_view name = host;
    if (name.ends_with('.')) name.remove_suffix(1);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) == 1;
}

int refuse(X509_STORE_CTX* context, TlsPeer& peer, int error) {
    peer.verify_error = error;
    X509_STORE_CTX_set_error(context, error);
    return 0;
}

int check_peer(X509_STORE_CTX* context, void* argument) {
    TlsPeer& peer = *static_cast<TlsPeer*>(argument);
    note_certificates(context, peer);
    const X509* leaf = X509_STORE_CTX_get0_cert(context);
    if (leaf == nullptr) return refuse(context, peer, X509_V_ERR_UNSPECIFIED);
    if (peer.pin) {
        Sha256 seen{};
        if (!fingerprint(leaf, seen) || seen != *peer.pin) {
            peer.pin_mismatch = true;
            return refuse(context, peer, X509_V_ERR_APPLICATION_VERIFICATION);
        }
    }
    if (!peer.verify) {
        X509_STORE_CTX_set_error(context, X509_V_OK);
        return 1;
    }
    if (!expect_host(context, peer.host)) return refuse(context, peer, X509_V_ERR_UNSPECIFIED);
    const int verified = X509_verify_cert(context);
    if (verified == 1) return 1;
    const int error = X509_STORE_CTX_get_error(context);
    return refuse(context, peer, error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error);
}

std::int64_t stamp_of(const std::string& path) {
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) return -1;
    return facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

model::CertificateFacts facts_of(const x509_st* certificate) { return make_facts(certificate); }

std::optional<Sha256> parse_sha256(std::string_view text) {
    Sha256 result{};
    std::size_t digits = 0;
    for (const char c : text) {
        if (c == ':' && digits % 2 == 0) continue;
        const int digit = digit_of(c);
        if (digit < 0 || digits == 2 * result.size()) return std::nullopt;
        std::uint8_t& byte = result[digits / 2];
        byte = static_cast<std::uint8_t>(unsigned{byte} << 4U | static_cast<unsigned>(digit));
        ++digits;
    }
    if (digits != 2 * result.size()) return std::nullopt;
    return result;
}

TrustStores::~TrustStores() {
    for (const auto& [path, entry] : entries_) X509_STORE_free(entry.store);
}

base::Result<x509_store_st*> TrustStores::get(const std::string& ca_file) {
    const std::int64_t stamp = ca_file.empty() ? 0 : stamp_of(ca_file);
    const auto found = entries_.find(ca_file);
    if (found != entries_.end() && found->second.stamp == stamp) return found->second.store;
    X509_STORE* store = X509_STORE_new();
    if (store == nullptr) return base::internal_error("tls.memory", "out of memory");
    const int loaded = ca_file.empty() ? X509_STORE_set_default_paths(store)
                                       : X509_STORE_load_file(store, ca_file.c_str());
    ERR_clear_error();
    if (loaded != 1) {
        X509_STORE_free(store);
        return base::config_error(
            "tls.ca_file",
            fmt::format("cannot read certificates from the CA file {}; check that it exists, is in "
                        "PEM form and may be read",
                        base::quoted(ca_file, 200)));
    }
    // Intermediate certificates may be trusted by themselves, as browsers and curl do.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    if (found != entries_.end()) {
        X509_STORE_free(found->second.store);
        entries_.erase(found);
    } else if (entries_.size() >= kMaxFiles) {
        X509_STORE_free(entries_.begin()->second.store);
        entries_.erase(entries_.begin());
    }
    entries_[ca_file] = {store, stamp};
    return store;
}

bool install_tls_check(ssl_ctx_st* context, std::shared_ptr<TlsPeer> peer, x509_store_st* trust) {
    TlsPeer* raw = peer.get();
    auto holder = std::make_unique<PeerHolder>(std::move(peer));
    if (SSL_CTX_set_ex_data(context, peer_index(), holder.get()) != 1) return false;
    holder.release();  // free_peer() takes it back when the context goes
    if (trust != nullptr) SSL_CTX_set1_cert_store(context, trust);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context, check_peer, raw);
    // A second handshake could show another certificate than the one that was checked.
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    return true;
}

std::shared_ptr<const TlsPeer> tls_peer_of(const ssl_st* connection) {
    const SSL_CTX* context = SSL_get_SSL_CTX(connection);
    if (context == nullptr) return nullptr;
    const auto* holder = static_cast<const PeerHolder*>(SSL_CTX_get_ex_data(context, peer_index()));
    return holder == nullptr ? nullptr : *holder;
}

}  // namespace pollux::net
