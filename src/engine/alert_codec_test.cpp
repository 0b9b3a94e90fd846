#include "engine/alert_codec.hpp"

#include <gtest/gtest.h>

#include "base/test_random.hpp"
#include "engine/codec_samples.hpp"

namespace pollux::engine {
namespace {

TEST(AlertCodec, RoundTripOfEveryField) {
    for (const auto& alert : {sample_alert(), model::Alert{}}) {
        const auto back = decode_alert(encode_alert(alert));
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ(*back, alert);
    }
    for (const auto& incident : {sample_incident(), model::Incident{}}) {
        const auto back = decode_incident(encode_incident(incident));
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ(*back, incident);
    }
}

TEST(AlertCodec, RefusesCutOffAndLeftOver) {
    const std::string alert = encode_alert(sample_alert());
    for (std::size_t length = 0; length < alert.size(); ++length) {
        ASSERT_FALSE(decode_alert(std::string_view(alert).substr(0, length))) << length;
    }
    const std::string incident = encode_incident(sample_incident());
    for (std::size_t length = 0; length < incident.size(); ++length) {
        ASSERT_FALSE(decode_incident(std::string_view(incident).substr(0, length))) << length;
    }
    EXPECT_EQ(decode_alert(alert + "x").error().message, "alert: 1 bytes are left over");
    EXPECT_EQ(decode_incident(incident + "xy").error().message, "incident: 2 bytes are left over");
}

TEST(AlertCodec, RefusesAnotherVersionAndSaysSo) {
    std::string bytes = encode_alert(sample_alert());
    bytes[0] = 2;
    const auto alert = decode_alert(bytes);
    ASSERT_FALSE(alert);
    EXPECT_EQ(alert.error().code, "codec.version");
    bytes = encode_incident(sample_incident());
    bytes[0] = 0;
    const auto incident = decode_incident(bytes);
    ASSERT_FALSE(incident);
    EXPECT_EQ(incident.error().code, "codec.version");
}

TEST(AlertCodec, LabelsHaveOneOrder) {
    std::string bytes = encode_alert(sample_alert());
    const std::size_t site = bytes.find("site");
    ASSERT_NE(site, std::string::npos);
    bytes[site] = 'z';
    const auto back = decode_alert(bytes);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().message, "alert: its labels are not in order");
}

TEST(AlertCodec, WhatIsAcceptedIsWrittenAsItWasRead) {
    base::TestRandom random(12);
    const std::string alert = encode_alert(sample_alert());
    const std::string incident = encode_incident(sample_incident());
    int accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = i % 2 == 0 ? alert : incident;
        for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
            bytes[random.below(bytes.size())] = static_cast<char>(random.next());
        }
        if (i % 2 == 0) {
            const auto back = decode_alert(bytes);
            if (!back) continue;
            ASSERT_EQ(encode_alert(*back), bytes);
        } else {
            const auto back = decode_incident(bytes);
            // What an older build wrote is written as this one does.
            if (!back || bytes[0] != kIncidentVersion) continue;
            ASSERT_EQ(encode_incident(*back), bytes);
        }
        ++accepted;
    }
    EXPECT_GT(accepted, 100);
}

// A row on disk must be readable by every later build: these bytes never change for their version.
TEST(AlertCodec, KnownBytes) {
    model::Incident incident;
    incident.id = "i";
    incident.number = 300;
    incident.title = "t";
    incident.opened_at = base::WallTime{1};
    incident.notes = {{base::WallTime{2}, "b", "x"}};
    const std::string first(
        "\x01\x01i\xac\x02\x00\x00\x00\x01t\x01\x02\x00\x00\x01\x04\x01"
        "b\x01x\x00\x00\x01",
        23);
    const auto back = decode_incident(first);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, incident);
    incident.notes[0].shown = true;
    EXPECT_EQ(encode_incident(incident),
              std::string("\x02\x01i\xac\x02\x00\x00\x00\x01t\x01\x02\x00\x00\x01\x04\x01"
                          "b\x01x\x01\x00\x00\x01",
                          24));
    model::Alert alert;
    alert.id = "a";
    alert.number = 1;
    alert.labels = {{"k", "v"}};
    alert.groups = {"g"};
    EXPECT_EQ(encode_alert(alert),
              std::string("\x01\x01"
                          "a\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01k\x01v\x01\x01g"
                          "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00"
                          "\x00\x00\x00\x00\x00\x01\x00",
                          44));
}

}  // namespace
}  // namespace pollux::engine
