#include "net/tls_inspect.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/text.hpp"
#include "net/ip_address.hpp"
#include "net/tls_check.hpp"

namespace pollux::net {
namespace {

constexpr int kMaxChain = 8;
constexpr int kMaxNames = 200;
constexpr std::size_t kLongestName = 255;

std::string text_of(const ASN1_STRING* value) {
    const auto* bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(value));
    const std::string text(bytes, static_cast<std::size_t>(ASN1_STRING_length(value)));
    return base::plain_text(text.substr(0, kLongestName));
}

std::vector<std::string> names_of(const X509* leaf) {
    std::vector<std::string> names;
    auto* all =
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(leaf, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(all) && i < kMaxNames; ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, i);
        if (name->type == GEN_DNS) names.push_back(text_of(name->d.dNSName));
        if (name->type != GEN_IPADD) continue;
        const auto* bytes = ASN1_STRING_get0_data(name->d.iPAddress);
        const int length = ASN1_STRING_length(name->d.iPAddress);
        if (length == 4) {
            names.push_back(IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]}).to_string());
        } else if (length == 16) {
            std::array<std::uint8_t, 16> v6{};
            std::copy(bytes, bytes + 16, v6.begin());
            names.push_back(IpAddress::v6(v6).to_string());
        }
    }
    GENERAL_NAMES_free(all);
    return names;
}

bool is_for(X509* leaf, const std::string& name) {
    if (const auto address = IpAddress::parse(name)) {
        const auto bytes = address->bytes();
        return X509_check_ip(leaf, bytes.data(), bytes.size(), 0) == 1;
    }
    return X509_check_host(leaf, name.data(), name.size(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
                           nullptr) == 1;
}

std::string verify(X509* leaf, STACK_OF(X509) * sent, X509_STORE* trust) {
    const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> context(
        X509_STORE_CTX_new(), X509_STORE_CTX_free);
    if (context == nullptr || X509_STORE_CTX_init(context.get(), trust, leaf, sent) != 1) {
        return "out of memory";
    }
    X509_VERIFY_PARAM_set_purpose(X509_STORE_CTX_get0_param(context.get()),
                                  X509_PURPOSE_SSL_SERVER);
    const bool good = X509_verify_cert(context.get()) == 1;
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return good ? "" : X509_verify_cert_error_string(error);
}

}  // namespace

model::TlsReply inspect_peer(const ssl_st* connection, x509_store_st* trust,
                             const std::string& name) {
    model::TlsReply reply;
    reply.protocol = SSL_get_version(connection);
    const SSL_CIPHER* cipher = SSL_get_current_cipher(connection);
    if (cipher != nullptr) reply.cipher = SSL_CIPHER_get_name(cipher);
    STACK_OF(X509)* const sent = SSL_get_peer_cert_chain(connection);
    X509* const leaf = sk_X509_num(sent) > 0 ? sk_X509_value(sent, 0) : nullptr;
    if (leaf == nullptr) {
        reply.verify_error = "the server showed no certificate";
        reply.name_matches = false;
        return reply;
    }
    for (int i = 0; i < sk_X509_num(sent) && i < kMaxChain; ++i) {
        reply.certificates.push_back(facts_of(sk_X509_value(sent, i)));
    }
    reply.names = names_of(leaf);
    reply.name_matches = is_for(leaf, name);
    reply.verify_error = verify(leaf, sent, trust);
    return reply;
}

}  // namespace pollux::net
