#include "base/uuid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::base {

std::string make_uuid7(WallTime now, std::uint64_t high, std::uint64_t low) {
    constexpr std::uint64_t kTimeMask = (1ULL << 48U) - 1;
    const auto millis =
        static_cast<std::uint64_t>(std::max<std::int64_t>(now.us, 0) / 1'000) & kTimeMask;
    const std::uint64_t third = 0x7000U | (high & 0xFFFU);
    const std::uint64_t variant = (low & 0x3FFF'FFFF'FFFF'FFFFULL) | 0x8000'0000'0000'0000ULL;
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", millis >> 16U, millis & 0xFFFFU,
                       third, variant >> 48U, variant & 0xFFFF'FFFF'FFFFULL);
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? c != '-' : !hex) return false;
    }
    return true;
}

std::optional<WallTime> uuid7_time(std::string_view text) {
    if (!is_uuid(text) || text[14] != '7') return std::nullopt;
    std::uint64_t milliseconds = 0;
    for (const std::string_view part : {text.substr(0, 8), text.substr(9, 4)}) {
        for (const char c : part) {
            const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
            milliseconds = milliseconds * 16 + static_cast<std::uint64_t>(digit);
        }
    }
    return WallTime{static_cast<std::int64_t>(milliseconds) * 1000};
}

}  // namespace pollux::base
