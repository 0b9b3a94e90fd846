#include "engine/record_codec.hpp"

#include <gtest/gtest.h>

#include "engine/codec_samples.hpp"

namespace pollux::engine {
namespace {

std::string bytes_of(const model::TaskRecord& record) {
    base::ByteWriter out;
    encode(out, record);
    return out.take();
}

TEST(RecordCodec, RoundTripOfEveryField) {
    for (const auto& record : {sample_record(), model::TaskRecord{}}) {
        const std::string bytes = bytes_of(record) + "next";
        base::ByteReader in{std::string_view(bytes)};
        const auto back = decode_task_record(in);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ(*back, record);
        EXPECT_EQ(in.remaining(), 4u);
    }
}

TEST(RecordCodec, LeastSizeIsRight) {
    EXPECT_EQ(bytes_of(model::TaskRecord{}).size(), kLeastRecordBytes + 1);
}

TEST(RecordCodec, RefusesCutOffAndUnknown) {
    std::string bytes = bytes_of(sample_record());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        base::ByteReader in(std::string_view(bytes).substr(0, length));
        const auto back = decode_task_record(in);
        ASSERT_FALSE(back) << length;
        ASSERT_EQ(back.error().code, "codec.damaged");
    }
    bytes[0] = 2;
    base::ByteReader in{std::string_view(bytes)};
    const auto back = decode_task_record(in);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, "codec.version");
    EXPECT_EQ(back.error().message,
              "task record: field version at offset 0: found 2, this program reads 1: use the "
              "program that wrote it, or a newer one");
}

// A row on disk must be readable by every later build: these bytes never change for version 1.
TEST(RecordCodec, KnownBytes) {
    model::TaskRecord record;
    record.key = "a::b";
    record.attempt = 300;
    record.next_due = base::WallTime{1};
    record.digest = 2;
    const std::string expected = std::string("\x01\x04") + "a::b" +
                                 std::string("\x00\x01\x00\xac\x02\x02\x00\x00\x00", 9) +
                                 std::string("\x02\x00\x00\x00\x00\x00\x00\x00", 8) +
                                 std::string("\x00\x01\x00", 3) + std::string(11 + 56, '\0');
    EXPECT_EQ(bytes_of(record), expected);
}

}  // namespace
}  // namespace pollux::engine
