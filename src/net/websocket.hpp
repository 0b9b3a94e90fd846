// One WebSocket connection of a server, over any ByteStream (RFC 6455).
//
//   auto handshake = websocket_handshake(request);
//   if (handshake.status != 101) …answer with handshake.status and handshake.reason…
//   responder.upgrade(handshake.head, [&](auto stream, std::string unread) {
//       socket = std::make_unique<WebSocket>(loop, std::move(stream), std::move(unread), options,
//       events);
//   });
//
// Everything runs in the loop's thread. Events may send, close, and destroy the WebSocket; after
// on_closed nothing comes any more. What is sent waits in a bounded buffer: send() says when it is
// over its limit, and on_drained when there is room again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"
#include "net/http_message.hpp"
#include "net/websocket_frames.hpp"

namespace pollux::net {

struct WebSocketHandshake {
    int status = 101;      // 400: not a proper upgrade; 426: another version, see `head`
    std::string reason;    // for people, unless 101
    Response head;         // with what the answer needs
    bool deflate = false;  // compressed messages are agreed on: say so to the WebSocket
};
// `deflate`: takes compressed messages if the peer offers them.
WebSocketHandshake websocket_handshake(const Request& request, bool deflate = false);
// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

struct WebSocketOptions {
    std::size_t message_limit = 64 * 1024;                    // of what the peer sends
    std::size_t send_limit = 1024 * 1024;                     // bytes that may wait for the peer
    base::Duration ping_interval = std::chrono::seconds(20);  // without a byte from the peer
    base::Duration pong_timeout = std::chrono::seconds(20);   // from a ping to a sign of life
    base::Duration close_timeout = std::chrono::seconds(5);
    // How long a message may wait for others, to go out with them in one write. 0: at once.
    base::Duration gather = base::Duration::zero();
    bool deflate = false;  // as the handshake said; what is sent is compressed by MessageDeflater
};

struct WebSocketEvents {
    std::move_only_function<void(std::string message, bool text)> on_message;
    std::move_only_function<void()> on_drained;  // after send() said kFull
    // Once. kCloseAbnormal: it broke or fell silent.
    std::move_only_function<void(std::uint16_t code, std::string_view reason)> on_closed;
};

class WebSocket final : private StreamHandler {
  public:
    enum class Sent : std::uint8_t {
        kTaken,
        kFull,    // not taken: too much waits already
        kClosed,  // not taken: closing or closed
    };

    // `unread` are bytes that came after the upgrade already.
    WebSocket(EventLoop& loop, std::unique_ptr<ByteStream> stream, std::string unread,
              WebSocketOptions options, WebSocketEvents events);
    ~WebSocket();  // closes without a word if it is open
    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;

    Sent send(std::string_view text) { return send_frame(WebSocketOpcode::kText, text); }
    Sent send_binary(std::string_view bytes) { return send_frame(WebSocketOpcode::kBinary, bytes); }
    // Frames that append_frame made: one encoding for many connections.
    Sent send_encoded(std::string_view frames);
    // Begins the closing handshake; what was sent before still goes out.
    void close(std::uint16_t code, std::string_view reason);

    std::size_t waiting() const { return out_.size() - out_done_; }
    bool open() const { return state_ == State::kOpen; }
    SocketAddress peer() const { return peer_; }

  private:
    enum class State : std::uint8_t {
        kOpen,
        kClosing,    // our close frame is sent or waits in out_; theirs is awaited
        kFinishing,  // both sides said it: the end comes when out_ is written
        kEnded,
    };

    Sent send_frame(WebSocketOpcode opcode, std::string_view payload);
    void on_stream_ready() override;
    void read_in();
    void take(std::string_view bytes);
    void take_close();
    void flush();
    void tick();
    void finish(std::uint16_t code, std::string_view reason);
    void end();
    void update_interest();

    EventLoop& loop_;
    std::unique_ptr<ByteStream> stream_;
    WebSocketOptions options_;
    WebSocketEvents events_;
    WebSocketDecoder decoder_;
    SocketAddress peer_;
    State state_ = State::kOpen;
    std::string unread_;
    std::string out_;
    std::size_t out_done_ = 0;
    bool full_ = false;  // send() said kFull: on_drained is owed
    bool blocked_ = false;
    std::uint16_t close_code_ = kCloseAbnormal;
    std::string close_reason_;
    base::BootTime heard_;
    bool pinged_ = false;
    Timer timer_;         // pings, and the end of a closing that takes too long
    Timer gather_timer_;  // the next write of what is gathered
    // Survives us: an event may have destroyed us.
    std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
};

}  // namespace pollux::net
