#include "net/tls_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <climits>

#include "net/tls_check.hpp"

namespace pollux::net {
namespace {

std::string last_tls_error(std::string_view otherwise) {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    if (code == 0) return std::string(otherwise);
    std::array<char, 256> text{};
    ERR_error_string_n(code, text.data(), text.size());
    return text.data();
}

std::unexpected<base::Error> tls_error(std::string_view what) {
    return base::config_error("net.tls",
                              std::string(what) + ": " + last_tls_error("unknown reason"));
}

int clamp_length(std::size_t length) {
    return static_cast<int>(std::min<std::size_t>(length, INT_MAX));
}

// --- the way of OpenSSL's bytes through the stream below -----------------------------------------

ByteStream& below_of(BIO* bio) { return *static_cast<ByteStream*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* into, int length) {
    BIO_clear_retry_flags(bio);
    const IoResult result = below_of(bio).read({into, static_cast<std::size_t>(length)});
    if (result.state == IoState::kOk) return static_cast<int>(result.bytes);
    if (result.state == IoState::kWouldBlock) BIO_set_retry_read(bio);
    return result.state == IoState::kClosed ? 0 : -1;
}

int bio_write(BIO* bio, const char* from, int length) {
    BIO_clear_retry_flags(bio);
    const IoResult result = below_of(bio).write({from, static_cast<std::size_t>(length)});
    if (result.state == IoState::kOk) return static_cast<int>(result.bytes);
    if (result.state == IoState::kWouldBlock) BIO_set_retry_write(bio);
    return -1;
}

long bio_control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int bio_create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
}

struct BioMethods {
    BIO_METHOD* methods = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "pollux stream");
    BioMethods() {
        BIO_meth_set_read(methods, bio_read);
        BIO_meth_set_write(methods, bio_write);
        BIO_meth_set_ctrl(methods, bio_control);
        BIO_meth_set_create(methods, bio_create);
    }
    ~BioMethods() { BIO_meth_free(methods); }
};

struct BioFree {
    void operator()(BIO* bio) const { BIO_free(bio); }
};

std::unique_ptr<BIO, BioFree> text_bio(std::string_view text) {
    return std::unique_ptr<BIO, BioFree>(BIO_new_mem_buf(text.data(), clamp_length(text.size())));
}

}  // namespace

// --- TlsServerContext ---------------------------------------------------------------------------

base::Result<TlsServerContext> TlsServerContext::create(const TlsIdentity& identity) {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (context == nullptr) return tls_error("cannot make a TLS context");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    const auto chain = text_bio(identity.certificate);
    X509* first = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr);
    const bool used = first != nullptr && SSL_CTX_use_certificate(context.get(), first) == 1;
    X509_free(first);
    if (!used) return tls_error("cannot read the certificate (PEM)");
    while (X509* next = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)) {
        if (SSL_CTX_add0_chain_cert(context.get(), next) != 1) {
            X509_free(next);
            return tls_error("cannot use a certificate of the chain");
        }
    }
    ERR_clear_error();  // the end of the text is reported as an error
    const auto key_text = text_bio(identity.key.reveal());
    EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr);
    const bool key_used = key != nullptr && SSL_CTX_use_PrivateKey(context.get(), key) == 1;
    EVP_PKEY_free(key);
    if (!key_used) return tls_error("cannot use the private key (PEM) with this certificate");
    return TlsServerContext(std::move(context));
}

std::shared_ptr<const TlsServerContext> TlsServerContext::share() const {
    return std::make_shared<const TlsServerContext>(*this);
}

base::WallTime TlsServerContext::valid_until() const {
    return facts_of(SSL_CTX_get0_certificate(context_.get())).not_after;
}

// --- TlsStream ----------------------------------------------------------------------------------

TlsStream::TlsStream(EventLoop& loop, std::unique_ptr<ByteStream> below)
    : below_(std::move(below)), buffered_(loop, [this] {
          if (to_read_) on_stream_ready();
      }) {}

bio_method_st* TlsStream::bio_methods() {
    static const BioMethods methods;
    return methods.methods;
}

base::Result<std::unique_ptr<TlsStream>> TlsStream::server(EventLoop& loop,
                                                           std::unique_ptr<ByteStream> below,
                                                           const TlsServerContext& context) {
    std::unique_ptr<TlsStream> stream(new TlsStream(loop, std::move(below)));
    if (auto made = stream->attach(context.native()); !made) return std::unexpected(made.error());
    SSL_set_accept_state(stream->ssl_);
    return stream;
}

base::Result<std::unique_ptr<TlsStream>> TlsStream::client(EventLoop& loop,
                                                           std::unique_ptr<ByteStream> below,
                                                           ssl_ctx_st* context,
                                                           const std::string& server_name) {
    std::unique_ptr<TlsStream> stream(new TlsStream(loop, std::move(below)));
    if (auto made = stream->attach(context); !made) return std::unexpected(made.error());
    SSL_set_verify(stream->ssl_, SSL_VERIFY_NONE, nullptr);
    if (!server_name.empty()) {
        // What the macro of OpenSSL does, without its casts; the name is copied.
        SSL_ctrl(stream->ssl_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(server_name.c_str()));
    }
    SSL_set_connect_state(stream->ssl_);
    return stream;
}

base::Status TlsStream::attach(ssl_ctx_st* context) {
    ssl_ = SSL_new(context);
    if (ssl_ == nullptr) return tls_error("cannot make a TLS connection");
    BIO* bio = BIO_new(bio_methods());
    if (bio == nullptr) return tls_error("cannot join TLS and its stream");
    BIO_set_data(bio, below_.get());
    SSL_set_bio(ssl_, bio, bio);  // owns it from here
    below_->set_handler(this);
    return {};
}

IoResult TlsStream::handshake() {
    if (!failure_.empty()) return {.state = IoState::kFailed};
    ERR_clear_error();
    const IoResult result = finish(SSL_do_handshake(ssl_), true);
    update_below();
    return result;
}

TlsStream::~TlsStream() {
    below_->set_handler(nullptr);
    SSL_free(ssl_);
}

void TlsStream::want(bool to_read, bool to_write) {
    to_read_ = to_read;
    to_write_ = to_write;
    if (to_read_ && SSL_pending(ssl_) > 0 && !buffered_.armed()) {
        buffered_.arm_in(base::Duration::zero());
    }
    update_below();
}

void TlsStream::update_below() {
    // Within a handshake the directions differ from those that the user of the stream wants.
    const bool wants_any = to_read_ || to_write_;
    const bool read_below = to_read_ || (wants_any && needs_read_);
    const bool write_below = (to_write_ && !needs_read_) || (wants_any && needs_write_);
    below_->want(read_below, write_below);
}

void TlsStream::on_stream_ready() {
    if (handler_ != nullptr) handler_->on_stream_ready();
}

IoResult TlsStream::finish(int result, bool reading) {
    if (result > 0) {
        needs_read_ = false;
        needs_write_ = false;
        return {.state = IoState::kOk, .bytes = static_cast<std::size_t>(result)};
    }
    const int reason = SSL_get_error(ssl_, result);
    needs_read_ = reason == SSL_ERROR_WANT_READ && !reading;
    needs_write_ = reason == SSL_ERROR_WANT_WRITE;
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) {
        return {.state = IoState::kWouldBlock};
    }
    if (reason == SSL_ERROR_ZERO_RETURN) return {.state = IoState::kClosed};
    if (failure_.empty()) {
        failure_ = last_tls_error(below_->failure().empty() ? "the peer went away without a goodbye"
                                                            : below_->failure());
    }
    return {.state = IoState::kFailed};
}

IoResult TlsStream::read(std::span<char> into) {
    if (!failure_.empty()) return {.state = IoState::kFailed};
    ERR_clear_error();
    return finish(SSL_read(ssl_, into.data(), clamp_length(into.size())), true);
}

IoResult TlsStream::write(std::span<const char> from) {
    if (!failure_.empty()) return {.state = IoState::kFailed};
    if (from.empty()) return {.state = IoState::kWouldBlock};
    ERR_clear_error();
    return finish(SSL_write(ssl_, from.data(), clamp_length(from.size())), false);
}

void TlsStream::shutdown_write() {
    if (failure_.empty() && SSL_is_init_finished(ssl_) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl_);  // best effort: it is small, and the peer may be gone
    }
    below_->shutdown_write();
}

void TlsStream::abort() {
    if (failure_.empty()) failure_ = "aborted";
    below_->abort();
}

}  // namespace pollux::net
