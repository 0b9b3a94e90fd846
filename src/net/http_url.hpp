// Where an HTTP request goes. Parsed by libcurl's own parser, so that what we check is what libcurl
// connects to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/ip_address.hpp"

namespace pollux::net {

struct HttpUrl {
    std::string text;    // complete, without fragment; may hold secrets in its query
    std::string shown;   // for people: without query
    std::string origin;  // "host:port"
    std::string host;    // lower case, ASCII, no brackets
    std::uint16_t port = 0;
    bool tls = false;
    bool literal = false;  // the host is an address
    IpAddress address;     // if so

    // Only http and https, no credentials, at most 8 KiB. Fails with "http.bad_url".
    static base::Result<HttpUrl> parse(std::string_view text);

    // What a Location header means, seen from this URL.
    base::Result<HttpUrl> join(std::string_view location) const;
};

}  // namespace pollux::net
