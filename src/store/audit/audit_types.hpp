// What goes into the audit trail of a store and comes out of it. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/audit.hpp"

namespace pollux::store {

class AuditKey;

using AuditMac = std::array<unsigned char, 32>;

// The end of the chain: the newest record. Number 0: none yet.
struct AuditHead {
    std::uint64_t number = 0;
    AuditMac mac{};
    bool operator==(const AuditHead&) const = default;
};

struct AuditRetention {
    base::WallTime before;  // records from the oldest on that are older than this go
    base::WallTime now;     // time of the entry that says so
};

// Entries without an act: refusals, and what happened outside the store. With `retention` the
// oldest records go, a bounded number per batch; an entry tells which.
struct AuditBatch {
    std::vector<model::AuditEntry> entries;
    std::optional<AuditRetention> retention;
};

struct AuditCommit {
    std::uint64_t first = 0;    // number of the first entry; those of the others follow. 0: none
    std::uint64_t removed = 0;  // by retention; kMostAuditRemovals: there may be more
};

inline constexpr std::uint64_t kMostAuditRemovals = 2000;
inline constexpr std::size_t kMostAuditPerQuery = 1000;

struct AuditRecord {
    std::uint64_t number = 0;
    model::AuditEntry entry;
    bool damaged = false;  // the bytes could not be read; `pollux audit verify` says more
    bool operator==(const AuditRecord&) const = default;
};

// Newest first.
struct AuditQuery {
    std::uint64_t before = INT64_MAX;  // cursor: only records with a smaller number
    std::uint64_t after = 0;           // the same of the other order: only with a greater one
    bool oldest_first = false;
    std::optional<std::string> principal;
    std::optional<std::string> action;  // "breaker.reset", or "breaker." for all that begin so
    std::optional<std::string> object;
    std::optional<model::AuditResult> result;
    std::optional<base::WallTime> from;  // at or after
    std::optional<base::WallTime> to;    // before
    std::size_t limit = 100;             // at most kMostAuditPerQuery are returned
};

// Signed when the oldest records go: where the chain begins now.
struct AuditAnchor {
    std::uint64_t first = 1;  // number of the oldest record that was kept
    AuditMac before{};        // of the record in front of it
    base::WallTime at;
    std::uint64_t removed = 0;  // in all times together
    std::string signature;      // 64 bytes
    bool operator==(const AuditAnchor&) const = default;
};

struct AuditOptions {
    std::shared_ptr<const AuditKey> key;  // without one, a batch with entries is refused
    // Called from the store's thread after a commit with entries; must not block.
    std::function<void(const AuditHead& head)> committed;
};

}  // namespace pollux::store
