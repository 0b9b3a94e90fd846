#include "engine/spec_codec.hpp"

#include <gtest/gtest.h>

#include "engine/codec_samples.hpp"

namespace pollux::engine {
namespace {

using model::CoreSettings;
using model::DeviceSpec;
using model::TaskSpec;

template <class T>
std::string bytes_of(const T& value) {
    base::ByteWriter out;
    encode(out, value);
    return out.take();
}

template <class T, class Decode>
void expect_round_trip(const T& value, Decode decode) {
    const std::string bytes = bytes_of(value) + "next";
    base::ByteReader in{std::string_view(bytes)};
    const auto back = decode(in);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, value);
    EXPECT_EQ(in.remaining(), 4u) << "the reader stands behind the object";
}

// Every shorter input is refused, and so is every wrong version.
template <class T, class Decode>
void expect_refusals(const T& value, Decode decode) {
    std::string bytes = bytes_of(value);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        base::ByteReader in(std::string_view(bytes).substr(0, length));
        const auto back = decode(in);
        ASSERT_FALSE(back) << length;
        ASSERT_EQ(back.error().error_class, base::ErrorClass::kConfig);
        ASSERT_EQ(back.error().code, "codec.damaged");
    }
    bytes[0] = 99;
    base::ByteReader in{std::string_view(bytes)};
    const auto back = decode(in);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, "codec.version");
}

TEST(SpecCodec, RoundTripOfEveryField) {
    expect_round_trip(sample_spec(), decode_task_spec);
    expect_round_trip(sample_device(), decode_device_spec);
    expect_round_trip(sample_settings(), decode_core_settings);
    expect_round_trip(TaskSpec{}, decode_task_spec);
    expect_round_trip(DeviceSpec{}, decode_device_spec);
    expect_round_trip(CoreSettings{}, decode_core_settings);
}

TEST(SpecCodec, RefusesCutOffAndUnknown) {
    expect_refusals(sample_spec(), decode_task_spec);
    expect_refusals(sample_device(), decode_device_spec);
    expect_refusals(sample_settings(), decode_core_settings);
}

// The bounds of lists must not refuse the smallest object there is.
TEST(SpecCodec, LeastSizesAreRight) {
    TaskSpec smallest;
    smallest.timeout = base::Duration{};
    EXPECT_EQ(bytes_of(smallest).size(), kLeastSpecBytes + 1);

    TaskSpec lists;
    lists.needs.resize(3);
    lists.needs[0].any_of.resize(5);
    lists.demand.resize(4);
    lists.version = 0;
    expect_round_trip(lists, decode_task_spec);

    CoreSettings settings;
    settings.resources.resize(7);
    expect_round_trip(settings, decode_core_settings);
    settings.resources.clear();
    settings.classes.resize(7);
    expect_round_trip(settings, decode_core_settings);
}

TEST(SpecCodec, NamesTheField) {
    std::string bytes = bytes_of(sample_spec());
    const std::size_t tier = 1 + 1 + 17 + 1 + 7 + 1 + 5 + 1 + 5 + 5 + 6;
    ASSERT_EQ(bytes[tier], 2);
    bytes[tier] = 4;
    base::ByteReader in{std::string_view(bytes)};
    const auto back = decode_task_spec(in);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().message,
              "task spec: field spec.tier at offset 50: 4 is not one of the known values 0 to 3");
}

}  // namespace
}  // namespace pollux::engine
