// The reader of HTTP requests takes what anybody sends. Whatever the bytes are: it ends, holds its
// limits, and understands the same however the bytes are cut.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "net/http_request_parser.hpp"

namespace {

using pollux::net::Request;
using pollux::net::RequestLimits;
using pollux::net::RequestParser;

constexpr RequestLimits kLimits{
    .head_bytes = 512, .target_bytes = 128, .fields = 8, .body_bytes = 256};

std::size_t feed(RequestParser& parser, std::string_view bytes, std::size_t piece) {
    std::size_t used = 0;
    while (used < bytes.size() && parser.state() != RequestParser::State::kComplete &&
           parser.state() != RequestParser::State::kFailed) {
        const std::size_t taken = parser.consume(bytes.substr(used, piece));
        POLLUX_CHECK(taken > 0);
        used += taken;
    }
    return used;
}

bool same(const Request& a, const Request& b) {
    return a.method == b.method && a.path == b.path && a.query == b.query &&
           a.headers == b.headers && a.body == b.body && a.keep_alive == b.keep_alive;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = 1 + data[0] % 17;
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    for (int request = 0; request < 8 && !bytes.empty(); ++request) {
        RequestParser whole(kLimits);
        RequestParser cut(kLimits);
        const std::size_t used = feed(whole, bytes, bytes.size());
        const std::size_t used_cut = feed(cut, bytes, piece);
        POLLUX_CHECK(whole.state() == cut.state());
        if (whole.state() != RequestParser::State::kComplete) break;
        POLLUX_CHECK(used == used_cut);
        POLLUX_CHECK(same(whole.request(), cut.request()));
        POLLUX_CHECK(whole.request().body.size() <= kLimits.body_bytes);
        POLLUX_CHECK(whole.request().headers.size() <= kLimits.fields);
        bytes.remove_prefix(used);
    }
    return 0;
}
