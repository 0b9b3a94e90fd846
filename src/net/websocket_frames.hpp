// WebSocket messages from and to bytes (RFC 6455), strictly, without I/O.
//
// Give the decoder the bytes that came, in pieces of any size; it puts fragments together and hands
// out whole messages and control frames in their order. Refused: reserved bits and opcodes, a wrong
// mask, control frames that are long or in pieces, continuations of nothing, lengths that are not
// in their shortest form, close codes that nobody may send, text that is no UTF-8, and what is
// longer than the limit. Of extensions only compressed messages are spoken, and only if they were
// agreed on; the limit is of what is inflated, too. Used by one connection, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pollux::net {

enum class WebSocketOpcode : std::uint8_t {
    kContinuation = 0,
    kText = 1,
    kBinary = 2,
    kClose = 8,
    kPing = 9,
    kPong = 10,
};

// Close codes of RFC 6455 that we use.
inline constexpr std::uint16_t kCloseNormal = 1000;
inline constexpr std::uint16_t kCloseGoingAway = 1001;
inline constexpr std::uint16_t kCloseProtocol = 1002;
inline constexpr std::uint16_t kCloseNoCode = 1005;    // never sent: the peer gave none
inline constexpr std::uint16_t kCloseAbnormal = 1006;  // never sent: the connection broke
inline constexpr std::uint16_t kCloseNotUtf8 = 1007;
inline constexpr std::uint16_t kClosePolicy = 1008;
inline constexpr std::uint16_t kCloseTooBig = 1009;
inline constexpr std::uint16_t kCloseTryLater = 1013;

class WebSocketDecoder {
  public:
    enum class Event : std::uint8_t {
        kNeedMore,  // all bytes are used
        kText,      // payload() is a whole message
        kBinary,
        kPing,  // payload() is to be sent back
        kPong,
        kClose,   // close_code() and payload(), the reason
        kFailed,  // close_code() says how, payload() is empty, reason() is for people; nothing more
    };

    // What a server reads is masked, what a client reads is not.
    // `inflates`: agree_on_deflate() was answered to the peer.
    WebSocketDecoder(bool masked, std::size_t message_limit, bool inflates = false)
        : masked_(masked), inflates_(inflates), message_limit_(message_limit) {}

    // Takes bytes from the front of `bytes` up to the next event.
    Event next(std::string_view& bytes);

    // Of the last event; valid until the next call. May be moved out of.
    std::string& payload() { return payload_; }
    std::uint16_t close_code() const { return close_code_; }
    std::string_view reason() const { return reason_; }
    bool text() const { return text_; }  // of the last whole message

  private:
    bool take_header(std::string_view& bytes);
    bool check_header();
    bool check_reserved();
    void take_payload(std::string_view& bytes);
    Event end_of_frame();
    Event end_of_close();
    Event fail(std::uint16_t code, std::string_view reason);
    bool is_control() const { return opcode_ >= 8; }

    bool masked_;
    bool inflates_;
    std::size_t message_limit_;
    bool failed_ = false;

    // The frame in work.
    std::string header_;  // its bytes so far; empty when a frame is expected
    bool header_done_ = false;
    bool final_ = false;
    std::uint8_t opcode_ = 0;
    std::uint64_t remaining_ = 0;
    std::uint64_t length_ = 0;
    std::uint8_t mask_[4] = {};
    std::string control_;  // payload of a control frame

    std::string message_;            // fragments so far
    std::uint8_t message_kind_ = 0;  // opcode of the first fragment; 0: no message is open
    bool packed_ = false;            // what it said of compression
    std::string payload_;
    bool text_ = false;
    std::uint16_t close_code_ = 0;
    std::string_view reason_;
};

// Appends a whole frame as a server sends it: not masked.
void append_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                  bool final = true);
// As a client sends it. The mask must not be guessable by whoever chose the payload.
void append_masked_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                         std::uint32_t mask, bool final = true);
// The payload of a close frame; the reason is cut to what fits.
std::string close_payload(std::uint16_t code, std::string_view reason);

}  // namespace pollux::net
