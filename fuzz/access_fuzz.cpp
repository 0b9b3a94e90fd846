// Arbitrary text as a selector, a cookie, an authorization, a query and a list of hops: no crash,
// what is read reads back, and no text but a token is one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "access/selector.hpp"
#include "access/token.hpp"
#include "api/client_address.hpp"
#include "api/http_credentials.hpp"
#include "base/check.hpp"

namespace {

using namespace pollux;

void selector(std::string_view text) {
    const auto one = access::Selector::parse(text);
    if (!one) {
        POLLUX_CHECK(one.error().code == "access.selector");
        return;
    }
    const auto again = access::Selector::parse(one->text());
    POLLUX_CHECK(again && *again == *one);
    POLLUX_CHECK(one->covers(*one));
    one->matches({});
    one->matches({{"site", "berlin"}, {"x", ""}});
}

void credentials(std::string_view text) {
    net::Request request;
    request.headers = {{"Cookie", std::string(text)}, {"X-Forwarded-For", std::string(text)}};
    request.peer = net::SocketAddress::loopback(1);
    for (const auto value : api::cookie_values(request, "pollux_session")) {
        POLLUX_CHECK(value.find(';') == std::string_view::npos);
    }
    if (const auto token = api::bearer_token(text)) POLLUX_CHECK(token->size() < text.size());
    api::token_in_query(text, false);
    const bool with_upgrade = api::token_in_query(text, true);
    POLLUX_CHECK(!with_upgrade || api::token_in_query(text, false));
    POLLUX_CHECK(!access::is_token(access::kTokenPrefix, text) || text.starts_with("plx_"));
    const std::array<net::IpRange, 1> trusted = {net::IpRange::parse("127.0.0.0/8").value()};
    const api::Client client = api::client_of(request, trusted);
    POLLUX_CHECK(!client.direct_loopback());
    POLLUX_CHECK(!api::limit_key(client.address).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    selector(text);
    credentials(text);
    return 0;
}
