#include "store/audit/audit_chain.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "engine/audit_codec.hpp"

namespace pollux::store {

base::Status AuditChain::writable() const {
    if (key_) return {};
    return base::config_error("store.audit_key",
                              "store: it was opened without the key of the audit trail, so an act "
                              "that must be recorded cannot be committed");
}

ChainedRecord AuditChain::append(const model::AuditEntry& entry) {
    POLLUX_CHECK(key_ != nullptr);
    ChainedRecord record;
    record.number = head_.number + 1;
    record.entry = model::bounded(entry);
    record.bytes = engine::encode_audit(record.number, record.entry);
    record.mac = key_->mac(head_.mac, record.bytes);
    record.key_id = key_->id();
    head_ = {record.number, record.mac};
    return record;
}

AuditAnchor AuditChain::anchor(std::uint64_t first, const AuditMac& before, base::WallTime at,
                               std::uint64_t removed) const {
    POLLUX_CHECK(key_ != nullptr);
    AuditAnchor anchor{first, before, at, removed, {}};
    anchor.signature = key_->sign(anchor_text(anchor));
    return anchor;
}

model::AuditEntry AuditChain::retention_entry(const AuditAnchor& anchor, std::uint64_t oldest,
                                              base::WallTime older_than) {
    model::AuditEntry entry;
    entry.at = anchor.at;
    entry.principal = "system";
    entry.action = "audit.retention";
    entry.object = fmt::format("records {} to {}", oldest, anchor.first - 1);
    entry.reason = fmt::format("older than {}", base::format_utc(older_than));
    entry.before = fmt::format(R"({{"first":{}}})", oldest);
    entry.after = fmt::format(R"({{"first":{},"removed":{},"mac_before":"{}"}})", anchor.first,
                              anchor.removed, audit_hex(anchor.before));
    return entry;
}

std::string anchor_text(const AuditAnchor& anchor) {
    return fmt::format("pollux audit anchor 1\n{}\n{}\n{}\n{}", anchor.first,
                       audit_hex(anchor.before), anchor.at.us, anchor.removed);
}

}  // namespace pollux::store
