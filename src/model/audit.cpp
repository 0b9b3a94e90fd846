#include "model/audit.hpp"

#include "base/text.hpp"

namespace pollux::model {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

void bound(std::string& text, std::size_t limit) {
    // What is far too long is not walked through: replacing a byte makes text three times as long.
    if (text.size() > limit * 4) text.resize(limit * 4);
    if (!base::is_valid_utf8(text)) text = base::valid_utf8(text);
    if (text.size() <= limit) return;
    std::size_t end = limit - kAuditCutMark.size();
    while (end > 0 && continues(text[end])) --end;
    text.resize(end);
    text += kAuditCutMark;
}

}  // namespace

AuditEntry bounded(AuditEntry entry) {
    bound(entry.principal, kAuditLimits.principal);
    bound(entry.address, kAuditLimits.address);
    bound(entry.action, kAuditLimits.action);
    bound(entry.object, kAuditLimits.object);
    bound(entry.reason, kAuditLimits.reason);
    bound(entry.before, kAuditLimits.before);
    bound(entry.after, kAuditLimits.after);
    bound(entry.request_id, kAuditLimits.request_id);
    return entry;
}

std::string_view to_string(AuditResult result) {
    switch (result) {
        case AuditResult::kAllowed: return "allowed";
        case AuditResult::kRefused: return "refused";
        case AuditResult::kFailed: return "failed";
    }
    return "unknown";
}

}  // namespace pollux::model
