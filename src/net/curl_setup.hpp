// Tells libcurl what to ask: once what never changes, then per request what differs from the
// request before on the same handle.
#pragma once

#include "base/result.hpp"
#include "net/http_transfer.hpp"

namespace pollux::net {

// For a new handle.
void set_up_handle(HttpTransfer& transfer);

// Whether the ask can be sent at all; looked at once per order, before anything is done for it.
base::Status check_ask(const model::HttpAsk& ask, const model::Credentials* credentials);

// Before each request. transfer.host must be known. Fails only when memory is out.
base::Status set_up_request(HttpTransfer& transfer);

// Takes away what must not stay with the handle. False: the handle itself must go.
bool clean_up_handle(HttpTransfer& transfer);

}  // namespace pollux::net
