// TLS over any ByteStream, by OpenSSL; the side of the server, and of a client that looks at what a
// server shows. Never blocks and owns no descriptor
// of its own: what OpenSSL wants to move goes through the stream below.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"

struct ssl_ctx_st;
struct ssl_st;
struct bio_method_st;

namespace pollux::net {

// A certificate and its key, as PEM text.
struct TlsIdentity {
    std::string certificate;  // may hold the chain after the first
    base::Secret key;
};

struct SelfSignedOptions {
    std::string common_name = "localhost";
    std::vector<std::string> names = {"localhost"};             // DNS names it is good for
    std::vector<std::string> addresses = {"127.0.0.1", "::1"};  // IP addresses likewise
    int valid_days = 30;                                        // negative: it has expired already
};

// An elliptic key (P-256) and a certificate signed with it.
base::Result<TlsIdentity> make_self_signed(const SelfSignedOptions& options);

// What all connections of a listener share. TLS 1.2 or newer. Usable from one thread.
class TlsServerContext {
  public:
    static base::Result<TlsServerContext> create(const TlsIdentity& identity);

    std::shared_ptr<const TlsServerContext> share() const;
    base::WallTime valid_until() const;  // of the certificate
    ssl_ctx_st* native() const { return context_.get(); }

  private:
    explicit TlsServerContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}
    std::shared_ptr<ssl_ctx_st> context_;  // OpenSSL counts uses itself; this is our one use
};

class TlsStream final : public ByteStream, private StreamHandler {
  public:
    // The handshake happens within the first read or write.
    static base::Result<std::unique_ptr<TlsStream>> server(EventLoop& loop,
                                                           std::unique_ptr<ByteStream> below,
                                                           const TlsServerContext& context);
    // Believes every certificate: who uses it looks at native() after the handshake. An empty name
    // is not sent.
    static base::Result<std::unique_ptr<TlsStream>> client(EventLoop& loop,
                                                           std::unique_ptr<ByteStream> below,
                                                           ssl_ctx_st* context,
                                                           const std::string& server_name);
    ~TlsStream();

    // kOk when it is done; kWouldBlock: call again when the handler is called. Wanting to read is
    // enough for that.
    IoResult handshake();
    ssl_st* native() const { return ssl_; }

    void set_handler(StreamHandler* handler) override { handler_ = handler; }
    void want(bool to_read, bool to_write) override;
    IoResult read(std::span<char> into) override;
    IoResult write(std::span<const char> from) override;
    void shutdown_write() override;
    void abort() override;
    std::string failure() const override { return failure_; }
    SocketAddress local() const override { return below_->local(); }
    SocketAddress peer() const override { return below_->peer(); }

  private:
    TlsStream(EventLoop& loop, std::unique_ptr<ByteStream> below);
    base::Status attach(ssl_ctx_st* context);
    void on_stream_ready() override;
    IoResult finish(int result, bool reading);
    void update_below();
    static bio_method_st* bio_methods();

    std::unique_ptr<ByteStream> below_;
    ssl_st* ssl_ = nullptr;
    StreamHandler* handler_ = nullptr;
    Timer buffered_;  // bytes that OpenSSL decrypted already make no descriptor ready
    bool to_read_ = false;
    bool to_write_ = false;
    bool needs_read_ = false;   // OpenSSL cannot go on before the peer speaks
    bool needs_write_ = false;  // or before we could
    std::string failure_;
};

}  // namespace pollux::net
