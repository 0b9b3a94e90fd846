// Protocol data units of SNMP v1, v2c and v3 (RFC 3416): what is asked and answered, without the
// wrapper that says who asks (message.hpp).
//
// Two forms: PduView points into the received bytes and allocates nothing, which the driver reads
// answers with; Pdu owns everything and is convenient, which tests and simulated agents use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/oid.hpp"
#include "model/reply.hpp"
#include "protocol/snmp/ber.hpp"
#include "protocol/snmp/value.hpp"

namespace pollux::protocol::snmp {

// The tag on the wire.
enum class PduType : std::uint8_t {
    kGet = 0xA0,
    kGetNext = 0xA1,
    kResponse = 0xA2,
    kSet = 0xA3,
    kGetBulk = 0xA5,
    kInform = 0xA6,
    kTrapV2 = 0xA7,
    kReport = 0xA8,
};

// Any number can arrive; only the ones that decide something have a name here.
enum class ErrorStatus : std::int32_t {
    kNone = 0,
    kTooBig = 1,
    kNoSuchName = 2,
    kBadValue = 3,
    kReadOnly = 4,
    kGenErr = 5,
    kNoAccess = 6,
    kResourceUnavailable = 13,
    kAuthorizationError = 16,
};

// "GetBulkRequest", "tooBig"; numbers outside of the standard become "error 77" and the like.
std::string_view to_string(PduType type);
std::string error_status_text(std::int32_t status);

struct PduView {
    PduType type = PduType::kResponse;
    std::int32_t request_id = 0;
    std::int32_t error_status = 0;  // GetBulk: non-repeaters
    std::int32_t error_index = 0;   // GetBulk: max-repetitions
    Bytes varbinds;                 // content of the list, for VarbindReader
};

Parsed<PduView> parse_pdu(const Tlv& element);

struct VarbindView {
    Bytes oid;  // encoded content; equals() and parse_oid() read it
    Tlv value;  // parse_value() reads it
};

// for (VarbindReader reader(pdu.varbinds); !reader.empty();) { auto varbind = reader.next(); ... }
class VarbindReader {
  public:
    explicit VarbindReader(Bytes list) : list_(list) {}
    bool empty() const { return list_.empty(); }
    Parsed<VarbindView> next();

  private:
    BerReader list_;
};

struct Varbind {
    model::Oid oid;
    model::SnmpValue value;
    bool operator==(const Varbind&) const = default;
};

struct Pdu {
    PduType type = PduType::kResponse;
    std::int32_t request_id = 0;
    std::int32_t error_status = 0;  // GetBulk: non-repeaters
    std::int32_t error_index = 0;   // GetBulk: max-repetitions
    std::vector<Varbind> varbinds;
    bool operator==(const Pdu&) const = default;
};

Parsed<Pdu> decode_pdu(const Tlv& element);

// In front of what the writer holds; see BerWriter about what does not fit.
void put_pdu(BerWriter& writer, const Pdu& pdu);
void put_varbind(BerWriter& writer, const model::Oid& oid, const model::SnmpValue& value);
// As requests have them: without a value.
void put_null_varbind(BerWriter& writer, const model::Oid& oid);
// Closes a PDU whose varbinds were written since size() was `mark`, the last one first.
void finish_pdu(BerWriter& writer, std::size_t mark, PduType type, std::int32_t request_id,
                std::int32_t error_status, std::int32_t error_index);

}  // namespace pollux::protocol::snmp
