// What a failed transfer means: from the codes of libcurl and OpenSSL, and what we saw ourselves,
// to one problem and words for a person.
#pragma once

#include <string>

#include "base/result.hpp"
#include "net/http_transfer.hpp"
#include "net/http_types.hpp"

namespace pollux::net {

struct HttpFault {
    HttpProblem problem = HttpProblem::kInternal;
    std::string detail;
};

// `code` is the CURLcode of a transfer that did not succeed and that we did not stop ourselves.
HttpFault fault_of(const HttpTransfer& transfer, int code);

// The deadline passed: how far did it come?
HttpFault fault_of_deadline(const HttpTransfer& transfer);

// The name has no address.
HttpFault fault_of_lookup(const base::Error& error);

}  // namespace pollux::net
