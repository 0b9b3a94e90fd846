// What an HTTP server is asked and what it answers: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/socket_address.hpp"

namespace pollux::net {

struct HeaderField {
    std::string name;
    std::string value;
    bool operator==(const HeaderField&) const = default;
};

// Names of fields compare without case, in ASCII.
bool equal_ignoring_case(std::string_view a, std::string_view b);
// Whether a list such as "keep-alive, Upgrade" holds the word, without case.
bool list_has(std::string_view list, std::string_view word);

struct Request {
    std::string method;  // as sent: methods are case-sensitive
    std::string target;  // as sent
    std::string path;    // of the target, percent-encoding kept; "/" at least, or "*"
    std::string query;   // what follows the first '?'
    int minor_version = 1;
    std::vector<HeaderField> headers;
    std::string body;
    bool keep_alive = true;  // what the client wishes
    SocketAddress peer;
    SocketAddress local;
    bool secure = false;  // came through TLS

    // The first field of that name.
    std::optional<std::string_view> header(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::vector<HeaderField> headers;
    std::string body;
    // Further fields as whole lines with their CR LF, of static storage: what every answer of a
    // server has costs one copy.
    std::string_view fixed_fields = {};

    static Response text(int status, std::string body);
    static Response json(int status, std::string body);
    Response& with(std::string name, std::string value);
};

// "Not Found" for 404; "Status" for a number without a name.
std::string_view reason_phrase(int status);

// Decodes %XX; '+' stays. Nothing if an escape is broken or the result holds a NUL.
std::optional<std::string> percent_decode(std::string_view text);
// The decoded value of a parameter in "a=1&b=2"; '+' is a blank there.
std::optional<std::string> query_parameter(std::string_view query, std::string_view name);
// All of them in their order, at most `limit`; those with a broken escape are left out.
std::vector<std::pair<std::string, std::string>> query_parameters(std::string_view query,
                                                                  std::size_t limit);

}  // namespace pollux::net
