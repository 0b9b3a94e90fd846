#include "net/websocket.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "net/websocket_deflate.hpp"

namespace pollux::net {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr int kReadsPerTurn = 16;                 // then others get their turn
constexpr std::size_t kKeptCapacity = 16 * 1024;  // more than that is given back when it is sent

// 16 bytes in base64: 22 letters and "==".
bool is_key(std::string_view key) {
    return key.size() == 24 && key.ends_with("==") &&
           std::ranges::all_of(key.substr(0, 22), [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '+' || c == '/';
           });
}

}  // namespace

std::string websocket_accept(std::string_view key) {
    std::string text(key);
    text += kGuid;
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::array<unsigned char, 32> encoded{};
    const int length = EVP_EncodeBlock(encoded.data(), digest.data(), SHA_DIGEST_LENGTH);
    return {reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(length)};
}

WebSocketHandshake websocket_handshake(const Request& request, bool deflate) {
    const auto refused = [](int status, std::string reason) {
        WebSocketHandshake handshake{.status = status, .reason = std::move(reason), .head = {}};
        handshake.head.status = status;
        return handshake;
    };
    if (request.method != "GET" || request.minor_version < 1) {
        return refused(400, "a WebSocket begins with GET of HTTP/1.1");
    }
    if (!list_has(request.header("Connection").value_or(""), "upgrade") ||
        !list_has(request.header("Upgrade").value_or(""), "websocket")) {
        auto handshake = refused(426, "this is a WebSocket: send Upgrade: websocket");
        handshake.head.with("Upgrade", "websocket");
        handshake.head.with("Connection", "Upgrade");
        return handshake;
    }
    if (request.header("Sec-WebSocket-Version") != "13") {
        auto handshake = refused(426, "only version 13 of WebSocket is spoken here");
        handshake.head.with("Sec-WebSocket-Version", "13");
        return handshake;
    }
    const std::string_view key = request.header("Sec-WebSocket-Key").value_or("");
    if (!is_key(key)) return refused(400, "Sec-WebSocket-Key is not 16 bytes in base64");
    WebSocketHandshake handshake;
    handshake.head.status = 101;
    handshake.head.with("Upgrade", "websocket");
    handshake.head.with("Connection", "Upgrade");
    handshake.head.with("Sec-WebSocket-Accept", websocket_accept(key));
    if (auto agreed = deflate ? agree_on_deflate(request) : std::nullopt) {
        handshake.deflate = true;
        handshake.head.with("Sec-WebSocket-Extensions", std::move(*agreed));
    }
    return handshake;
}

WebSocket::WebSocket(EventLoop& loop, std::unique_ptr<ByteStream> stream, std::string unread,
                     WebSocketOptions options, WebSocketEvents events)
    : loop_(loop),
      stream_(std::move(stream)),
      options_(options),
      events_(std::move(events)),
      decoder_(true, options.message_limit, options.deflate),
      peer_(stream_->peer()),
      unread_(std::move(unread)),
      heard_(loop.now()),
      timer_(loop, [this] { tick(); }),
      gather_timer_(loop, [this] { on_stream_ready(); }) {
    stream_->set_handler(this);
    timer_.arm_in(options_.ping_interval);
    // Not before the constructor is done: an event may want to destroy us.
    if (!unread_.empty()) gather_timer_.arm_in(base::Duration::zero());
    update_interest();
}

WebSocket::~WebSocket() {
    *gone_ = true;
    stream_->set_handler(nullptr);
}

// --- sending ------------------------------------------------------------------------------------

WebSocket::Sent WebSocket::send_frame(WebSocketOpcode opcode, std::string_view payload) {
    if (state_ != State::kOpen) return Sent::kClosed;
    if (waiting() + payload.size() > options_.send_limit) {
        full_ = true;
        return Sent::kFull;
    }
    const bool idle = waiting() == 0;
    append_frame(out_, opcode, payload);
    if (idle) gather_timer_.arm_in(options_.gather);
    return Sent::kTaken;
}

WebSocket::Sent WebSocket::send_encoded(std::string_view frames) {
    if (state_ != State::kOpen) return Sent::kClosed;
    if (waiting() + frames.size() > options_.send_limit) {
        full_ = true;
        return Sent::kFull;
    }
    const bool idle = waiting() == 0;
    out_ += frames;
    if (idle) gather_timer_.arm_in(options_.gather);
    return Sent::kTaken;
}

void WebSocket::close(std::uint16_t code, std::string_view reason) {
    if (state_ != State::kOpen) return;
    state_ = State::kClosing;
    close_code_ = code;
    close_reason_ = reason;
    append_frame(out_, WebSocketOpcode::kClose, close_payload(code, reason));
    timer_.arm_in(options_.close_timeout);
    gather_timer_.arm_in(base::Duration::zero());
}

void WebSocket::flush() {
    while (waiting() > 0 && state_ != State::kEnded) {
        const IoResult result = stream_->write(std::span(out_).subspan(out_done_));
        blocked_ = result.state == IoState::kWouldBlock;
        if (blocked_) break;
        if (result.state != IoState::kOk) {
            return finish(state_ == State::kFinishing ? close_code_ : kCloseAbnormal,
                          stream_->failure());
        }
        out_done_ += result.bytes;
    }
    if (waiting() > 0) return;
    out_.clear();
    out_done_ = 0;
    if (out_.capacity() > kKeptCapacity) out_.shrink_to_fit();
    if (state_ == State::kFinishing) {
        stream_->shutdown_write();
        finish(close_code_, close_reason_);
    }
}

// --- receiving ----------------------------------------------------------------------------------

void WebSocket::on_stream_ready() {
    const std::shared_ptr<bool> guard = gone_;
    const bool& gone = *guard;
    if (!unread_.empty()) {
        const std::string bytes = std::exchange(unread_, {});
        take(bytes);
    }
    if (!gone) read_in();
    if (!gone && !gather_timer_.armed()) flush();
    if (gone) return;
    if (full_ && state_ == State::kOpen && waiting() * 2 <= options_.send_limit) {
        full_ = false;
        if (events_.on_drained) events_.on_drained();
        if (gone) return;
    }
    if (state_ == State::kEnded) return end();
    update_interest();
}

void WebSocket::read_in() {
    std::array<char, kReadBytes> buffer;
    const std::shared_ptr<bool> gone = gone_;
    for (int i = 0; i < kReadsPerTurn && state_ != State::kEnded; ++i) {
        const IoResult result = stream_->read(buffer);
        if (result.state == IoState::kWouldBlock) return;
        if (result.state != IoState::kOk) {
            const bool agreed = state_ == State::kFinishing;
            return finish(agreed ? close_code_ : kCloseAbnormal,
                          agreed ? close_reason_ : std::string("the connection ended"));
        }
        heard_ = loop_.now();
        pinged_ = false;
        take({buffer.data(), result.bytes});
        if (*gone) return;
    }
}

void WebSocket::take(std::string_view bytes) {
    using Event = WebSocketDecoder::Event;
    const std::shared_ptr<bool> gone = gone_;
    while (state_ == State::kOpen || state_ == State::kClosing) {
        switch (decoder_.next(bytes)) {
            case Event::kNeedMore: return;
            case Event::kText:
            case Event::kBinary: {
                const bool text = decoder_.text();
                if (state_ == State::kOpen && events_.on_message) {
                    events_.on_message(std::move(decoder_.payload()), text);
                    if (*gone) return;
                }
                break;
            }
            case Event::kPing:
                // Only the newest ping needs an answer: a flood must not fill our buffer.
                if (state_ == State::kOpen && waiting() < options_.send_limit) {
                    append_frame(out_, WebSocketOpcode::kPong, decoder_.payload());
                }
                break;
            case Event::kPong: break;
            case Event::kClose: return take_close();
            case Event::kFailed: {
                const bool said = state_ == State::kClosing;
                if (!said) close(decoder_.close_code(), decoder_.reason());
                state_ = State::kFinishing;
                return;
            }
        }
    }
}

void WebSocket::take_close() {
    if (state_ == State::kOpen) {
        close_code_ = decoder_.close_code();
        close_reason_ = decoder_.payload();
        const std::string echo =
            close_code_ == kCloseNoCode ? std::string() : close_payload(close_code_, {});
        append_frame(out_, WebSocketOpcode::kClose, echo);
        timer_.arm_in(options_.close_timeout);
    }
    gather_timer_.cancel();
    state_ = State::kFinishing;
}

// --- time and end -------------------------------------------------------------------------------

void WebSocket::tick() {
    if (state_ != State::kOpen) {
        finish(close_code_, close_reason_);
        return end();
    }
    const base::Duration silent = loop_.now() - heard_;
    if (pinged_ && silent >= options_.ping_interval + options_.pong_timeout) {
        finish(kCloseAbnormal, "the peer does not answer pings");
        return end();
    }
    if (silent >= options_.ping_interval && !pinged_) {
        pinged_ = true;
        append_frame(out_, WebSocketOpcode::kPing, {});
        gather_timer_.arm_in(base::Duration::zero());
        timer_.arm_in(options_.pong_timeout);
    } else {
        timer_.arm(heard_ + options_.ping_interval);
    }
}

void WebSocket::finish(std::uint16_t code, std::string_view reason) {
    if (state_ == State::kEnded) return;
    state_ = State::kEnded;
    close_code_ = code;
    close_reason_ = reason;
}

// The last act: the event may destroy us.
void WebSocket::end() {
    timer_.cancel();
    gather_timer_.cancel();
    stream_->want(false, false);
    auto closed = std::move(events_.on_closed);
    events_.on_closed = nullptr;
    const std::string reason = close_reason_;
    if (closed) closed(close_code_, reason);
}

void WebSocket::update_interest() { stream_->want(true, waiting() > 0 && !gather_timer_.armed()); }

}  // namespace pollux::net
