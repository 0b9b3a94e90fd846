#include "engine/field_reader.hpp"

#include <fmt/format.h>

#include <limits>

namespace pollux::engine {

// Called after every read: the first one that failed is the one to report.
void FieldReader::note(std::string_view field, std::string_view kind) {
    if (in_.ok() || !reason_.empty()) return;
    field_ = field;
    offset_ = in_.offset();
    reason_ = fmt::format("{} bytes are left, and they are no valid {}", in_.remaining(), kind);
}

void FieldReader::refuse(std::string_view field, std::size_t offset, std::string reason) {
    in_.fail();
    field_ = field;
    offset_ = offset;
    reason_ = std::move(reason);
}

base::Error FieldReader::error() const {
    return {wrong_version_ ? "codec.version" : "codec.damaged", base::ErrorClass::kConfig,
            fmt::format("{}: field {} at offset {}: {}", object_, field_, offset_, reason_)};
}

std::uint8_t FieldReader::version(std::uint8_t oldest, std::uint8_t newest) {
    const std::size_t at = in_.offset();
    const std::uint8_t found = u8("version");
    if (!ok() || (found >= oldest && found <= newest)) return found;
    wrong_version_ = true;
    refuse("version", at,
           fmt::format("found {}, this program reads {}: use the program that wrote it{}", found,
                       oldest == newest ? fmt::format("{}", newest)
                                        : fmt::format("{} to {}", oldest, newest),
                       found > newest ? ", or a newer one" : ""));
    return found;
}

std::uint8_t FieldReader::u8(std::string_view field) {
    const std::uint8_t value = in_.u8();
    note(field, "byte");
    return value;
}

std::uint16_t FieldReader::u16(std::string_view field) {
    const std::uint16_t value = in_.u16();
    note(field, "two-byte number");
    return value;
}

std::uint32_t FieldReader::u32(std::string_view field) {
    const std::size_t at = in_.offset();
    const std::uint64_t value = u64(field);
    if (value <= std::numeric_limits<std::uint32_t>::max()) {
        return static_cast<std::uint32_t>(value);
    }
    refuse(field, at, fmt::format("{} does not fit into 32 bits", value));
    return 0;
}

std::uint64_t FieldReader::u64(std::string_view field) {
    const std::uint64_t value = in_.varint();
    note(field, "number");
    return value;
}

std::uint64_t FieldReader::hash(std::string_view field) {
    const std::uint64_t value = in_.u64();
    note(field, "eight-byte number");
    return value;
}

std::int64_t FieldReader::i64(std::string_view field) {
    const std::int64_t value = in_.zigzag();
    note(field, "number");
    return value;
}

double FieldReader::f64(std::string_view field) {
    const double value = in_.f64();
    note(field, "eight-byte floating-point number");
    return value;
}

float FieldReader::f32(std::string_view field) {
    const float value = in_.f32();
    note(field, "four-byte floating-point number");
    return value;
}

bool FieldReader::boolean(std::string_view field) {
    const bool value = in_.boolean();
    note(field, "yes (1) or no (0)");
    return value;
}

std::string FieldReader::text(std::string_view field) {
    std::string value(in_.string(in_.remaining()));
    note(field, "text with its length");
    return value;
}

std::optional<base::Duration> FieldReader::optional_duration(std::string_view field) {
    if (!boolean(field)) return std::nullopt;
    return duration(field);
}

std::uint8_t FieldReader::code(std::string_view field, std::uint8_t last) {
    const std::size_t at = in_.offset();
    const std::uint8_t value = u8(field);
    if (value <= last) return value;
    refuse(field, at, fmt::format("{} is not one of the known values 0 to {}", value, last));
    return 0;
}

std::size_t FieldReader::count(std::string_view field, std::size_t least_bytes) {
    const std::size_t at = in_.offset();
    const std::uint64_t value = u64(field);
    if (value <= in_.remaining() / least_bytes) return static_cast<std::size_t>(value);
    refuse(field, at,
           fmt::format("{} elements of at least {} bytes do not fit into the {} bytes "
                       "that are left",
                       value, least_bytes, in_.remaining()));
    return 0;
}

}  // namespace pollux::engine
