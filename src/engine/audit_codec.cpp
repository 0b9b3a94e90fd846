#include "engine/audit_codec.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.hpp"
#include "engine/field_reader.hpp"

namespace pollux::engine {
namespace {

using model::AuditEntry;
using model::kAuditLimits;

struct TextField {
    std::string_view name;
    std::string AuditEntry::* member;
    std::size_t limit;
};

// In the order of the bytes.
constexpr TextField kTexts[] = {
    {"principal", &AuditEntry::principal, kAuditLimits.principal},
    {"address", &AuditEntry::address, kAuditLimits.address},
    {"action", &AuditEntry::action, kAuditLimits.action},
    {"object", &AuditEntry::object, kAuditLimits.object},
    {"reason", &AuditEntry::reason, kAuditLimits.reason},
    {"before", &AuditEntry::before, kAuditLimits.before},
    {"after", &AuditEntry::after, kAuditLimits.after},
    {"request_id", &AuditEntry::request_id, kAuditLimits.request_id},
};

std::unexpected<base::Error> damaged(std::string text) {
    return base::config_error("codec.damaged", "audit record: " + std::move(text));
}

}  // namespace

std::string encode_audit(std::uint64_t number, const AuditEntry& entry) {
    base::ByteWriter out;
    out.u8(kAuditVersion);
    out.varint(number);
    out.zigzag(entry.at.us);
    out.u8(std::to_underlying(entry.result));
    for (const TextField& field : kTexts) out.string(entry.*field.member);
    return out.take();
}

base::Result<NumberedEntry> decode_audit(std::string_view bytes) {
    base::ByteReader in(bytes);
    FieldReader fields(in, "audit record");
    fields.version(kAuditVersion);
    NumberedEntry read;
    read.number = fields.u64("number");
    read.entry.at = fields.wall("at");
    read.entry.result = fields.choice("result", model::AuditResult::kFailed);
    for (const TextField& field : kTexts) {
        std::string text = fields.text(field.name);
        if (text.size() > field.limit) {
            return damaged(fmt::format("field {} has {} bytes, at most {} are written", field.name,
                                       text.size(), field.limit));
        }
        read.entry.*field.member = std::move(text);
    }
    if (!fields.ok()) return std::unexpected(fields.error());
    if (!in.at_end()) return damaged(fmt::format("{} bytes are left over", in.remaining()));
    return read;
}

}  // namespace pollux::engine
