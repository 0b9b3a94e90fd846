// An HTTP/1.1 server on an EventLoop: keep-alive, pipelining, TLS, bounded in every direction.
//
//   net::HttpServer server(loop, {}, [](net::Request request, net::Responder responder) {
//       responder.send(net::Response::text(200, "hello\n"));
//   });
//   auto address = server.listen(net::SocketAddress::loopback(9091));
//
// Everything runs in the loop's thread. A Responder may be kept and answered in a later turn; one
// that outlives its connection or the server is harmless. Requests of one connection are handled
// one after the other, so answers keep their order.
//
// Errors the server answers itself, as small text or as `error_page` has them: 400, 408, 413, 414,
// 417, 431, 501, 503, 505.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"
#include "net/http_message.hpp"
#include "net/http_request_parser.hpp"
#include "net/ip_address.hpp"
#include "net/tcp_listener.hpp"

namespace pollux::net {

class HttpConnection;
class HttpServer;
class TlsServerContext;

// What a source of a body says after each call.
enum class Fill : std::uint8_t {
    kMore,   // call again when this piece is written
    kDone,   // this piece was the last
    kWait,   // nothing more now: StreamHandle::resume() says when
    kAbort,  // the rest cannot be had: the connection is reset, so that the client sees the break
};

// Appends the next piece of a body to `out` (empty before the call). Called only when the pieces
// before are written, so the client's pace bounds the memory. Destroyed with the connection.
using BodySource = std::move_only_function<Fill(std::string& out)>;

// Takes over a connection after an upgrade, with the bytes that were read too far.
using UpgradeTaker =
    std::move_only_function<void(std::unique_ptr<ByteStream> stream, std::string unread)>;

struct HttpLink {                          // shared between a connection and its responders
    HttpConnection* connection = nullptr;  // nullptr once it is gone
    std::uint64_t serial = 0;              // of the request that waits for its answer
};

// Wakes a body source that said kWait.
class StreamHandle {
  public:
    StreamHandle() = default;
    StreamHandle(std::shared_ptr<HttpLink> link, std::uint64_t serial)
        : link_(std::move(link)), serial_(serial) {}
    void resume() const;
    bool connected() const;

  private:
    std::shared_ptr<HttpLink> link_;
    std::uint64_t serial_ = 0;
};

// Answers one request, once. Dropping it unanswered sends 500.
class Responder {
  public:
    Responder(std::shared_ptr<HttpLink> link, std::uint64_t serial)
        : link_(std::move(link)), serial_(serial) {}
    ~Responder();
    Responder(Responder&& other) noexcept;
    Responder& operator=(Responder&& other) noexcept;

    bool connected() const;  // whether somebody still waits
    void send(Response response);
    // With a length the body is sent as it is, else in chunks; `head.body` is not looked at.
    StreamHandle stream(Response head, BodySource source,
                        std::optional<std::uint64_t> length = std::nullopt);
    // Sends `head` (101 with its fields), then hands the connection over.
    void upgrade(Response head, UpgradeTaker taker);
    // Hands the connection over without a word of ours, for protocols that answer on their own.
    void take_over(UpgradeTaker taker);
    // Resets the connection without an answer.
    void abort();

  private:
    HttpConnection* take();  // the connection, if it still waits for this answer

    std::shared_ptr<HttpLink> link_;
    std::uint64_t serial_ = 0;
};

struct HttpServerOptions {
    RequestLimits limits = {};
    std::size_t max_connections = 1024;  // one more gets 503
    // Of one sender (sender_address.hpp), so that nobody takes all of them; one more gets 503, a
    // few more are reset. 0: no such limit. Streams without an address are not counted.
    std::size_t max_connections_per_sender = 0;
    std::function<void(const IpAddress& sender)> on_crowded = {};  // it was refused one of these
    base::Duration idle_timeout = std::chrono::seconds(60);
    base::Duration head_timeout = std::chrono::seconds(10);  // first byte to end of the head
    base::Duration body_timeout = std::chrono::seconds(30);  // end of the head to end of the body
    base::Duration handler_timeout =
        std::chrono::seconds(60);                             // until an answer, or its next piece
    base::Duration write_timeout = std::chrono::seconds(30);  // without a byte taken by the client
    // Asked for every new connection; false resets it at once.
    std::function<bool(const ByteStream&)> accept = {};
    // How long the body of a request may be, by its head; without it `limits` says so for all.
    std::function<std::size_t(const Request& head)> body_limit = {};
    // Shapes the answers that the server gives by itself; without it they are a line of text.
    std::function<Response(int status, std::string_view reason)> error_page = {};
};

struct HttpServerCounters {
    std::uint64_t connections = 0;  // accepted and served
    std::uint64_t refused = 0;      // by one of the limits or by `accept`
    std::uint64_t requests = 0;     // handed to the handler
    std::uint64_t rejected = 0;     // requests answered with an error of our own
    std::uint64_t timeouts = 0;
};

class HttpServer {
  public:
    using Handler = std::move_only_function<void(Request, Responder)>;

    HttpServer(EventLoop& loop, HttpServerOptions options, Handler handler);
    ~HttpServer();  // closes everything at once
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // Returns the address it listens on, with the port the kernel chose for port 0. May be called
    // several times. `tls` is needed only during the call.
    base::Result<SocketAddress> listen(SocketAddress at, const TlsServerContext* tls = nullptr,
                                       TcpListenerOptions listener = {});
    // Serves a stream that was accepted elsewhere.
    void adopt(std::unique_ptr<ByteStream> stream, bool secure = false);

    // Accepts no more, closes idle connections, lets the others finish for `at_most`, then calls
    // `drained` (from the loop, in a later turn).
    void drain(base::Duration at_most, std::move_only_function<void()> drained);

    std::size_t connections() const { return connections_.size(); }
    const HttpServerCounters& counters() const { return counters_; }

  private:
    friend class HttpConnection;
    void remove(HttpConnection& connection);
    // Whether the sender of the stream already has all that one may have, or even more than that.
    enum class Crowd : std::uint8_t { kRoom, kFull, kFlood };
    Crowd crowd_of(const std::optional<IpAddress>& sender);
    std::string_view date();  // of this second, as the Date field has it
    void finish_drain();

    EventLoop& loop_;
    HttpServerOptions options_;
    Handler handler_;
    std::vector<std::unique_ptr<TcpListener>> listeners_;
    std::vector<std::unique_ptr<HttpConnection>> connections_;
    std::map<IpAddress, std::size_t> held_;  // by senders, where they are limited
    HttpServerCounters counters_;
    std::vector<char> scratch_;  // what a connection reads into; one for all
    std::string date_;
    std::int64_t date_second_ = -1;
    bool draining_ = false;
    std::move_only_function<void()> drained_;
    Timer drain_timer_;
};

}  // namespace pollux::net
