#include "net/http_redirect.hpp"

namespace pollux::net {

using model::HttpMethod;

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

NextRequest next_request(int status, HttpMethod method) {
    if (status == 307 || status == 308) return {.method = method, .keeps_body = true};
    if (method == HttpMethod::kHead) return {.method = HttpMethod::kHead};
    if (status == 303 || method == HttpMethod::kPost) return {.method = HttpMethod::kGet};
    return {.method = method, .keeps_body = true};
}

bool same_origin(const HttpUrl& meant_for, const HttpUrl& to) {
    if (meant_for.host != to.host || meant_for.literal != to.literal ||
        meant_for.address != to.address) {
        return false;
    }
    if (meant_for.tls == to.tls) return meant_for.port == to.port;
    return to.tls && meant_for.port == 80 && to.port == 443;
}

}  // namespace pollux::net
