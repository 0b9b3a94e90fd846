// What a transfer came to: the answer with its times and sizes, and the lines of the trace.
#pragma once

#include <string>
#include <string_view>

#include "net/http_transfer.hpp"
#include "net/http_types.hpp"

namespace pollux::net {

// Takes the answer out of the transfer, which must still be in its shard if it ran.
HttpOutcome outcome_of(HttpTransfer& transfer);

// Null if there is none; the first of several.
const std::string* header_of(const model::HttpReply& reply, std::string_view lower_case_name);

// Before a redirect: adds up the sizes of the request that ended, and notes which class of hosts
// the ask went to, also when it went over a connection that was there already.
void count_bytes(HttpTransfer& transfer);
void note_first_class(HttpTransfer& transfer);

std::string lookup_line(const HttpTransfer& transfer, base::Duration took);
std::string redirect_line(const HttpTransfer& transfer, int status, const HttpUrl& next);

}  // namespace pollux::net
