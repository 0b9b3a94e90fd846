#include "tests/live/alert_stage.hpp"

#include "document/parse.hpp"

namespace pollux::live {

Told read_told(const net::Request& request) {
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse_json(request.body, "body", diagnostics);
    Told told;
    told.key = request.header("idempotency-key").value_or("");
    told.kind = text_at(parsed.root, "kind");
    told.incident = text_at(parsed.root, "incident.id");
    told.severity = text_at(parsed.root, "incident.severity");
    told.title = text_at(parsed.root, "incident.title");
    told.provisional = text_at(parsed.root, "provisional") == "true";
    return told;
}

}  // namespace pollux::live
