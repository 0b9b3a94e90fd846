// What a driver is told to ask: one request to one device, complete, with every placeholder filled
// in. Made from an addon and a target; immutable and shared between polls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// What a person decided about a device: it is not learned. 0 and nothing: it is.
struct SnmpFixed {
    std::uint32_t max_varbinds = 0;
    std::uint32_t max_repetitions = 0;
    std::uint32_t parallel = 0;  // requests under way at once, of all asks to the device
    std::optional<bool> bulk;
    bool operator==(const SnmpFixed&) const = default;
};

struct SnmpAsk {
    SnmpVersion version = SnmpVersion::kV2c;
    std::vector<Oid> gets;   // exact instances, merged into as few PDUs as the device takes
    std::vector<Oid> walks;  // subtrees, usually columns; columns of one table go side by side
    std::uint32_t max_repetitions = 25;  // to begin with; what the device takes is learned
    std::uint32_t max_varbinds = 24;     // in one request, likewise
    std::uint32_t max_rows = 10'000;     // of one walk; more is an error
    SnmpFixed fixed;
    bool operator==(const SnmpAsk&) const = default;
};

// One command on a host, through its login shell.
struct SshAsk {
    std::string command;
    std::uint64_t max_output_bytes = 1U << 20U;  // standard output and error together
    std::vector<std::pair<int, int>> good_exit = {{0, 0}};
    bool operator==(const SshAsk&) const = default;
};

// One program on this machine, without a shell. The device is only what it asks about.
struct ExecAsk {
    // The first is an absolute path, or a name in the plugin folders.
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment;  // beside PATH and LC_ALL
    std::string input;                            // on its standard input; empty: /dev/null
    std::uint64_t max_output_bytes = 64U << 10U;  // standard output and error together
    std::vector<std::pair<int, int>> good_exit = {{0, 3}};
    bool operator==(const ExecAsk&) const = default;
};

enum class StartTls : std::uint8_t { kNone, kSmtp, kImap, kPop3, kFtp, kLdap, kPostgres };

// Opens a connection, may say something, may wait for something.
struct TcpAsk {
    std::string send;    // after the connection stands; empty: nothing
    std::string expect;  // text that the answer must contain; empty: the connection is enough
    std::uint64_t max_bytes = 64U << 10U;
    bool operator==(const TcpAsk&) const = default;
};

struct TlsAsk {
    StartTls start_tls = StartTls::kNone;
    std::string server_name;  // for SNI and the check of names; empty: the host, if it is a name
    TlsOptions tls;
    bool require_valid = false;  // else a certificate that does not verify is still an answer
    bool operator==(const TlsAsk&) const = default;
};

struct IcmpAsk {
    std::uint32_t count = 4;
    base::Duration spacing = std::chrono::milliseconds(200);
    std::uint32_t payload_bytes = 56;
    bool operator==(const IcmpAsk&) const = default;
};

// The host is the name server.
struct DnsAsk {
    std::string name;
    std::string type = "A";
    bool recursion = true;
    bool operator==(const DnsAsk&) const = default;
};

struct Ask {
    std::string host;  // name or literal address of the device
    std::uint16_t port = 0;
    base::Duration timeout = std::chrono::seconds(30);
    std::uint32_t resends = 0;  // SNMP: how often a request without answer goes out again
    std::variant<HttpAsk, SnmpAsk, SshAsk, ExecAsk, TcpAsk, TlsAsk, IcmpAsk, DnsAsk> request;
    std::shared_ptr<const Credentials> credentials;  // may be null
};

// "http", "snmp", ...: as in a manifest and in counters.
constexpr const char* protocol_name(const Ask& ask) {
    constexpr const char* kNames[] = {"http", "snmp", "ssh", "exec", "tcp", "tls", "icmp", "dns"};
    return kNames[ask.request.index()];
}

}  // namespace pollux::model
