#include "protocol/http/http_driver.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "protocol/http/http_reply.hpp"

namespace pollux::protocol {
namespace {

constexpr base::Duration kDefaultTimeout = std::chrono::seconds(30);

}  // namespace

void HttpDriver::start(Order order, Done done) {
    const auto* http = std::get_if<model::HttpAsk>(&order.ask->request);
    POLLUX_CHECK_MSG(http != nullptr, "the HTTP driver is given HTTP asks only");
    const base::Duration timeout =
        order.ask->timeout > base::Duration::zero() ? order.ask->timeout : kDefaultTimeout;
    net::HttpOrder request;
    request.id = order.id;
    request.ask = {order.ask, http};
    request.credentials = order.ask->credentials;
    request.deadline = std::min(order.deadline, net::boot_now() + timeout);
    request.fresh = order.fresh_login;
    request.trace = order.trace;
    client_.start(std::move(request), [ask = std::move(order.ask), http,
                                       tell = std::move(done)](net::HttpOutcome&& outcome) mutable {
        tell(reply_of(*http, std::move(outcome), net::wall_now()));
    });
}

}  // namespace pollux::protocol
