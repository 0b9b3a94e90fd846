// SqliteBackend: the audit trail. Numbers and links come from the chain in memory, which is a copy
// of the newest row; only the store's thread writes, so nobody can come in between.
#include <fmt/format.h>

#include <algorithm>

#include "engine/audit_codec.hpp"
#include "store/sqlite/audit_rows.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

std::string_view view_of(const AuditMac& mac) {
    return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

}  // namespace

base::Status SqliteBackend::find_audit_head() {
    AuditHead head;
    {
        auto statement =
            writer_->prepare("SELECT number, mac FROM audit ORDER BY number DESC LIMIT 1");
        if (!statement) return std::unexpected(std::move(statement.error()));
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (*row) head = {statement->unsigned_integer(0), mac_of(statement->blob(1))};
    }
    if (head.number == 0) {
        auto anchor = read_anchor(*writer_);
        if (!anchor) return std::unexpected(std::move(anchor.error()));
        if (*anchor) head = {(*anchor)->first - 1, (*anchor)->before};
    }
    take_audit(AuditChain(options_.audit.key, head));
    return {};
}

AuditHead SqliteBackend::audit_head() {
    const std::scoped_lock lock(head_mutex_);
    return head_;
}

void SqliteBackend::take_audit(AuditChain chain) {
    chain_ = std::move(chain);
    const std::scoped_lock lock(head_mutex_);
    head_ = chain_.head();
}

base::Status SqliteBackend::write_audit(AuditChain& chain,
                                        const std::vector<model::AuditEntry>& entries) {
    if (entries.empty()) return {};
    if (auto status = chain.writable(); !status) return status;
    // A number is never given twice: were it there already, this fails and changes nothing.
    auto statement =
        writer_->prepare("INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& entry : entries) {
        const ChainedRecord record = chain.append(entry);
        statement->bind(1, record.number);
        statement->bind(2, record.entry.at.us);
        statement->bind(3, std::string_view(record.entry.principal));
        statement->bind(4, std::string_view(record.entry.action));
        statement->bind(5, std::string_view(record.entry.object));
        statement->bind(6, static_cast<int>(record.entry.result));
        statement->bind(7, std::string_view(record.key_id));
        statement->bind_blob(8, record.bytes);
        statement->bind_blob(9, view_of(record.mac));
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

base::Result<AuditCommit> SqliteBackend::commit(const AuditBatch& batch) {
    AuditCommit result;
    if (batch.entries.empty() && !batch.retention) return result;
    AuditChain chain = chain_;
    if (!batch.entries.empty()) result.first = chain.head().number + 1;
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        if (auto done = write_audit(chain, batch.entries); !done) return done;
        if (!batch.retention) return {};
        auto removed = trim_audit(chain, *batch.retention);
        if (!removed) return std::unexpected(std::move(removed.error()));
        result.removed = *removed;
        return {};
    });
    if (!status) return std::unexpected(std::move(status.error()));
    take_audit(std::move(chain));
    return result;
}

// Only a run of old records at the beginning goes: what stays has no gap, whatever the clock did.
base::Result<std::uint64_t> SqliteBackend::trim_audit(AuditChain& chain,
                                                      const AuditRetention& retention) {
    std::uint64_t oldest = 0;
    std::uint64_t removed = 0;
    AuditMac before{};
    {
        auto statement =
            writer_->prepare("SELECT number, at, mac FROM audit ORDER BY number LIMIT ?1");
        if (!statement) return std::unexpected(std::move(statement.error()));
        statement->bind(1, kMostAuditRemovals);
        for (;;) {
            auto row = statement->step();
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row || statement->integer(1) >= retention.before.us) break;
            if (removed == 0) oldest = statement->unsigned_integer(0);
            // What was not in order before is not made to look so.
            if (statement->unsigned_integer(0) != oldest + removed) break;
            before = mac_of(statement->blob(2));
            ++removed;
        }
    }
    if (removed == 0) return removed;
    if (auto status = chain.writable(); !status) return std::unexpected(status.error());
    auto known = read_anchor(*writer_);
    if (!known) return std::unexpected(std::move(known.error()));
    const std::uint64_t in_all = removed + (*known ? (*known)->removed : 0);
    const AuditAnchor anchor = chain.anchor(oldest + removed, before, retention.now, in_all);
    if (auto status = write_anchor(*writer_, anchor); !status) {
        return std::unexpected(std::move(status.error()));
    }
    {
        auto statement = writer_->prepare("DELETE FROM audit WHERE number < ?1");
        if (!statement) return std::unexpected(std::move(statement.error()));
        statement->bind(1, anchor.first);
        if (auto status = statement->run(); !status) {
            return std::unexpected(std::move(status.error()));
        }
    }
    auto told = write_audit(chain, {AuditChain::retention_entry(anchor, oldest, retention.before)});
    if (!told) return std::unexpected(std::move(told.error()));
    return removed;
}

base::Result<std::vector<AuditRecord>> SqliteBackend::audit(const AuditQuery& query) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    return read_audit(*reader_, query);
}

}  // namespace pollux::store
