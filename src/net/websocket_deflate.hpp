// Compressed messages of a WebSocket: permessage-deflate (RFC 7692), without context takeover on
// either side. Each message stands for itself, so a connection keeps no memory for it, and one that
// goes to many is compressed once. A window of 4 KiB, which is what small clients offer too.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.hpp"

struct z_stream_s;

namespace pollux::net {

// The value of Sec-WebSocket-Extensions that answers the first offer of the request that can be
// taken; nothing: no offer can, and messages are not compressed.
std::optional<std::string> agree_on_deflate(const Request& request);

// Below this a message is sent as it is: a packet holds it anyway.
inline constexpr std::size_t kWorthDeflating = 512;

class MessageDeflater {
  public:
    MessageDeflater();
    ~MessageDeflater();
    MessageDeflater(const MessageDeflater&) = delete;
    MessageDeflater& operator=(const MessageDeflater&) = delete;

    // Appends a frame with the text: compressed if that is shorter.
    void append_text(std::string& out, std::string_view text);

  private:
    std::unique_ptr<z_stream_s> stream_;
    std::string packed_;
};

enum class InflateFailure { kBroken, kTooLarge };
// A whole message; never writes more than `limit` bytes.
std::expected<std::string, InflateFailure> inflate_message(std::string_view packed,
                                                           std::size_t limit);

}  // namespace pollux::net
