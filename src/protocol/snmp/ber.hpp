// The part of BER (X.690) that SNMP uses: reading it from hostile bytes and writing it.
//
// Called by the PDU and message codecs on the thread of their shard; no state beyond the object.
//
// Invariants
// 1. The reader never looks outside of the span it was given, and every step consumes bytes or
//    fails, so that every loop over it ends. Nesting is what the caller spells out: no recursion.
// 2. The writer fills one buffer from the back, so that a length is known when it is written and is
//    always minimal. It never writes outside of the buffer: once something did not fit, ok() is
//    false and stays so.
// 3. Neither allocates, but for the arcs of an Oid that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "model/oid.hpp"

namespace pollux::protocol::snmp {

using Bytes = std::span<const std::uint8_t>;

// What is wrong with bytes from a peer: static text that completes "the packet has ...". A flood
// of bad packets costs no allocation.
using Problem = std::string_view;
template <class T>
using Parsed = std::expected<T, Problem>;

inline std::unexpected<Problem> malformed(Problem problem) {
    return std::unexpected<Problem>(problem);
}

namespace tag {
inline constexpr std::uint8_t kInteger = 0x02;
inline constexpr std::uint8_t kOctetString = 0x04;
inline constexpr std::uint8_t kNull = 0x05;
inline constexpr std::uint8_t kObjectId = 0x06;
inline constexpr std::uint8_t kSequence = 0x30;
}  // namespace tag

struct Tlv {
    std::uint8_t tag = 0;
    Bytes content;
};

class BerReader {
  public:
    BerReader() = default;
    explicit BerReader(Bytes bytes) : rest_(bytes) {}

    bool empty() const { return rest_.empty(); }
    Bytes rest() const { return rest_; }

    // The next element, whatever it is. Short and long lengths; the indefinite form and tags of
    // more than one byte do not occur in SNMP and are refused.
    Parsed<Tlv> next();

    // The content of the next element, which must have this tag.
    Parsed<Bytes> next(std::uint8_t expected_tag);

    // Steps over a header into its content, which may be cut: for what is only looked at.
    Parsed<std::uint8_t> enter();

    // The next element as a 32-bit INTEGER, as all numbers of headers are.
    Parsed<std::int32_t> next_int32();

  private:
    struct Header {
        std::uint8_t tag = 0;
        std::size_t size = 0;     // of the header itself
        std::size_t content = 0;  // as it claims
    };
    Parsed<Header> header() const;

    Bytes rest_;
};

// Two's complement, 1 to 8 bytes.
Parsed<std::int64_t> parse_integer(Bytes content);

// An unsigned number not above `max`: one leading zero byte may make it positive. A number whose
// sign bit was left set, as sloppy devices send large counters, is taken as unsigned.
Parsed<std::uint64_t> parse_unsigned(Bytes content, std::uint64_t max);

// At most 128 arcs of 32 bits. Empty content is 0.0, as some agents send it.
Parsed<void> parse_oid(Bytes content, model::Oid& oid);

// Compares the encoded form with arcs, without allocation.
bool equals(Bytes content, const model::Oid& oid);

class BerWriter {
  public:
    explicit BerWriter(std::span<std::uint8_t> buffer)
        : begin_(buffer.data()), end_(begin_ + buffer.size()), at_(end_) {}

    bool ok() const { return ok_; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - at_); }
    // What was written so far: the end of the buffer.
    Bytes bytes() const { return {at_, end_}; }
    // What was written since size() was `mark`, to be changed in place: encrypted or signed.
    std::span<std::uint8_t> since(std::size_t mark) const {
        return {at_, end_ - static_cast<std::ptrdiff_t>(mark)};
    }

    // Each of these goes in front of what was written before.
    void put_byte(std::uint8_t byte) {
        if (at_ == begin_) {
            ok_ = false;
            return;
        }
        *--at_ = byte;
    }
    void put_bytes(Bytes bytes);
    void put_header(std::uint8_t tag, std::size_t content_size);
    void put_integer(std::uint8_t tag, std::int64_t value);
    void put_unsigned(std::uint8_t tag, std::uint64_t value);
    void put_string(std::uint8_t tag, std::string_view text);
    void put_oid(const model::Oid& oid);

    // Puts the header around everything that was written since size() was `mark`.
    void wrap(std::uint8_t tag, std::size_t mark) { put_header(tag, size() - mark); }

  private:
    void put_base128(std::uint64_t value);

    std::uint8_t* begin_;
    std::uint8_t* end_;
    std::uint8_t* at_;
    bool ok_ = true;
};

// How many bytes an OID element takes, header included.
std::size_t encoded_oid_size(const model::Oid& oid);

}  // namespace pollux::protocol::snmp
