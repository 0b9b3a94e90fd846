// What a driver is told to ask: one request to one device, complete, with every placeholder filled
// in. Made from an addon and a target; immutable and shared between polls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "model/credentials.hpp"
#include "model/oid.hpp"

namespace pollux::model {

enum class HttpMethod : std::uint8_t { kGet, kPost, kHead, kPut };
enum class HttpAuth : std::uint8_t { kNone, kBasic, kDigest, kBearer, kApiKey };

struct TlsOptions {
    bool verify = true;
    std::string ca_file;     // empty: the system's
    std::string pin_sha256;  // hex of the SHA-256 of the certificate (DER); empty: not pinned
    bool operator==(const TlsOptions&) const = default;
};

struct HttpAsk {
    HttpMethod method = HttpMethod::kGet;
    std::string url;  // scheme, host, port, path and query; never with credentials
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    HttpAuth auth = HttpAuth::kNone;
    std::string api_key_header = "X-API-Key";
    TlsOptions tls;
    std::uint32_t max_redirects = 0;           // 0: a redirect is the answer
    std::uint64_t max_body_bytes = 4U << 20U;  // after decompression
    std::vector<std::pair<int, int>> good_status = {{200, 299}};
    bool http2 = true;
    bool keep_alive = true;
    bool operator==(const HttpAsk&) const = default;
};

enum class SnmpVersion : std::uint8_t { kV1, kV2c, kV3 };

struct SnmpAsk {
    SnmpVersion version = SnmpVersion::kV2c;
    std::vector<Oid> gets;   // exact instances, merged into as few PDUs as the device takes
    std::vector<Oid> walks;  // subtrees, usually columns; columns of one table go side by side
    std::uint32_t max_repetitions = 25;
    std::uint32_t max_varbinds = 24;  // in one request
    std::uint32_t max_rows = 10'000;  // of one walk; more is an error
    bool operator==(const SnmpAsk&) const = default;
};

struct Ask {
    std::string host;  // name or literal address of the device
    std::uint16_t port = 0;
    base::Duration timeout = std::chrono::seconds(30);
    std::uint32_t resends = 0;  // SNMP: how often a request without answer goes out again
    std::variant<HttpAsk, SnmpAsk> request;
    std::shared_ptr<const Credentials> credentials;  // may be null
};

}  // namespace pollux::model
