// The replies of a case: an HTTP answer written out, an SNMP capture as net-snmp prints it, or a
// failure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"
#include "runtime/trial/case_files.hpp"

namespace pollux::runtime {

// One reply per ask. `node` is a step of a case with `http`, `snmp` or `failure`, or `replies`
// with a list of these. Certificates count their days from `now`.
std::vector<model::Reply> case_replies(const document::Node& node, const std::string& path,
                                       std::span<const std::shared_ptr<const model::Ask>> asks,
                                       const CaseFiles& files, base::WallTime now,
                                       document::Diagnostics& out);

// Columns come sorted by index, as a walk finds them.
using SnmpCapture = std::map<model::Oid, model::SnmpValue>;

// Lines like
//     .1.3.6.1.2.1.1.5.0 = STRING: core
// as snmpwalk -On prints them; blank lines and # comments are passed over.
base::Result<SnmpCapture> read_snmp_capture(std::string_view capture);

// What an agent with exactly these values answers.
base::Result<model::SnmpReply> snmp_capture_reply(std::string_view capture,
                                                  const model::SnmpAsk& ask);

}  // namespace pollux::runtime
