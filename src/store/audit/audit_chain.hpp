// The writing end of the trail: gives entries their numbers and links each record to the one before
// it. A value: a backend works on a copy and takes it over when the transaction was committed.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "store/audit/audit_key.hpp"
#include "store/audit/audit_types.hpp"

namespace pollux::store {

// A record as it lies in a store.
struct ChainedRecord {
    std::uint64_t number = 0;
    model::AuditEntry entry;  // within its bounds
    std::string bytes;        // canonical
    AuditMac mac{};
    std::string key_id;
};

class AuditChain {
  public:
    AuditChain() = default;
    AuditChain(std::shared_ptr<const AuditKey> key, AuditHead head)
        : key_(std::move(key)), head_(head) {}

    // Fails with store.audit_key when the store was opened without a key.
    base::Status writable() const;
    // The next record; only when writable().
    ChainedRecord append(const model::AuditEntry& entry);
    // Where the chain begins when the records before `first` are gone; only when writable().
    AuditAnchor anchor(std::uint64_t first, const AuditMac& before, base::WallTime at,
                       std::uint64_t removed) const;
    // The entry that tells of a retention.
    static model::AuditEntry retention_entry(const AuditAnchor& anchor, std::uint64_t oldest,
                                             base::WallTime older_than);

    const AuditHead& head() const { return head_; }

  private:
    std::shared_ptr<const AuditKey> key_;
    AuditHead head_;
};

// What is signed of an anchor.
std::string anchor_text(const AuditAnchor& anchor);

}  // namespace pollux::store
