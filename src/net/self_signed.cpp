// make_self_signed(): for servers that must speak TLS before anybody gave them a certificate.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/tls_stream.hpp"

namespace pollux::net {
namespace {

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T* pointer) const {
        Free(pointer);
    }
};
using KeyPointer = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, Deleter<X509_free>>;
using BioPointer = std::unique_ptr<BIO, Deleter<BIO_free>>;

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const long length = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(length)};
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

std::string alternative_names(const SelfSignedOptions& options) {
    std::string result;
    for (const std::string& name : options.names) {
        result += (result.empty() ? "DNS:" : ",DNS:") + name;
    }
    for (const std::string& address : options.addresses) {
        result += (result.empty() ? "IP:" : ",IP:") + address;
    }
    return result;
}

bool fill(X509* certificate, EVP_PKEY* key, const SelfSignedOptions& options) {
    constexpr long kDay = 24L * 3600;
    std::uint32_t serial = 0;
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), std::uint64_t{serial} + 1);
    const long days = options.valid_days;
    X509_gmtime_adj(X509_getm_notBefore(certificate), days < 0 ? (days - 1) * kDay : -kDay);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * kDay);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    const auto* text = reinterpret_cast<const unsigned char*>(options.common_name.c_str());
    if (X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) != 1) return false;
    if (X509_set_issuer_name(certificate, name) != 1) return false;
    const std::string names = alternative_names(options);
    return add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
           (names.empty() || add_extension(certificate, NID_subject_alt_name, names)) &&
           X509_sign(certificate, key, EVP_sha256()) != 0;
}

}  // namespace

base::Result<TlsIdentity> make_self_signed(const SelfSignedOptions& options) {
    const KeyPointer key(EVP_EC_gen("P-256"));
    const CertificatePointer certificate(X509_new());
    const BioPointer key_text(BIO_new(BIO_s_mem()));
    const BioPointer certificate_text(BIO_new(BIO_s_mem()));
    const bool made = key && certificate && key_text && certificate_text &&
                      fill(certificate.get(), key.get(), options) &&
                      PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1 &&
                      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                                               nullptr, nullptr) == 1;
    if (!made) {
        return base::internal_error(
            "net.tls", "cannot make a self-signed certificate for " + options.common_name);
    }
    return TlsIdentity{.certificate = text_of(certificate_text.get()),
                       .key = base::Secret(text_of(key_text.get()))};
}

}  // namespace pollux::net
