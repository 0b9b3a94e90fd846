#include "net/websocket_deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/check.hpp"
#include "net/websocket_frames.hpp"

namespace pollux::net {
namespace {

constexpr int kWindowBits = 12;
constexpr int kLargestWindow = 15;  // what a peer may use that was told nothing
constexpr int kMemoryLevel = 8;
constexpr std::uint8_t kDeflated = 0x40;  // RSV1 of the first frame of a message
// The end of what Z_SYNC_FLUSH writes; it is not sent (RFC 7692, 7.2.1).
constexpr std::string_view kTail("\x00\x00\xff\xff", 4);

Bytef* bytes_of(std::string_view text) {
    // zlib does not write to its input, though its type says otherwise.
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::string_view take_until(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return trimmed(part);
}

// 8 to 15, quoted or not; nothing: it is none of these.
std::optional<int> window_bits(std::string_view value) {
    if (value.size() > 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
    }
    int bits = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), bits);
    const bool whole = read.ec == std::errc() && read.ptr == value.data() + value.size();
    const bool plain = whole && !value.empty() && value.front() != '0';
    return plain && bits >= 8 && bits <= kLargestWindow ? std::optional(bits) : std::nullopt;
}

// The answer to one offer; nothing: it cannot be taken.
std::optional<std::string> answer_to(std::string_view offer) {
    if (take_until(offer, ';') != "permessage-deflate") return std::nullopt;
    constexpr std::array<std::string_view, 4> kNames = {
        "server_no_context_takeover", "client_no_context_takeover", "server_max_window_bits",
        "client_max_window_bits"};
    std::array<bool, kNames.size()> given{};
    while (!offer.empty()) {
        std::string_view parameter = take_until(offer, ';');
        const bool valued = parameter.contains('=');
        const std::string_view name = take_until(parameter, '=');
        const auto found = std::ranges::find(kNames, name);
        if (found == kNames.end()) return std::nullopt;
        const auto index = static_cast<std::size_t>(found - kNames.begin());
        if (std::exchange(given[index], true)) return std::nullopt;
        const auto bits = window_bits(trimmed(parameter));
        if (index < 2 && valued) return std::nullopt;
        if (index == 2 && (!bits || *bits < kWindowBits)) return std::nullopt;
        if (index == 3 && valued && !bits) return std::nullopt;
    }
    std::string answer =
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
    if (given[2]) answer += "; server_max_window_bits=" + std::to_string(kWindowBits);
    return answer;
}

}  // namespace

std::optional<std::string> agree_on_deflate(const Request& request) {
    for (const HeaderField& field : request.headers) {
        if (!equal_ignoring_case(field.name, "Sec-WebSocket-Extensions")) continue;
        std::string_view offers = field.value;
        while (!offers.empty()) {
            if (auto answer = answer_to(take_until(offers, ','))) return answer;
        }
    }
    return std::nullopt;
}

MessageDeflater::MessageDeflater() : stream_(std::make_unique<z_stream_s>()) {
    POLLUX_CHECK(deflateInit2(stream_.get(), Z_BEST_SPEED, Z_DEFLATED, -kWindowBits, kMemoryLevel,
                              Z_DEFAULT_STRATEGY) == Z_OK);
}

MessageDeflater::~MessageDeflater() { deflateEnd(stream_.get()); }

void MessageDeflater::append_text(std::string& out, std::string_view text) {
    if (text.size() < kWorthDeflating) return append_frame(out, WebSocketOpcode::kText, text);
    // As long as the text: what does not fit there is not worth it.
    packed_.resize(text.size());
    stream_->next_in = bytes_of(text);
    stream_->avail_in = static_cast<uInt>(text.size());
    stream_->next_out = reinterpret_cast<Bytef*>(packed_.data());
    stream_->avail_out = static_cast<uInt>(packed_.size());
    POLLUX_CHECK(deflate(stream_.get(), Z_SYNC_FLUSH) != Z_STREAM_ERROR);
    const bool whole = stream_->avail_in == 0 && stream_->avail_out > 0;
    const std::string_view packed(packed_.data(), packed_.size() - stream_->avail_out);
    POLLUX_CHECK(deflateReset(stream_.get()) == Z_OK);
    if (!whole || !packed.ends_with(kTail)) {
        return append_frame(out, WebSocketOpcode::kText, text);
    }
    const std::size_t start = out.size();
    append_frame(out, WebSocketOpcode::kText, packed.substr(0, packed.size() - kTail.size()));
    out[start] = static_cast<char>(static_cast<std::uint8_t>(out[start]) | kDeflated);
}

std::expected<std::string, InflateFailure> inflate_message(std::string_view packed,
                                                           std::size_t limit) {
    z_stream stream{};
    POLLUX_CHECK(inflateInit2(&stream, -kLargestWindow) == Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, &inflateEnd);
    std::string text;
    std::array<char, 4096> buffer;
    for (const std::string_view part : {packed, kTail}) {
        stream.next_in = bytes_of(part);
        stream.avail_in = static_cast<uInt>(part.size());
        do {
            stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
            stream.avail_out = static_cast<uInt>(buffer.size());
            const int result = inflate(&stream, Z_SYNC_FLUSH);
            const std::size_t got = buffer.size() - stream.avail_out;
            if (got > limit - text.size()) return std::unexpected(InflateFailure::kTooLarge);
            text.append(buffer.data(), got);
            // The last block of a stream may stand within a message (RFC 7692, 7.2.3.4).
            if (result == Z_STREAM_END && inflateReset(&stream) == Z_OK) continue;
            if (result != Z_OK && result != Z_BUF_ERROR) {
                return std::unexpected(InflateFailure::kBroken);
            }
        } while (stream.avail_out == 0 || stream.avail_in > 0);
    }
    return text;
}

}  // namespace pollux::net
