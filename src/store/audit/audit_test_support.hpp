// For the tests of the trail: entries, rows as a store would hold them, a key.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "store/audit/audit_chain.hpp"
#include "store/audit/chain_verifier.hpp"
#include "store/store.hpp"

namespace pollux::store {

inline model::AuditEntry audit_entry(std::uint64_t i) {
    model::AuditEntry entry;
    entry.at = base::WallTime{1'790'000'000'000'000 + static_cast<std::int64_t>(i) * 1'000'000};
    entry.principal = i % 3 == 0 ? "user:alice" : "token:ci";
    entry.address = "192.0.2.7";
    entry.action = i % 2 == 0 ? "breaker.reset" : "dlq.retry";
    entry.object = fmt::format("pve::node{}", i % 5);
    entry.result = i % 7 == 0 ? model::AuditResult::kRefused : model::AuditResult::kAllowed;
    entry.reason = fmt::format("Störung {} behoben", i);
    entry.before = R"({"breaker":"open","failures":7})";
    entry.after = R"({"breaker":"half_open","failures":7})";
    entry.request_id = fmt::format("req-{}", i);
    return entry;
}

inline StoredAuditRow row_of(const ChainedRecord& record) {
    StoredAuditRow row;
    row.number = record.number;
    row.at = record.entry.at;
    row.principal = record.entry.principal;
    row.action = record.entry.action;
    row.object = record.entry.object;
    row.result = static_cast<std::int64_t>(record.entry.result);
    row.key_id = record.key_id;
    row.bytes = record.bytes;
    row.mac = std::string(reinterpret_cast<const char*>(record.mac.data()), record.mac.size());
    return row;
}

inline std::vector<StoredAuditRow> audit_rows(const std::shared_ptr<const AuditKey>& key,
                                              std::uint64_t count) {
    AuditChain chain(key, {});
    std::vector<StoredAuditRow> rows;
    for (std::uint64_t i = 1; i <= count; ++i) rows.push_back(row_of(chain.append(audit_entry(i))));
    return rows;
}

// Submits and waits.
inline base::Result<AuditCommit> apply(Store& store, AuditBatch batch) {
    auto result = std::make_shared<std::optional<base::Result<AuditCommit>>>();
    auto accepted = store.submit(std::move(batch), [result](auto answer) { *result = answer; });
    if (!accepted) return std::unexpected(accepted.error());
    store.flush();
    return result->value();
}

inline void append_entries(Store& store, std::uint64_t first, std::uint64_t count) {
    AuditBatch batch;
    for (std::uint64_t i = first; i < first + count; ++i) batch.entries.push_back(audit_entry(i));
    if (!apply(store, std::move(batch))) std::abort();
}

}  // namespace pollux::store
