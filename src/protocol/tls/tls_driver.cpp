#include "protocol/tls/tls_driver.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <array>

#include "base/text.hpp"
#include "net/connector.hpp"
#include "net/tcp_stream.hpp"
#include "net/tls_inspect.hpp"
#include "net/tls_stream.hpp"
#include "protocol/tls/start_tls.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;

// Old versions and small keys are welcome: we want to tell of them, not to trust them.
std::shared_ptr<SSL_CTX> make_context() {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (context == nullptr) return context;
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(context.get(), 256L * 1024);
    return context;
}

}  // namespace

struct TlsDriver::Run final : RunBase, net::StreamHandler {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, TlsDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)), driver(owner) {}

    const model::TlsAsk& tls() const { return std::get<model::TlsAsk>(ask().request); }
    std::string where() const { return fmt::format("{} port {}", ask().host, ask().port); }
    std::string name() const { return tls().server_name.empty() ? ask().host : tls().server_name; }

    void stop() override {
        connector.reset();
        secure.reset();
        plain.reset();
    }

    void connected(int fd) {
        plain = std::make_unique<net::TcpStream>(driver.loop_, fd, net::SocketAddress::local_of(fd),
                                                 net::SocketAddress::peer_of(fd));
        note("connected to " + plain->peer().to_string());
        talk.emplace(tls().start_tls);
        pending = talk->take_output();
        plain->set_handler(this);
        plain->want(true, !pending.empty());
        on_stream_ready();
    }

    void on_stream_ready() override {
        if (!secure && !speak()) return;
        if (!secure && talk->done() && !begin()) return;
        if (secure) shake();
    }

    // The talk before TLS. False: the run ended.
    bool speak() {
        std::array<char, 1024> buffer{};
        for (int turn = 0; turn < 64 && !talk->done(); ++turn) {
            if (!pending.empty()) {
                const auto wrote = plain->write(pending);
                if (wrote.state == net::IoState::kFailed) return broken(plain->failure());
                if (wrote.state == net::IoState::kOk) pending.erase(0, wrote.bytes);
            }
            const auto got = plain->read(buffer);
            if (got.state == net::IoState::kWouldBlock) break;
            if (got.state != net::IoState::kOk) return broken("it closed the connection");
            const auto heard = talk->hear({buffer.data(), got.bytes});
            if (!heard) {
                driver.runs_.end(*this, failure_of(FailureKind::kApi, heard.error().code,
                                                   where() + ": " + heard.error().message));
                return false;
            }
            pending += talk->take_output();
        }
        plain->want(true, !pending.empty());
        return true;
    }

    bool begin() {
        const std::string sni = net::IpAddress::parse(name()) ? "" : name();
        auto made =
            net::TlsStream::client(driver.loop_, std::move(plain), driver.context_.get(), sni);
        if (!made) {
            driver.runs_.end(
                *this, failure_of(FailureKind::kInternal, made.error().code, made.error().message));
            return false;
        }
        secure = std::move(*made);
        secure->set_handler(this);
        secure->want(true, false);
        return true;
    }

    void shake() {
        const auto result = secure->handshake();
        if (result.state == net::IoState::kWouldBlock) return;
        if (result.state == net::IoState::kOk) return driver.finish(*this);
        broken(secure->failure());
    }

    bool broken(const std::string& why) {
        driver.runs_.end(
            *this, failure_of(FailureKind::kConnection, "tls.handshake",
                              fmt::format("no TLS with {}: {}; check port and starttls", where(),
                                          base::quoted(why, 200))));
        return false;
    }

    TlsDriver& driver;
    std::unique_ptr<net::Connector> connector;
    std::unique_ptr<net::TcpStream> plain;
    std::unique_ptr<net::TlsStream> secure;
    std::optional<tls::StartTlsTalk> talk;
    std::string pending;
};

TlsDriver::TlsDriver(net::EventLoop& loop, net::Resolver& resolver,
                     std::shared_ptr<const net::EgressPolicy> egress)
    : loop_(loop),
      resolver_(resolver),
      egress_(std::move(egress)),
      context_(make_context()),
      runs_(loop, [this](Run& run) { expire(run); }) {}

TlsDriver::~TlsDriver() = default;

void TlsDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    if (std::get_if<model::TlsAsk>(&run.ask().request) == nullptr) {
        runs_.end_later(
            run, failure_of(FailureKind::kInternal, "tls.not_tls", "the ask is not one of TLS"));
        return;
    }
    run.connector = std::make_unique<net::Connector>(loop_, resolver_, egress_);
    run.connector->start(run.ask().host, run.ask().port, run.deadline, [this, &run](auto result) {
        run.reply.phases.dns = run.connector->dns_time();
        run.reply.phases.connect = run.connector->connect_time();
        if (result) return run.connected(result->fd);
        const bool denied = result.error().reason == "denied";
        runs_.end(run, failure_of(result.error().kind,
                                  denied ? "egress.denied" : "tls." + result.error().reason,
                                  result.error().message));
    });
}

void TlsDriver::finish(Run& run) {
    run.reply.phases.tls = run.since_start();
    const auto trust = trust_.get(run.tls().tls.ca_file);
    if (!trust) {
        return runs_.end(run, failure_of(FailureKind::kConfiguration, trust.error().code,
                                         trust.error().message));
    }
    model::TlsReply reply = net::inspect_peer(run.secure->native(), *trust, run.name());
    const auto pin = net::parse_sha256(run.tls().tls.pin_sha256);
    if (pin && (reply.certificates.empty() ||
                net::parse_sha256(reply.certificates.front().sha256) != pin)) {
        reply.verify_error = "the certificate is not the pinned one";
    }
    run.note(fmt::format("{} {}, {} certificates{}{}", reply.protocol, reply.cipher,
                         reply.certificates.size(),
                         reply.verify_error.empty() ? ", chain is good" : ", " + reply.verify_error,
                         reply.name_matches ? "" : ", not for this name"));
    if (run.tls().require_valid && (!reply.verify_error.empty() || !reply.name_matches)) {
        return runs_.end(
            run, failure_of(FailureKind::kCertificate, "tls.certificate",
                            fmt::format("the certificate of {} is not good: {}", run.where(),
                                        reply.verify_error.empty()
                                            ? "it is not for the name " + base::quoted(run.name())
                                            : reply.verify_error)));
    }
    runs_.end(run, std::move(reply));
}

void TlsDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

void TlsDriver::expire(Run& run) {
    const std::string waited = base::format_duration(run.deadline - run.started);
    const char* what = run.secure  ? "the handshake did not end"
                       : run.plain ? "the server did not begin TLS"
                                   : "there was no connection";
    runs_.end(run, failure_of(FailureKind::kTimeout, "tls.timeout",
                              fmt::format("{}: {} within {}", run.where(), what, waited)));
}

}  // namespace pollux::protocol
