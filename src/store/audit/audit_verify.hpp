// Looks at a whole trail: every record, its links, the anchor, and the checkpoints outside.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/audit/chain_verifier.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

struct AuditReport {
    std::uint64_t records = 0;
    std::uint64_t first = 0;  // 0: none
    std::uint64_t last = 0;
    std::uint64_t removed = 0;  // by retention, in all times
    std::size_t checkpoints = 0;
    std::uint64_t newest_checkpoint = 0;
    std::string newest_checkpoint_time;
    std::uint64_t found = 0;             // all findings
    std::vector<AuditFinding> findings;  // at most kMostAuditFindings
};

// state.db of a data folder, to be read only; beside a running server too. Fails with store.* when
// it is not there or cannot be read.
base::Result<std::unique_ptr<Database>> open_state_for_reading(const std::string& data_folder);

// Reads everything; blocks for as long as that takes. An error means that it could not look; what
// is wrong with the trail is a finding.
base::Result<AuditReport> verify_audit(Database& database, const AuditKey& key,
                                       const std::string& checkpoint_file);

}  // namespace pollux::store
