// Reads SNMP replies. Private to this folder.
#pragma once

#include <string>

#include "extract/reading_writer.hpp"
#include "model/reply.hpp"

namespace pollux::extract {

void read_snmp(const AddonPlan& plan, std::size_t group, const model::SnmpReply& reply,
               ReadingWriter& writer);

// Numbers stay numbers; octets are text if they are printable UTF-8, else hexadecimal with
// colons; addresses and OIDs in their usual form. Null if the value does not exist.
model::Value snmp_value(const model::SnmpValue& value);

}  // namespace pollux::extract
