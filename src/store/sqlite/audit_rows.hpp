// The tables of the audit trail in state.db: reading, by the backend and by commands that look at a
// data folder without a server, and the one row that says where the chain begins.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/audit/audit_types.hpp"
#include "store/audit/chain_verifier.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

// Zeros if the bytes have another length: no mac of a record is that.
AuditMac mac_of(std::string_view bytes);

base::Result<std::optional<AuditAnchor>> read_anchor(Database& database);
base::Status write_anchor(Database& database, const AuditAnchor& anchor);

base::Result<std::vector<AuditRecord>> read_audit(Database& database, const AuditQuery& query);

// All that match, oldest first; `before` and `limit` of the query do not count. `take` returns
// false to stop.
base::Status each_audit_record(Database& database, const AuditQuery& query,
                               const std::function<bool(const AuditRecord& record)>& take);

// Every row with number >= from in order, as it lies there; `take` returns false to stop.
base::Status each_audit_row(Database& database, std::uint64_t from,
                            const std::function<bool(const StoredAuditRow& row)>& take);

}  // namespace pollux::store
