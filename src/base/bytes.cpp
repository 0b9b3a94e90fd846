#include "base/bytes.hpp"

#include <bit>

namespace pollux::base {

void ByteWriter::little_endian(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) u8(static_cast<std::uint8_t>(value >> (8 * i)));
}

void ByteWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        u8(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
}

void ByteWriter::zigzag(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    varint(value < 0 ? ~(bits << 1) : bits << 1);
}

void ByteWriter::f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }

void ByteWriter::f32(float value) { u32(std::bit_cast<std::uint32_t>(value)); }

void ByteWriter::string(std::string_view value) {
    varint(value.size());
    out_ += value;
}

void ByteWriter::raw(std::span<const std::byte> bytes) {
    out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::uint64_t ByteReader::fail_at(std::size_t offset) {
    ok_ = false;
    offset_ = offset;
    return 0;
}

std::uint64_t ByteReader::little_endian(std::size_t width) {
    if (!ok_ || remaining() < width) return fail_at(offset_);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
        value |= std::to_integer<std::uint64_t>(bytes_[offset_ + i]) << (8 * i);
    }
    offset_ += width;
    return value;
}

std::uint64_t ByteReader::varint() {
    const std::size_t start = offset_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const std::uint64_t byte = u8();
        const std::uint64_t part = byte & 0x7F;
        const bool last = byte < 0x80;
        const bool too_large = shift == 63 && part > 1;
        const bool too_long = shift > 0 && last && part == 0;
        if (!ok_ || too_large || too_long) return fail_at(start);
        value |= part << shift;
        if (last) return value;
    }
    return fail_at(start);
}

std::int64_t ByteReader::zigzag() {
    const std::uint64_t bits = varint();
    const std::uint64_t half = bits >> 1;
    return static_cast<std::int64_t>((bits & 1) != 0 ? ~half : half);
}

double ByteReader::f64() { return std::bit_cast<double>(u64()); }

float ByteReader::f32() { return std::bit_cast<float>(u32()); }

bool ByteReader::boolean() {
    const std::size_t start = offset_;
    const std::uint8_t value = u8();
    if (value > 1) fail_at(start);
    return value == 1;
}

std::string_view ByteReader::string(std::size_t max_length) {
    const std::size_t start = offset_;
    const std::uint64_t length = varint();
    if (!ok_ || length > max_length || length > remaining()) {
        fail_at(start);
        return {};
    }
    const std::span<const std::byte> bytes = raw(static_cast<std::size_t>(length));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> ByteReader::raw(std::size_t length) {
    if (!ok_ || remaining() < length) {
        fail_at(offset_);
        return {};
    }
    const std::span<const std::byte> bytes = bytes_.subspan(offset_, length);
    offset_ += length;
    return bytes;
}

}  // namespace pollux::base
