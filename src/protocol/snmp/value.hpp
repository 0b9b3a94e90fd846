// The values of SNMP (RFC 2578) between their wire form and model::SnmpValue. Plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/reply.hpp"
#include "protocol/snmp/ber.hpp"

namespace pollux::protocol::snmp {

// The value of a varbind. `value` is overwritten, so that its storage can be reused.
Parsed<void> parse_value(const Tlv& element, model::SnmpValue& value);

void put_value(BerWriter& writer, const model::SnmpValue& value);

// "Counter32", as traces and messages name it.
std::string_view to_string(model::SnmpType type);

// The number inside an Opaque that holds a float or a double, as net-snmp agents wrap them (tag
// 0x9F78 or 0x9F79). nullopt: it holds something else.
std::optional<double> opaque_number(std::string_view content);

// The way back, for agents.
std::string opaque_float(float number);
std::string opaque_double(double number);

}  // namespace pollux::protocol::snmp
