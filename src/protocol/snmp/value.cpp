#include "protocol/snmp/value.hpp"

#include <bit>
#include <limits>

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;

// Class and number of each type on the wire.
constexpr std::uint8_t kIpAddress = 0x40;
constexpr std::uint8_t kCounter32 = 0x41;
constexpr std::uint8_t kGauge32 = 0x42;
constexpr std::uint8_t kTimeTicks = 0x43;
constexpr std::uint8_t kOpaque = 0x44;
constexpr std::uint8_t kNsapAddress = 0x45;  // RFC 1442; obsolete, but still met
constexpr std::uint8_t kCounter64 = 0x46;
constexpr std::uint8_t kUinteger32 = 0x47;  // RFC 1442; the later Unsigned32
constexpr std::uint8_t kNoSuchObject = 0x80;
constexpr std::uint8_t kNoSuchInstance = 0x81;
constexpr std::uint8_t kEndOfMibView = 0x82;

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

Parsed<void> parse_number(Bytes content, SnmpType type, std::uint64_t max,
                          model::SnmpValue& value) {
    const Parsed<std::uint64_t> number = parse_unsigned(content, max);
    if (!number) return malformed(number.error());
    value.type = type;
    value.unsigned_value = *number;
    return {};
}

Parsed<void> parse_bytes(Bytes content, SnmpType type, model::SnmpValue& value) {
    value.type = type;
    value.bytes.assign(reinterpret_cast<const char*>(content.data()), content.size());
    return {};
}

Parsed<void> parse_nothing(Bytes content, SnmpType type, model::SnmpValue& value) {
    if (!content.empty()) return malformed("content where a type has none");
    value.type = type;
    return {};
}

constexpr char kOpaqueClass = static_cast<char>(0x9F);
constexpr char kOpaqueFloat = 0x78;
constexpr char kOpaqueDouble = 0x79;

template <class Bits>
std::string wrap_number(char kind, Bits bits) {
    std::string text{kOpaqueClass, kind, static_cast<char>(sizeof bits)};
    for (std::size_t i = sizeof bits; i > 0; --i) {
        text += static_cast<char>(bits >> (8 * (i - 1)) & 0xFFU);
    }
    return text;
}

}  // namespace

Parsed<void> parse_value(const Tlv& element, model::SnmpValue& value) {
    value.integer = 0;
    value.unsigned_value = 0;
    value.bytes.clear();
    value.oid.arcs.clear();
    switch (element.tag) {
        case tag::kInteger: {
            // Beyond RFC 2578's 32 bits too: there are devices that put larger numbers here.
            const Parsed<std::int64_t> number = parse_integer(element.content);
            if (!number) return malformed(number.error());
            value.type = SnmpType::kInteger;
            value.integer = *number;
            return {};
        }
        case kNsapAddress:
        case tag::kOctetString: return parse_bytes(element.content, SnmpType::kOctetString, value);
        case tag::kNull: return parse_nothing(element.content, SnmpType::kNull, value);
        case tag::kObjectId:
            value.type = SnmpType::kObjectId;
            return parse_oid(element.content, value.oid);
        case kIpAddress:
            if (element.content.size() != 4) return malformed("an IP address without four bytes");
            return parse_bytes(element.content, SnmpType::kIpAddress, value);
        case kCounter32: return parse_number(element.content, SnmpType::kCounter32, kMax32, value);
        case kUinteger32:
        case kGauge32: return parse_number(element.content, SnmpType::kGauge32, kMax32, value);
        case kTimeTicks: return parse_number(element.content, SnmpType::kTimeTicks, kMax32, value);
        case kOpaque: return parse_bytes(element.content, SnmpType::kOpaque, value);
        case kCounter64: return parse_number(element.content, SnmpType::kCounter64, kMax64, value);
        case kNoSuchObject: return parse_nothing(element.content, SnmpType::kNoSuchObject, value);
        case kNoSuchInstance:
            return parse_nothing(element.content, SnmpType::kNoSuchInstance, value);
        case kEndOfMibView: return parse_nothing(element.content, SnmpType::kEndOfMibView, value);
        default: return malformed("a value of an unknown type");
    }
}

void put_value(BerWriter& writer, const model::SnmpValue& value) {
    switch (value.type) {
        case SnmpType::kInteger: return writer.put_integer(tag::kInteger, value.integer);
        case SnmpType::kOctetString: return writer.put_string(tag::kOctetString, value.bytes);
        case SnmpType::kNull: return writer.put_header(tag::kNull, 0);
        case SnmpType::kObjectId: return writer.put_oid(value.oid);
        case SnmpType::kIpAddress: return writer.put_string(kIpAddress, value.bytes);
        case SnmpType::kCounter32: return writer.put_unsigned(kCounter32, value.unsigned_value);
        case SnmpType::kGauge32: return writer.put_unsigned(kGauge32, value.unsigned_value);
        case SnmpType::kTimeTicks: return writer.put_unsigned(kTimeTicks, value.unsigned_value);
        case SnmpType::kOpaque: return writer.put_string(kOpaque, value.bytes);
        case SnmpType::kCounter64: return writer.put_unsigned(kCounter64, value.unsigned_value);
        case SnmpType::kNoSuchObject: return writer.put_header(kNoSuchObject, 0);
        case SnmpType::kNoSuchInstance: return writer.put_header(kNoSuchInstance, 0);
        case SnmpType::kEndOfMibView: return writer.put_header(kEndOfMibView, 0);
    }
}

std::string_view to_string(SnmpType type) {
    switch (type) {
        case SnmpType::kInteger: return "INTEGER";
        case SnmpType::kOctetString: return "OCTET STRING";
        case SnmpType::kNull: return "NULL";
        case SnmpType::kObjectId: return "OBJECT IDENTIFIER";
        case SnmpType::kIpAddress: return "IpAddress";
        case SnmpType::kCounter32: return "Counter32";
        case SnmpType::kGauge32: return "Gauge32";
        case SnmpType::kTimeTicks: return "TimeTicks";
        case SnmpType::kOpaque: return "Opaque";
        case SnmpType::kCounter64: return "Counter64";
        case SnmpType::kNoSuchObject: return "noSuchObject";
        case SnmpType::kNoSuchInstance: return "noSuchInstance";
        case SnmpType::kEndOfMibView: return "endOfMibView";
    }
    return "unknown";
}

std::optional<double> opaque_number(std::string_view content) {
    if (content.size() < 3 || content[0] != kOpaqueClass) return std::nullopt;
    const char kind = content[1];
    const std::size_t size = content.size() - 3;
    if (static_cast<std::size_t>(static_cast<unsigned char>(content[2])) != size) {
        return std::nullopt;
    }
    std::uint64_t bits = 0;
    for (const char c : content.substr(3)) bits = bits << 8U | static_cast<unsigned char>(c);
    if (kind == kOpaqueFloat && size == 4) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    if (kind == kOpaqueDouble && size == 8) return std::bit_cast<double>(bits);
    return std::nullopt;
}

std::string opaque_float(float number) {
    return wrap_number(kOpaqueFloat, std::bit_cast<std::uint32_t>(number));
}

std::string opaque_double(double number) {
    return wrap_number(kOpaqueDouble, std::bit_cast<std::uint64_t>(number));
}

}  // namespace pollux::protocol::snmp
