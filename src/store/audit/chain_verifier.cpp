#include "store/audit/chain_verifier.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "engine/audit_codec.hpp"
#include "store/audit/audit_chain.hpp"

namespace pollux::store {

ChainVerifier::ChainVerifier(const AuditKey& key, const std::optional<AuditAnchor>& anchor)
    : key_(key), last_(0), previous_(AuditMac{}) {
    if (!anchor) return;
    begins_at_ = anchor->first;
    last_ = anchor->first - 1;
    previous_ = anchor->before;
    if (!key_.verify(anchor_text(*anchor), anchor->signature)) {
        find("audit.anchor", anchor->first,
             fmt::format("the anchor that says that the trail begins at record {} is not signed by "
                         "the key {}",
                         anchor->first, key_.id()));
    }
}

void ChainVerifier::find(std::string code, std::uint64_t number, std::string text) {
    ++found_;
    if (findings_.size() >= kMostAuditFindings) return;
    findings_.push_back({std::move(code), number, std::move(text)});
}

std::optional<std::string> ChainVerifier::mac_of(std::uint64_t number) const {
    const auto found = watched_.find(number);
    return found == watched_.end() ? std::nullopt : found->second;
}

void ChainVerifier::take(const StoredAuditRow& row) {
    if (row.number < begins_at_) {
        find("audit.anchor", row.number,
             fmt::format("record {} is there although the trail begins at {}", row.number,
                         begins_at_));
        return;
    }
    ++records_;
    if (first_ == 0) first_ = row.number;
    check_links(row);
    check_content(row);
    last_ = row.number;
    if (const auto watched = watched_.find(row.number); watched != watched_.end()) {
        watched->second = row.mac;
    }
}

void ChainVerifier::check_links(const StoredAuditRow& row) {
    if (row.number != last_ + 1) {
        const std::uint64_t count = row.number - last_ - 1;
        find("audit.missing", last_ + 1,
             count == 1 ? fmt::format("record {} is missing", last_ + 1)
                        : fmt::format("records {} to {} are missing", last_ + 1, row.number - 1));
        previous_.reset();
        instead_.reset();
    }
    AuditMac stored{};
    const bool whole = row.mac.size() == stored.size();
    if (whole) std::memcpy(stored.data(), row.mac.data(), stored.size());
    if (row.key_id != key_.id()) {
        find("audit.unknown_key", row.number,
             fmt::format("record {} says it was made under the key {}, not {}: it cannot be "
                         "checked",
                         row.number, base::quoted(row.key_id), key_.id()));
        previous_ = stored;
        instead_.reset();
        return;
    }
    if (!previous_) {
        // The one before is gone, so the link cannot be followed; those after can.
        find("audit.unchecked", row.number,
             fmt::format("record {} cannot be checked without the one before it", row.number));
        previous_ = stored;
        return;
    }
    const AuditMac expected = key_.mac(*previous_, row.bytes);
    if (whole && expected == stored) {
        instead_.reset();
        previous_ = stored;
        return;
    }
    if (instead_ && whole && key_.mac(*instead_, row.bytes) == stored) {
        // This one is linked to what the bytes of the one before give: those bytes are right.
        if (!findings_.empty() && findings_.back().code == "audit.changed" &&
            findings_.back().number == row.number - 1) {
            findings_.back().code = "audit.mac_changed";
            findings_.back().text =
                fmt::format("the mac of record {} was changed; its content is as it was written",
                            row.number - 1);
        }
        instead_.reset();
        previous_ = stored;
        return;
    }
    find("audit.changed", row.number,
         fmt::format("record {} was changed: its content does not fit its mac", row.number));
    instead_ = expected;
    previous_ = stored;
}

void ChainVerifier::check_content(const StoredAuditRow& row) {
    const auto read = engine::decode_audit(row.bytes);
    if (!read) {
        find("audit.unreadable", row.number,
             fmt::format("record {} cannot be read: {}", row.number, read.error().message));
        return;
    }
    if (read->number != row.number) {
        find("audit.moved", row.number,
             fmt::format("record {} holds the content of record {}", row.number, read->number));
        return;
    }
    const model::AuditEntry& entry = read->entry;
    const bool same = entry.at == row.at && entry.principal == row.principal &&
                      entry.action == row.action && entry.object == row.object &&
                      static_cast<std::int64_t>(entry.result) == row.result;
    if (!same) {
        find("audit.copy", row.number,
             fmt::format("record {}: the columns to search by say something else than the record",
                         row.number));
    }
}

}  // namespace pollux::store
