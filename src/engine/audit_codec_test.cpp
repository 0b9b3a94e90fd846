#include "engine/audit_codec.hpp"

#include <gtest/gtest.h>

#include "base/test_random.hpp"

namespace pollux::engine {
namespace {

model::AuditEntry sample() {
    model::AuditEntry entry;
    entry.at = base::WallTime{1'790'000'000'123'456};
    entry.principal = "user:alice";
    entry.address = "2001:db8::1";
    entry.action = "breaker.reset";
    entry.object = "pve::pve-node1";
    entry.result = model::AuditResult::kFailed;
    entry.reason = "Störung behoben";
    entry.before = R"({"breaker":"open"})";
    entry.after = R"({"breaker":"half_open"})";
    entry.request_id = "7f3a";
    return entry;
}

TEST(AuditCodec, GivesBackEveryField) {
    const std::string bytes = encode_audit(300, sample());
    const auto back = decode_audit(bytes);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->number, 300u);
    EXPECT_EQ(back->entry, sample());
    EXPECT_EQ(encode_audit(back->number, back->entry), bytes);
}

TEST(AuditCodec, RefusesCutOffAndLeftOver) {
    const std::string bytes = encode_audit(1, sample());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode_audit(std::string_view(bytes).substr(0, length))) << length;
    }
    const auto back = decode_audit(bytes + "x");
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().message, "audit record: 1 bytes are left over");
}

TEST(AuditCodec, RefusesAnotherVersionAndSaysSo) {
    std::string bytes = encode_audit(1, sample());
    bytes[0] = 2;
    const auto back = decode_audit(bytes);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, "codec.version");
    EXPECT_NE(back.error().message.find("found 2, this program reads 1"), std::string::npos);
}

TEST(AuditCodec, RefusesAFieldPastItsBound) {
    model::AuditEntry entry = sample();
    entry.address = std::string(model::kAuditLimits.address + 1, 'a');
    const auto back = decode_audit(encode_audit(1, entry));
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().message,
              "audit record: field address has 65 bytes, at most 64 are written");
}

TEST(AuditCodec, WhatIsAcceptedIsWrittenAsItWasRead) {
    base::TestRandom random(11);
    const std::string original = encode_audit(4711, sample());
    int accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = original;
        for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
            bytes[random.below(bytes.size())] = static_cast<char>(random.next());
        }
        const auto back = decode_audit(bytes);
        if (!back) continue;
        ++accepted;
        ASSERT_EQ(encode_audit(back->number, back->entry), bytes);
    }
    EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace pollux::engine
