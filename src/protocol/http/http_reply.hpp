// What an outcome of the HTTP client means for the poll: a reply, or a failure with its kind, a
// stable code and a message. A plain function over values.
#pragma once

#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"
#include "net/http_types.hpp"

namespace pollux::protocol {

model::Reply reply_of(const model::HttpAsk& ask, net::HttpOutcome&& outcome, base::WallTime now);

}  // namespace pollux::protocol
