// Reading and writing our own binary formats: little-endian, LEB128 varints, length-prefixed text.
//
// The reader takes bytes that may be damaged or hostile: it never reads out of bounds, and one
// check of ok() at the end covers everything read before. Every value has exactly one encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pollux::base {

class ByteWriter {
  public:
    void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
    void u16(std::uint16_t value) { little_endian(value, 2); }
    void u32(std::uint32_t value) { little_endian(value, 4); }
    void u64(std::uint64_t value) { little_endian(value, 8); }
    void varint(std::uint64_t value);  // 1 to 10 bytes
    void zigzag(std::int64_t value);   // a varint that is short for small negative values too
    void f64(double value);            // the bits, NaN payloads included
    void f32(float value);
    void boolean(bool value) { u8(value ? 1 : 0); }
    void string(std::string_view value);  // length as varint, then the bytes
    void raw(std::span<const std::byte> bytes);
    void raw(std::string_view bytes) { out_ += bytes; }

    std::size_t size() const { return out_.size(); }
    std::string_view view() const { return out_; }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(out_)); }
    void reserve(std::size_t bytes) { out_.reserve(bytes); }
    void clear() { out_.clear(); }

    // Hands over what was written; the writer is empty afterwards.
    std::string take() { return std::exchange(out_, {}); }

  private:
    void little_endian(std::uint64_t value, int width);

    std::string out_;
};

// Does not own the bytes: they outlive the reader and the views it returns.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    explicit ByteReader(std::string_view bytes)
        : bytes_(std::as_bytes(std::span(bytes.data(), bytes.size()))) {}

    // After a failure every read returns zero or empty and consumes nothing.
    std::uint8_t u8() { return static_cast<std::uint8_t>(little_endian(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(little_endian(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(little_endian(4)); }
    std::uint64_t u64() { return little_endian(8); }
    std::uint64_t varint();  // fails past 10 bytes, past 64 bits, and if a shorter form exists
    std::int64_t zigzag();
    double f64();
    float f32();
    bool boolean();  // fails for anything but 0 and 1
    std::string_view string(std::size_t max_length);
    std::span<const std::byte> raw(std::size_t length);

    // The caller found what it read to be wrong, such as an unknown enumerator.
    void fail() { ok_ = false; }

    bool ok() const { return ok_; }
    bool at_end() const { return remaining() == 0; }
    // Where the next read begins; after a failure, where the failed one began.
    std::size_t offset() const { return offset_; }
    std::size_t remaining() const { return bytes_.size() - offset_; }

  private:
    std::uint64_t little_endian(std::size_t width);
    std::uint64_t fail_at(std::size_t offset);

    std::span<const std::byte> bytes_;
    std::size_t offset_ = 0;
    bool ok_ = true;
};

}  // namespace pollux::base
