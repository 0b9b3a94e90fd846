#include "net/websocket_frames.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "net/websocket_deflate.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kLongestControl = 125;
constexpr unsigned kPackedBit = 0x40;

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<std::uint8_t>(text[at]);
}

// Codes that may stand in a close frame.
bool may_be_sent(std::uint16_t code) {
    if (code >= 3000 && code <= 4999) return true;
    return code >= 1000 && code <= 1014 && code != 1004 && code != kCloseNoCode &&
           code != kCloseAbnormal;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
    }
}

void append_header(std::string& out, WebSocketOpcode opcode, std::size_t length, bool final,
                   unsigned mask_bit) {
    out += static_cast<char>(static_cast<unsigned>(opcode) | (final ? 0x80U : 0U));
    if (length <= 125) {
        out += static_cast<char>(length | mask_bit);
    } else if (length <= 0xFFFF) {
        out += static_cast<char>(126U | mask_bit);
        append_big_endian(out, length, 2);
    } else {
        out += static_cast<char>(127U | mask_bit);
        append_big_endian(out, length, 8);
    }
}

}  // namespace

WebSocketDecoder::Event WebSocketDecoder::fail(std::uint16_t code, std::string_view reason) {
    failed_ = true;
    close_code_ = code;
    reason_ = reason;
    payload_.clear();
    return Event::kFailed;
}

WebSocketDecoder::Event WebSocketDecoder::next(std::string_view& bytes) {
    while (!failed_) {
        if (!header_done_ && !take_header(bytes)) {
            return failed_ ? Event::kFailed : Event::kNeedMore;
        }
        take_payload(bytes);
        if (remaining_ > 0) return Event::kNeedMore;
        header_.clear();
        header_done_ = false;
        const Event event = end_of_frame();
        if (event != Event::kNeedMore) return event;
    }
    return Event::kFailed;
}

bool WebSocketDecoder::take_header(std::string_view& bytes) {
    const auto want = [&](std::size_t count) {
        if (header_.size() < count) {
            const std::string_view part = bytes.substr(0, count - header_.size());
            header_ += part;
            bytes.remove_prefix(part.size());
        }
        return header_.size() >= count;
    };
    if (!want(2)) return false;
    const unsigned short_length = byte_at(header_, 1) & 0x7FU;
    const std::size_t wide = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
    const bool masked = (byte_at(header_, 1) & 0x80U) != 0;
    if (masked != masked_) {
        fail(kCloseProtocol,
             masked_ ? "a frame of a client is not masked" : "a frame of a server is masked");
        return false;
    }
    if (!want(2 + wide + (masked ? 4 : 0))) return false;
    length_ = wide == 0 ? short_length : 0;
    for (std::size_t i = 0; i < wide; ++i) length_ = length_ << 8U | byte_at(header_, 2 + i);
    if ((wide == 2 && length_ <= 125) || (wide == 8 && length_ <= 0xFFFF)) {
        fail(kCloseProtocol, "the length of a frame is not in its shortest form");
        return false;
    }
    for (std::size_t i = 0; masked && i < 4; ++i) mask_[i] = byte_at(header_, 2 + wide + i);
    final_ = (byte_at(header_, 0) & 0x80U) != 0;
    opcode_ = byte_at(header_, 0) & 0x0FU;
    if (!check_header()) return false;
    header_done_ = true;
    remaining_ = length_;
    control_.clear();
    return true;
}

// The first frame of a message says that it is compressed; no other may.
bool WebSocketDecoder::check_reserved() {
    const unsigned reserved = byte_at(header_, 0) & 0x70U;
    return reserved == 0 || (reserved == kPackedBit && inflates_ && (opcode_ == 1 || opcode_ == 2));
}

bool WebSocketDecoder::check_header() {
    if (!check_reserved()) {
        fail(kCloseProtocol, "a reserved bit is set that no agreed extension uses there");
    } else if ((opcode_ > 2 && opcode_ < 8) || opcode_ > 10) {
        fail(kCloseProtocol, "a frame has an unknown opcode");
    } else if (is_control() && (!final_ || length_ > kLongestControl)) {
        fail(kCloseProtocol, "a control frame is too long or in pieces");
    } else if (opcode_ == 0 && message_kind_ == 0) {
        fail(kCloseProtocol, "a continuation of nothing");
    } else if ((opcode_ == 1 || opcode_ == 2) && message_kind_ != 0) {
        fail(kCloseProtocol, "a new message before the end of the last");
    } else if (!is_control() && length_ > message_limit_ - message_.size()) {
        fail(kCloseTooBig, "the message is too large");
    } else {
        if (opcode_ == 1 || opcode_ == 2) {
            message_kind_ = opcode_;
            packed_ = (byte_at(header_, 0) & kPackedBit) != 0;
        }
        return true;
    }
    return false;
}

void WebSocketDecoder::take_payload(std::string_view& bytes) {
    const std::string_view part = bytes.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size())));
    bytes.remove_prefix(part.size());
    std::string& into = is_control() ? control_ : message_;
    const std::size_t start = into.size();
    into += part;
    if (masked_) {
        std::size_t phase = static_cast<std::size_t>(length_ - remaining_);
        for (std::size_t i = start; i < into.size(); ++i, ++phase) {
            into[i] = static_cast<char>(static_cast<unsigned char>(into[i]) ^ mask_[phase & 3U]);
        }
    }
    remaining_ -= part.size();
}

WebSocketDecoder::Event WebSocketDecoder::end_of_frame() {
    if (is_control()) {
        payload_ = std::move(control_);
        control_.clear();
        if (opcode_ == 9) return Event::kPing;
        return opcode_ == 10 ? Event::kPong : end_of_close();
    }
    if (!final_) return Event::kNeedMore;
    payload_ = std::move(message_);
    message_.clear();
    text_ = message_kind_ == 1;
    message_kind_ = 0;
    if (packed_) {
        auto text = inflate_message(payload_, message_limit_);
        if (!text) {
            return text.error() == InflateFailure::kTooLarge
                       ? fail(kCloseTooBig, "the message is too large when it is inflated")
                       : fail(kCloseNotUtf8, "a compressed message is broken");
        }
        payload_ = std::move(*text);
    }
    if (text_ && !base::is_valid_utf8(payload_)) return fail(kCloseNotUtf8, "text is not UTF-8");
    return text_ ? Event::kText : Event::kBinary;
}

WebSocketDecoder::Event WebSocketDecoder::end_of_close() {
    close_code_ = kCloseNoCode;
    if (payload_.empty()) return Event::kClose;
    if (payload_.size() == 1) return fail(kCloseProtocol, "a close frame has half a code");
    close_code_ = static_cast<std::uint16_t>(byte_at(payload_, 0) << 8U | byte_at(payload_, 1));
    payload_.erase(0, 2);
    if (!may_be_sent(close_code_)) return fail(kCloseProtocol, "a close code that nobody may send");
    if (!base::is_valid_utf8(payload_)) return fail(kCloseNotUtf8, "a reason is not UTF-8");
    return Event::kClose;
}

void append_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload, bool final) {
    append_header(out, opcode, payload.size(), final, 0);
    out += payload;
}

void append_masked_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                         std::uint32_t mask, bool final) {
    append_header(out, opcode, payload.size(), final, 0x80);
    append_big_endian(out, mask, 4);
    for (std::size_t i = 0; i < payload.size(); ++i) {
        const auto part = static_cast<std::uint8_t>(mask >> (24 - 8 * (i & 3U)) & 0xFFU);
        out += static_cast<char>(byte_at(payload, i) ^ part);
    }
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
    std::string payload;
    append_big_endian(payload, code, 2);
    std::size_t fits = 0;
    while (fits < reason.size()) {
        const std::size_t step = base::utf8_sequence(reason.substr(fits));
        if (step == 0 || payload.size() + fits + step > kLongestControl) break;
        fits += step;
    }
    return payload + std::string(reason.substr(0, fits));
}

}  // namespace pollux::net
