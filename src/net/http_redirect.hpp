// Where a redirect leads, and what may be taken along. Plain functions over values.
#pragma once

#include <string_view>

#include "model/ask.hpp"
#include "net/http_url.hpp"

namespace pollux::net {

bool is_redirect(int status);

// RFC 9110: after 303 a GET follows; after 301 and 302 a POST becomes a GET, as all clients do;
// 307 and 308 keep method and body.
struct NextRequest {
    model::HttpMethod method = model::HttpMethod::kGet;
    bool keeps_body = false;
};
NextRequest next_request(int status, model::HttpMethod method);

// Whether credentials meant for one may be sent to the other: the same host, scheme and port, or
// the same host's step from http to https on the usual ports.
bool same_origin(const HttpUrl& meant_for, const HttpUrl& to);

}  // namespace pollux::net
