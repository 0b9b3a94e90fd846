// The checking end of the trail: takes the rows of a store one by one in the order of their numbers
// and says what is wrong with them. Pure but for the key; no I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/audit/audit_key.hpp"
#include "store/audit/audit_types.hpp"

namespace pollux::store {

// A row as it lies in a store, copies to search by included.
struct StoredAuditRow {
    std::uint64_t number = 0;
    base::WallTime at;
    std::string principal;
    std::string action;
    std::string object;
    std::int64_t result = 0;
    std::string key_id;
    std::string bytes;
    std::string mac;
};

// Stable codes: audit.changed, audit.mac_changed, audit.unreadable, audit.missing, audit.moved,
// audit.copy, audit.unknown_key, audit.unchecked, audit.anchor, audit.cut, audit.rewritten,
// audit.checkpoint, audit.checkpoint_order, audit.no_checkpoints.
struct AuditFinding {
    std::string code;
    std::uint64_t number = 0;  // of the first record concerned; 0: none
    std::string text;          // for people
};

// More are counted, not kept.
inline constexpr std::size_t kMostAuditFindings = 1000;

class ChainVerifier {
  public:
    // `anchor`: where the chain begins, when records were removed by retention.
    ChainVerifier(const AuditKey& key, const std::optional<AuditAnchor>& anchor);

    // The numbers of the rows must rise.
    void take(const StoredAuditRow& row);

    // Records with these numbers are remembered with their macs, for checkpoints.
    void watch(std::uint64_t number) { watched_[number]; }
    // Nothing if there is no such record.
    std::optional<std::string> mac_of(std::uint64_t number) const;

    std::uint64_t records() const { return records_; }
    std::uint64_t first() const { return first_; }  // of the rows; 0: none
    std::uint64_t begins_at() const { return begins_at_; }
    std::uint64_t last() const { return last_; }
    std::uint64_t found() const { return found_; }
    const std::vector<AuditFinding>& findings() const { return findings_; }
    void find(std::string code, std::uint64_t number, std::string text);

  private:
    void check_links(const StoredAuditRow& row);
    void check_content(const StoredAuditRow& row);

    const AuditKey& key_;
    std::uint64_t begins_at_ = 1;
    std::uint64_t records_ = 0;
    std::uint64_t first_ = 0;
    std::uint64_t last_;
    // What the next record is linked to; nothing after a gap.
    std::optional<AuditMac> previous_;
    // The last record did not fit its mac: this is what its bytes would give.
    std::optional<AuditMac> instead_;
    std::map<std::uint64_t, std::optional<std::string>> watched_;
    std::uint64_t found_ = 0;
    std::vector<AuditFinding> findings_;
};

}  // namespace pollux::store
