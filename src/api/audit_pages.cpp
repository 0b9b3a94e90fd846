#include "api/audit_pages.hpp"

#include "store/audit/audit_key.hpp"

namespace pollux::api {

using document::JsonWriter;

void write_audit_record(JsonWriter& json, const store::AuditRecord& record) {
    const model::AuditEntry& entry = record.entry;
    json.object().field("number", record.number);
    if (record.damaged) json.field("damaged", true);
    json.field("at", entry.at).field("result", to_string(entry.result));
    json.field("principal", entry.principal).field("address", entry.address);
    json.field("action", entry.action).field("object", entry.object);
    json.field("reason", entry.reason).field("before", entry.before);
    json.field("after", entry.after).field("request_id", entry.request_id).end_object();
}

std::string audit_record_json(const store::AuditRecord& record) {
    std::string text;
    JsonWriter json(text);
    write_audit_record(json, record);
    return text;
}

std::string audit_report_json(const store::AuditReport& report, const store::AuditKey& key) {
    std::string text;
    JsonWriter json(text);
    json.object().field("ok", report.found == 0).field("records", report.records);
    json.field("first", report.first).field("last", report.last);
    json.field("removed", report.removed).field("checkpoints", report.checkpoints);
    json.field("newest_checkpoint", report.newest_checkpoint);
    json.text_field("newest_checkpoint_time", report.newest_checkpoint_time);
    json.field("key", key.id()).field("public_key", key.public_key());
    json.field("found", report.found).key("findings").array();
    for (const store::AuditFinding& finding : report.findings) {
        json.object().field("code", finding.code).field("number", finding.number);
        json.field("text", finding.text).end_object();
    }
    json.end_array().end_object();
    return text;
}

}  // namespace pollux::api
