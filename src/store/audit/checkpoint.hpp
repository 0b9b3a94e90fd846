// A checkpoint: one signed line, outside of the store, that says how far the trail had come.
// Whoever cuts the trail before it is found out by it.
//
//   pollux-audit-1,<number>,<mac>,<time>,<key id>,<signature>
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/audit/audit_key.hpp"
#include "store/audit/audit_types.hpp"

namespace pollux::store {

inline constexpr const char* kCheckpointFile = "audit-checkpoints.log";

struct AuditCheckpoint {
    AuditHead head;
    std::string time;  // RFC 3339
    std::string key_id;
    std::string signature;  // 64 bytes
};

AuditCheckpoint make_checkpoint(const AuditKey& key, const AuditHead& head, base::WallTime at);
// Without a line end.
std::string to_line(const AuditCheckpoint& checkpoint);
// Only a line exactly as it is written; nothing otherwise. The signature is not looked at.
std::optional<AuditCheckpoint> parse_checkpoint(std::string_view line);
bool signed_by(const AuditKey& key, const AuditCheckpoint& checkpoint);

struct CheckpointLine {
    std::size_t line = 0;  // counts from 1
    std::string text;
    std::optional<AuditCheckpoint> checkpoint;  // nothing: not a checkpoint
};

struct CheckpointLines {
    std::vector<CheckpointLine> lines;
    bool torn = false;  // the last line had no end (a crash while it was written) and was left out
};

// Nothing if there is no such file. Fails with store.file. Blocks.
base::Result<std::optional<CheckpointLines>> read_checkpoints(const std::string& path);

}  // namespace pollux::store
