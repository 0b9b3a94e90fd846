#include "model/audit.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace pollux::model {
namespace {

TEST(AuditEntry, ShortFieldsStayAsTheyAre) {
    AuditEntry entry;
    entry.at = base::WallTime{5};
    entry.principal = "user:alice";
    entry.reason = "störung behoben";
    EXPECT_EQ(bounded(entry), entry);
}

TEST(AuditEntry, EveryFieldHasItsBound) {
    const std::string long_text(1 << 20, 'x');
    AuditEntry entry;
    for (std::string AuditEntry::* field :
         {&AuditEntry::principal, &AuditEntry::address, &AuditEntry::action, &AuditEntry::object,
          &AuditEntry::reason, &AuditEntry::before, &AuditEntry::after, &AuditEntry::request_id}) {
        entry.*field = long_text;
    }
    const AuditEntry kept = bounded(entry);
    EXPECT_EQ(kept.principal.size(), kAuditLimits.principal);
    EXPECT_EQ(kept.address.size(), kAuditLimits.address);
    EXPECT_EQ(kept.action.size(), kAuditLimits.action);
    EXPECT_EQ(kept.object.size(), kAuditLimits.object);
    EXPECT_EQ(kept.reason.size(), kAuditLimits.reason);
    EXPECT_EQ(kept.before.size(), kAuditLimits.before);
    EXPECT_EQ(kept.after.size(), kAuditLimits.after);
    EXPECT_EQ(kept.request_id.size(), kAuditLimits.request_id);
    EXPECT_TRUE(kept.reason.ends_with(kAuditCutMark));
}

TEST(AuditEntry, CutsBetweenCharactersAndMarksIt) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
        AuditEntry entry;
        entry.address = std::string(shift, 'a');
        while (entry.address.size() <= kAuditLimits.address) entry.address += "€";
        const std::string kept = bounded(entry).address;
        EXPECT_TRUE(base::is_valid_utf8(kept)) << shift;
        EXPECT_LE(kept.size(), kAuditLimits.address);
        EXPECT_TRUE(kept.ends_with(kAuditCutMark));
    }
}

TEST(AuditEntry, BytesThatAreNoTextAreReplaced) {
    AuditEntry entry;
    entry.reason = "\xff\xfe ok";
    EXPECT_TRUE(base::is_valid_utf8(bounded(entry).reason));
    entry.reason = std::string(100'000, '\xff');
    const std::string kept = bounded(entry).reason;
    EXPECT_TRUE(base::is_valid_utf8(kept));
    EXPECT_LE(kept.size(), kAuditLimits.reason);
}

TEST(AuditEntry, ExactlyTheLimitIsNotCut) {
    AuditEntry entry;
    entry.reason = std::string(kAuditLimits.reason, 'r');
    EXPECT_EQ(bounded(entry), entry);
}

}  // namespace
}  // namespace pollux::model
