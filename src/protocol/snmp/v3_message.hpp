// The wrapper of SNMP v3 around a PDU (RFC 3412, RFC 3414): who speaks to which engine, and the
// parameters that prove it. Only the form: what a signature is worth says usm_message.hpp.
//
// Strict: lengths and ranges of the standards hold, or the message is refused. Bytes after the
// message are ignored, as with the other versions.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/snmp/ber.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::size_t kMaxEngineIdBytes = 32;  // RFC 3411
inline constexpr std::size_t kMinEngineIdBytes = 5;
inline constexpr std::size_t kMaxUserBytes = 32;      // RFC 3414 2.4
inline constexpr std::size_t kMaxContextBytes = 255;  // SnmpAdminString
inline constexpr std::uint32_t kMaxBoots = 0x7FFFFFFF;
inline constexpr std::int32_t kLeastMaxSize = 484;

enum class SecurityLevel : std::uint8_t { kNoAuth, kAuth, kAuthPrivacy };
std::string_view to_string(SecurityLevel level);  // "noAuthNoPriv", ...

struct V3View {
    std::int32_t message_id = 0;
    std::int32_t max_size = 0;
    SecurityLevel level = SecurityLevel::kNoAuth;
    bool reportable = false;
    Bytes engine_id;  // of the authoritative side; empty: the sender asks for it
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
    Bytes user;
    Bytes mac;   // inside `whole`
    Bytes salt;  // 8 bytes, or none
    Bytes data;  // kAuthPrivacy: the encrypted bytes; otherwise the scoped PDU
    Bytes whole;
};

// Whether bytes claim to be of this version; nothing else of them is looked at.
bool claims_v3(Bytes bytes);

Parsed<V3View> parse_v3(Bytes bytes);

struct ScopedView {
    Bytes context_engine;
    Bytes context_name;
    Tlv pdu;  // for parse_pdu() and decode_pdu()
};

// Bytes after it are ignored: DES pads.
Parsed<ScopedView> parse_scoped(Bytes bytes);

// The context around the PDU that was written since size() was `mark`.
void put_scope(BerWriter& writer, std::size_t mark, Bytes context_engine, std::string_view context);

struct V3Header {
    std::int32_t message_id = 0;
    SecurityLevel level = SecurityLevel::kNoAuth;
    bool reportable = false;
    Bytes engine_id;
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
    std::string_view user;
    Bytes salt;
    std::size_t mac_size = 0;
};

// Puts version, header and security parameters in front of the scoped PDU, or the octet string of
// encrypted bytes, that was written since size() was `mark`. The signature is zeros; it stands
// `returned` bytes before the end of the buffer.
std::size_t put_v3_header(BerWriter& writer, std::size_t mark, const V3Header& header);

}  // namespace pollux::protocol::snmp
