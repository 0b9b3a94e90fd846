// Records of the audit trail and the result of looking it over, as JSON: for the API and for the
// commands that read a data folder.
#pragma once

#include <string>

#include "document/json_writer.hpp"
#include "store/audit/audit_types.hpp"
#include "store/audit/audit_verify.hpp"

namespace pollux::api {

void write_audit_record(document::JsonWriter& json, const store::AuditRecord& record);
std::string audit_record_json(const store::AuditRecord& record);
std::string audit_report_json(const store::AuditReport& report, const store::AuditKey& key);

}  // namespace pollux::api
