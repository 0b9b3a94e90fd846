// What a driver brings back: the answer of a device as it came, or why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/failure.hpp"
#include "model/oid.hpp"

namespace pollux::model {

struct CertificateFacts {
    std::string subject;
    std::string issuer;
    std::string sha256;  // hex, of the DER form
    base::WallTime not_before;
    base::WallTime not_after;
    bool operator==(const CertificateFacts&) const = default;
};

struct HttpReply {
    int status = 0;
    std::string http_version;                                  // "1.1", "2"
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;
    std::string final_url;
    std::uint32_t redirects = 0;
    std::vector<CertificateFacts> certificates;  // leaf first; empty: no TLS
};

enum class SnmpType : std::uint8_t {
    kInteger,
    kOctetString,
    kNull,
    kObjectId,
    kIpAddress,
    kCounter32,
    kGauge32,  // also Unsigned32
    kTimeTicks,
    kOpaque,
    kCounter64,
    kNoSuchObject,
    kNoSuchInstance,
    kEndOfMibView,
};

struct SnmpValue {
    SnmpType type = SnmpType::kNull;
    std::int64_t integer = 0;          // kInteger
    std::uint64_t unsigned_value = 0;  // counters, gauge, ticks
    std::string bytes;                 // octet string, opaque, IP address (4 bytes)
    Oid oid;                           // kObjectId

    bool exists() const {
        return type != SnmpType::kNull && type != SnmpType::kNoSuchObject &&
               type != SnmpType::kNoSuchInstance && type != SnmpType::kEndOfMibView;
    }
    bool operator==(const SnmpValue&) const = default;
};

struct SnmpRow {
    Oid index;  // what follows the column
    SnmpValue value;
    bool operator==(const SnmpRow&) const = default;
};

struct SnmpReply {
    std::vector<SnmpValue> gets;              // as many as asked, in their order
    std::vector<std::vector<SnmpRow>> walks;  // as many as asked, in their order
    std::uint32_t pdus = 0;                   // requests that were sent, resends included
};

// Of a command on a host or of a program on this machine.
struct CommandReply {
    int exit_status = 0;
    int signal = 0;  // that ended it; 0: it ended by itself
    std::string out;
    std::string error_out;
    bool truncated = false;  // it said more than was allowed
};

struct TcpReply {
    std::string received;  // as much as was allowed
};

struct TlsReply {
    std::vector<CertificateFacts> certificates;  // leaf first
    std::string protocol;                        // "TLSv1.3"
    std::string cipher;
    std::string verify_error;  // empty: the chain leads to a root we trust
    bool name_matches = true;
    std::vector<std::string> names;  // of the leaf: DNS names and addresses
};

struct IcmpReply {
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
    std::vector<base::Duration> round_trips;  // of those that came back, in their order
};

struct DnsRecord {
    std::string name;
    std::string type;  // "A", "MX", or "TYPE257"
    std::uint32_t ttl = 0;
    std::string data;  // as dig prints it
    bool operator==(const DnsRecord&) const = default;
};

struct DnsReply {
    std::string status;  // "NOERROR", "NXDOMAIN", ...
    std::string type;    // that was asked for
    bool authoritative = false;
    bool truncated = false;  // and TCP did not help
    std::vector<DnsRecord> answers;
};

// Time from the start of the ask to the end of each phase; zero: the phase did not happen.
struct Phases {
    base::Duration dns{};
    base::Duration connect{};
    base::Duration tls{};
    base::Duration first_byte{};
    base::Duration total{};
};

struct PollFailure {
    FailureKind kind = FailureKind::kUnknown;
    std::string code;     // stable and dotted: "snmp.timeout"
    std::string message;  // what failed, where, what was seen, what to do; no secret
    int http_status = 0;
    base::Duration retry_after{};  // the device asked us to wait
};

struct Reply {
    std::variant<HttpReply, SnmpReply, PollFailure, CommandReply, TcpReply, TlsReply, IcmpReply,
                 DnsReply>
        answer;
    Phases phases;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::vector<std::string> trace;  // steps for a person, if asked for

    bool ok() const { return !std::holds_alternative<PollFailure>(answer); }
};

}  // namespace pollux::model
