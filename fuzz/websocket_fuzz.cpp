// The reader of WebSocket frames takes what anybody sends, compressed or not. Whatever the bytes
// are: it ends, holds its limit, and understands the same however the bytes are cut; what it
// understood can be sent.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/text.hpp"
#include "net/websocket_frames.hpp"

namespace {

using pollux::net::WebSocketDecoder;
using Event = WebSocketDecoder::Event;

constexpr std::size_t kLimit = 300;

struct Seen {
    Event event;
    std::string payload;
    std::uint16_t code = 0;
    bool operator==(const Seen&) const = default;
};

std::vector<Seen> decode(bool masked, bool inflates, std::string_view bytes, std::size_t piece) {
    WebSocketDecoder decoder(masked, kLimit, inflates);
    std::vector<Seen> all;
    while (!bytes.empty()) {
        std::string_view part = bytes.substr(0, piece);
        bytes.remove_prefix(part.size());
        Event event = Event::kNeedMore;
        while ((event = decoder.next(part)) != Event::kNeedMore) {
            const bool coded = event == Event::kClose || event == Event::kFailed;
            all.push_back(
                {event, decoder.payload(), coded ? decoder.close_code() : std::uint16_t{0}});
            POLLUX_CHECK(decoder.payload().size() <= kLimit);
            if (event == Event::kFailed) return all;
        }
        POLLUX_CHECK(part.empty());
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool masked = data[0] % 2 == 0;
    const bool inflates = data[0] >= 128;
    const std::size_t piece = 1 + data[0] / 2 % 17;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::vector<Seen> whole = decode(masked, inflates, bytes, bytes.size());
    POLLUX_CHECK(decode(masked, inflates, bytes, piece) == whole);
    for (const Seen& one : whole) {
        if (one.event != Event::kText) continue;
        POLLUX_CHECK(pollux::base::is_valid_utf8(one.payload));
        std::string again;
        pollux::net::append_masked_frame(again, pollux::net::WebSocketOpcode::kText, one.payload,
                                         0x01020304);
        POLLUX_CHECK(decode(true, inflates, again, 3) == std::vector<Seen>{one});
    }
    return 0;
}
