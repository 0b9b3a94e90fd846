// What the HTTP client is told and what it tells: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/credentials.hpp"
#include "model/reply.hpp"

namespace pollux::net {

struct HttpOrder {
    std::uint64_t id = 0;  // chosen by the caller, unique while the order lives
    std::shared_ptr<const model::HttpAsk> ask;
    std::shared_ptr<const model::Credentials> credentials;  // may be null
    base::BootTime deadline;
    bool fresh = false;  // a new connection for each request, and none kept
    bool trace = false;
};

// Why there is no answer. A status is an answer here, whatever it says.
enum class HttpProblem : std::uint8_t {
    kNone,
    kCancelled,
    kTimeout,
    kBadRequest,  // the ask itself cannot be sent: URL, header, pin, file
    kOverloaded,  // a bound of our own
    kDnsNotFound,
    kDnsTimeout,
    kDnsFailure,
    kEgressDenied,
    kConnectRefused,
    kConnectUnreachable,
    kConnectionLost,
    kTlsExpired,
    kTlsNotYetValid,
    kTlsSelfSigned,
    kTlsUntrusted,
    kTlsHostMismatch,
    kTlsPinMismatch,
    kTlsClientCertificate,
    kTlsHandshake,
    kRedirectLimit,
    kRedirectRefused,
    kBodyTooLarge,
    kHeadersTooLarge,
    kEncoding,  // the body is not what its content-encoding says
    kProtocol,  // no HTTP
    kInternal,
};

struct HttpOutcome {
    HttpProblem problem = HttpProblem::kNone;
    std::string detail;  // of a problem, for people: what was seen and what to do; no secret
    // As far as it came; final_url is where it ended, without query; certificates also when they
    // were refused.
    model::HttpReply reply;
    model::Phases phases;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    bool reused = false;  // the last request went over a connection that was there already
    std::vector<std::string> trace;
};

struct HttpClientOptions {
    // A multi handle costs more per request the more connections it holds (libcurl 7.88: 27 us at
    // 64, 61 us at 1000, 1 ms at 10,000), so hosts are spread over many small ones.
    std::size_t hosts_per_shard = 50;
    std::size_t connections_per_shard = 100;  // kept idle; the oldest is closed first
    std::size_t max_hosts = 100'000;
    std::size_t max_in_flight = 20'000;
    std::size_t max_idle_handles = 256;
    std::size_t max_urls = 20'000;  // kept parsed
    std::size_t max_headers = 256;
    std::size_t max_header_bytes = 64U << 10U;
    base::Duration connection_age = std::chrono::seconds(118);  // idle longer: not used again
    base::Duration host_age = std::chrono::minutes(10);         // idle longer: forgotten
    std::string user_agent = "pollux";
};

struct HttpClientCounts {
    std::uint64_t requests = 0;     // redirects counted
    std::uint64_t connections = 0;  // opened
    std::size_t hosts = 0;          // known now
    std::size_t shards = 0;
    std::size_t idle_handles = 0;
};

}  // namespace pollux::net
