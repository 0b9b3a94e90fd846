// Reads the fields of one of our binary objects from bytes that may be damaged or hostile, and
// remembers what failed first: one check at the end gives a message with offset and field.
//
// After a failure every read returns a default and consumes nothing. No read allocates more than
// a small multiple of the bytes that it has consumed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace pollux::engine {

class FieldReader {
  public:
    // `object` and the names of fields are string literals: they are kept for the message.
    FieldReader(base::ByteReader& in, std::string_view object) : in_(in), object_(object) {}

    void version(std::uint8_t supported) { version(supported, supported); }
    // Any from `oldest` to `newest`; returns which.
    std::uint8_t version(std::uint8_t oldest, std::uint8_t newest);
    std::uint8_t u8(std::string_view field);
    std::uint16_t u16(std::string_view field);   // two bytes
    std::uint32_t u32(std::string_view field);   // varint
    std::uint64_t u64(std::string_view field);   // varint
    std::uint64_t hash(std::string_view field);  // eight bytes
    std::int64_t i64(std::string_view field);
    double f64(std::string_view field);
    float f32(std::string_view field);
    bool boolean(std::string_view field);
    std::string text(std::string_view field);
    base::Duration duration(std::string_view field) { return base::Duration{i64(field)}; }
    base::BootTime boot(std::string_view field) { return base::BootTime{i64(field)}; }
    base::WallTime wall(std::string_view field) { return base::WallTime{i64(field)}; }
    std::optional<base::Duration> optional_duration(std::string_view field);

    // An enumeration without gaps, from 0 to `last`.
    template <class Enum>
    Enum choice(std::string_view field, Enum last) {
        return static_cast<Enum>(code(field, static_cast<std::uint8_t>(last)));
    }

    // A count, then that many elements of at least `least_bytes` each: a count that the rest of the
    // input cannot hold is refused before anything is allocated for it.
    template <class T, class Read>
    std::vector<T> list(std::string_view field, std::size_t least_bytes, Read read) {
        const std::size_t size = count(field, least_bytes);
        std::vector<T> elements;
        elements.reserve(std::min(size, kReserve));
        for (std::size_t i = 0; i < size && ok(); ++i) elements.push_back(read(*this));
        return elements;
    }

    bool ok() const { return in_.ok(); }
    base::Error error() const;

    template <class T>
    base::Result<T> result(T value) const {
        if (ok()) return value;
        return std::unexpected(error());
    }

  private:
    static constexpr std::size_t kReserve = 256;  // a larger list has to prove itself first

    std::uint8_t code(std::string_view field, std::uint8_t last);
    std::size_t count(std::string_view field, std::size_t least_bytes);
    void note(std::string_view field, std::string_view kind);
    void refuse(std::string_view field, std::size_t offset, std::string reason);

    base::ByteReader& in_;
    std::string_view object_;
    std::string_view field_;
    std::size_t offset_ = 0;
    std::string reason_;
    bool wrong_version_ = false;
};

}  // namespace pollux::engine
