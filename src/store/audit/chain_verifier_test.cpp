#include "store/audit/chain_verifier.hpp"

#include <gtest/gtest.h>

#include "base/test_random.hpp"
#include "store/audit/audit_test_support.hpp"

namespace pollux::store {
namespace {

constexpr std::uint64_t kRecords = 200;

class ChainVerifierTest : public testing::Test {
  protected:
    std::vector<AuditFinding> verify(const std::vector<StoredAuditRow>& rows) const {
        ChainVerifier verifier(*key_, std::nullopt);
        for (const auto& row : rows) verifier.take(row);
        EXPECT_EQ(verifier.found(), verifier.findings().size());
        return verifier.findings();
    }
    bool finds(const std::vector<AuditFinding>& findings, std::string_view code,
               std::uint64_t number) const {
        for (const auto& one : findings) {
            if (one.code == code && one.number == number) return true;
        }
        return false;
    }

    std::shared_ptr<const AuditKey> key_ = AuditKey::random();
    std::vector<StoredAuditRow> rows_ = audit_rows(key_, kRecords);
};

TEST_F(ChainVerifierTest, FindsNothingInATrailAsItWasWritten) {
    EXPECT_TRUE(verify(rows_).empty());
}

// Every single bit: the record before is right, so it is enough to look at this one.
TEST_F(ChainVerifierTest, FindsEveryFlippedBitOfEveryRecord) {
    ChainVerifier so_far(*key_, std::nullopt);
    std::uint64_t bits = 0;
    for (const auto& row : rows_) {
        StoredAuditRow changed = row;
        for (std::size_t bit = 0; bit < row.bytes.size() * 8; ++bit) {
            const char mask = static_cast<char>(1U << (bit % 8));
            changed.bytes[bit / 8] = static_cast<char>(changed.bytes[bit / 8] ^ mask);
            ChainVerifier verifier = so_far;
            verifier.take(changed);
            ASSERT_TRUE(finds(verifier.findings(), "audit.changed", row.number))
                << "record " << row.number << " bit " << bit;
            changed.bytes[bit / 8] = row.bytes[bit / 8];
            ++bits;
        }
        so_far.take(row);
        ASSERT_TRUE(so_far.findings().empty());
    }
    EXPECT_GT(bits, kRecords * 800);
}

TEST_F(ChainVerifierTest, FindsEveryFlippedBitOfAMacAndSaysThatItIsTheMac) {
    base::TestRandom random(5);
    for (std::uint64_t number = 1; number < kRecords; ++number) {
        auto rows = rows_;
        char& byte = rows[number - 1].mac[random.below(32)];
        byte = static_cast<char>(byte ^ static_cast<char>(1U << random.below(8)));
        const auto findings = verify(rows);
        ASSERT_EQ(findings.size(), 1u) << number;
        EXPECT_EQ(findings[0].code, "audit.mac_changed");
        EXPECT_EQ(findings[0].number, number);
    }
    auto rows = rows_;
    rows.back().mac[0] = static_cast<char>(rows.back().mac[0] ^ 1);
    EXPECT_TRUE(finds(verify(rows), "audit.changed", kRecords));
    rows.back().mac = "short";
    EXPECT_TRUE(finds(verify(rows), "audit.changed", kRecords));
}

TEST_F(ChainVerifierTest, AChangedRecordIsOneFindingAndTheOthersStillFit) {
    auto rows = rows_;
    rows[99].bytes.back() = '!';
    const auto findings = verify(rows);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "audit.changed");
    EXPECT_EQ(findings[0].number, 100u);
}

TEST_F(ChainVerifierTest, FindsEachDeletedRecordButTheLast) {
    for (std::uint64_t number = 1; number < kRecords; ++number) {
        auto rows = rows_;
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(number - 1));
        ASSERT_TRUE(finds(verify(rows), "audit.missing", number)) << number;
    }
}

TEST_F(ChainVerifierTest, FindsDeletedRecordsWhoseNumbersWereClosedUp) {
    for (std::uint64_t number = 1; number < kRecords; ++number) {
        auto rows = rows_;
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(number - 1));
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].number = i + 1;
        const auto findings = verify(rows);
        ASSERT_TRUE(finds(findings, "audit.moved", number)) << number;
        ASSERT_TRUE(finds(findings, "audit.changed", number)) << number;
    }
}

TEST_F(ChainVerifierTest, FindsEachSwapOfNeighboursAndOfOthers) {
    base::TestRandom random(6);
    for (std::uint64_t number = 1; number < kRecords; ++number) {
        auto rows = rows_;
        const std::uint64_t other =
            number % 2 == 0 ? number + 1 : number + 1 + random.below(kRecords - number);
        std::swap(rows[number - 1], rows[other - 1]);
        std::swap(rows[number - 1].number, rows[other - 1].number);
        const auto findings = verify(rows);
        ASSERT_TRUE(finds(findings, "audit.moved", number)) << number << " " << other;
        ASSERT_TRUE(finds(findings, "audit.moved", other)) << number << " " << other;
    }
}

TEST_F(ChainVerifierTest, FindsATruncatedRecord) {
    for (std::uint64_t number = 1; number <= kRecords; ++number) {
        auto rows = rows_;
        rows[number - 1].bytes.resize(rows[number - 1].bytes.size() / 2);
        const auto findings = verify(rows);
        ASSERT_TRUE(finds(findings, "audit.changed", number)) << number;
        ASSERT_TRUE(finds(findings, "audit.unreadable", number)) << number;
    }
}

TEST_F(ChainVerifierTest, FindsColumnsThatSayAnotherThanTheRecord) {
    const auto change = [&](auto edit) {
        auto rows = rows_;
        edit(rows[9]);
        const auto findings = verify(rows);
        ASSERT_EQ(findings.size(), 1u);
        EXPECT_EQ(findings[0].code, "audit.copy");
        EXPECT_EQ(findings[0].number, 10u);
    };
    change([](StoredAuditRow& row) { row.principal = "user:mallory"; });
    change([](StoredAuditRow& row) { row.action = "x"; });
    change([](StoredAuditRow& row) { row.object = "x"; });
    change([](StoredAuditRow& row) { row.result = 2; });
    change([](StoredAuditRow& row) { row.at = base::WallTime{1}; });
}

TEST_F(ChainVerifierTest, RecordsUnderAnotherKeyAreFound) {
    const auto other = AuditKey::random();
    ChainVerifier verifier(*other, std::nullopt);
    for (const auto& row : rows_) verifier.take(row);
    EXPECT_EQ(verifier.found(), kRecords);
    // Also when they claim to be under this one.
    ChainVerifier claimed(*other, std::nullopt);
    for (auto row : rows_) {
        row.key_id = other->id();
        claimed.take(row);
    }
    EXPECT_EQ(claimed.found(), kRecords);
}

TEST_F(ChainVerifierTest, AnAnchorMustBeSigned) {
    AuditChain chain(key_, {});
    AuditMac before{};
    for (std::uint64_t i = 1; i <= 50; ++i) before = chain.append(audit_entry(i)).mac;
    AuditAnchor anchor = chain.anchor(51, before, base::WallTime{5}, 50);
    const auto check = [&](const AuditAnchor& used) {
        ChainVerifier verifier(*key_, used);
        for (std::size_t i = 50; i < rows_.size(); ++i) verifier.take(rows_[i]);
        return verifier.findings();
    };
    EXPECT_TRUE(check(anchor).empty());
    AuditAnchor forged = anchor;
    forged.removed = 10;
    EXPECT_TRUE(finds(check(forged), "audit.anchor", 51));
    forged = anchor;
    forged.first = 61;
    EXPECT_TRUE(finds(check(forged), "audit.anchor", 61));
    // Without it the beginning is missing.
    ChainVerifier verifier(*key_, std::nullopt);
    for (std::size_t i = 50; i < rows_.size(); ++i) verifier.take(rows_[i]);
    EXPECT_TRUE(finds(verifier.findings(), "audit.missing", 1));
}

TEST_F(ChainVerifierTest, KeepsABoundedListAndCountsTheRest) {
    auto rows = audit_rows(key_, 1500);
    for (auto& row : rows) row.object = "other";
    ChainVerifier verifier(*key_, std::nullopt);
    for (const auto& row : rows) verifier.take(row);
    EXPECT_EQ(verifier.findings().size(), kMostAuditFindings);
    EXPECT_EQ(verifier.found(), 1500u);
}

}  // namespace
}  // namespace pollux::store
