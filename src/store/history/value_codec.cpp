#include "store/history/value_codec.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace pollux::store {

namespace {

constexpr std::array<double, 5> kPowers = {1, 10, 100, 1000, 10'000};
constexpr double kLargest = 0x1p51;

struct Bucket {
    unsigned prefix;
    unsigned prefix_bits;
    unsigned bits;
};
constexpr std::array<Bucket, 5> kBuckets = {
    {{0b0, 1, 4}, {0b10, 2, 8}, {0b110, 3, 14}, {0b1110, 4, 24}, {0b1111, 4, 56}}};

const Bucket& bucket_of(std::uint64_t zigzag) {
    for (const Bucket& bucket : kBuckets) {
        if ((zigzag >> bucket.bits) == 0) return bucket;
    }
    return kBuckets.back();
}

// The integer that gives exactly these bits back when it is divided by 10^scale.
std::optional<std::int64_t> scaled(std::uint64_t bits, unsigned scale) {
    const double shifted = std::bit_cast<double>(bits) * kPowers[scale];
    if (!(std::abs(shifted) < kLargest)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(std::nearbyint(shifted));
    const double back = static_cast<double>(whole) / kPowers[scale];
    if (std::bit_cast<std::uint64_t>(back) != bits) return std::nullopt;  // minus zero too
    return whole;
}

std::uint64_t zigzag_of(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

std::int64_t from_zigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

unsigned leading_of(std::uint64_t bits) { return static_cast<unsigned>(std::countl_zero(bits)); }
unsigned trailing_of(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }

}  // namespace

void ValueCodec::encode(BitWriter& out, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == last_) {
        out.put(0, 1);
        return;
    }
    const std::uint64_t changed = bits ^ last_;
    const unsigned xor_bits = 16 + 64 - leading_of(changed) - trailing_of(changed);
    for (unsigned scale = scale_; scale < kPowers.size(); ++scale) {
        const auto number = scaled(bits, scale);
        if (!number) continue;
        const std::int64_t before = scaled(last_, scale).value_or(0);
        const std::uint64_t difference = zigzag_of(*number - before);
        const Bucket& bucket = bucket_of(difference);
        const unsigned cost = bucket.prefix_bits + bucket.bits + (scale == scale_ ? 2 : 6);
        if (cost > xor_bits) break;
        if (scale == scale_) {
            out.put(0b10, 2);
        } else {
            out.put(0b110, 3);
            out.put(scale, 3);
            scale_ = static_cast<std::uint8_t>(scale);
        }
        out.put(bucket.prefix, bucket.prefix_bits);
        out.put(difference, bucket.bits);
        last_ = bits;
        return;
    }
    encode_xor(out, bits);
}

void ValueCodec::encode_xor(BitWriter& out, std::uint64_t bits) {
    const std::uint64_t changed = bits ^ last_;  // not 0
    const unsigned leading = std::min(leading_of(changed), 63U);
    const unsigned length = 64 - leading - trailing_of(changed);
    const unsigned kept_trailing = leading_ == 64 ? 0 : 64U - leading_ - length_;
    const bool fits = leading_ != 64 && leading >= leading_ &&
                      trailing_of(changed) >= kept_trailing && length_ < length + 12U;
    if (fits) {
        out.put(0b1110, 4);
        out.put(changed >> kept_trailing, length_);
    } else {
        out.put(0b1111, 4);
        out.put(leading, 6);
        out.put(length - 1, 6);
        out.put(changed >> (64 - leading - length), length);
        leading_ = static_cast<std::uint8_t>(leading);
        length_ = static_cast<std::uint8_t>(length);
    }
    last_ = bits;
}

double ValueCodec::decode(BitReader& in) {
    const unsigned kind = in.ones(3);
    if (kind == 0) return std::bit_cast<double>(last_);
    if (kind == 3) return decode_xor(in, in.bit());
    if (kind == 2) {
        const auto scale = static_cast<std::uint8_t>(in.get(3));
        if (scale >= kPowers.size()) {
            in.fail();
            return 0;
        }
        scale_ = scale;
    }
    const Bucket& bucket = kBuckets[in.ones(4)];
    const std::int64_t before = scaled(last_, scale_).value_or(0);
    const std::int64_t number = before + from_zigzag(in.get(bucket.bits));
    const double value = static_cast<double>(number) / kPowers[scale_];
    last_ = std::bit_cast<std::uint64_t>(value);
    return value;
}

double ValueCodec::decode_xor(BitReader& in, bool placed) {
    if (placed) {
        leading_ = static_cast<std::uint8_t>(in.get(6));
        length_ = static_cast<std::uint8_t>(in.get(6) + 1);
    }
    if (leading_ + length_ > 64 || length_ == 0) {
        in.fail();
        return 0;
    }
    last_ ^= in.get(length_) << (64U - leading_ - length_);
    return std::bit_cast<double>(last_);
}

}  // namespace pollux::store
