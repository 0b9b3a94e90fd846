#include "base/time_zone.hpp"

#include <algorithm>

namespace pollux::base {
namespace {

constexpr std::size_t kHeader = 44;
constexpr std::uint32_t kMostChanges = 10'000;
constexpr std::int64_t kSearch = 26 * 3'600;  // more than any offset

std::unexpected<Error> broken(const char* why) {
    return config_error("zone.invalid", std::string("no time zone data (TZif): ") + why);
}

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

struct Counts {
    std::size_t utc, standard, leaps, changes, types, characters;

    std::size_t bytes(std::size_t time_size) const {
        return changes * (time_size + 1) + types * 6 + characters + leaps * (time_size + 4) +
               standard + utc;
    }
};

std::optional<Counts> read_header(std::string_view bytes) {
    if (bytes.size() < kHeader || !bytes.starts_with("TZif")) return std::nullopt;
    const auto count = [&](std::size_t index) {
        return static_cast<std::size_t>(big_endian(bytes, 20 + index * 4, 4));
    };
    const Counts counts{count(0), count(1), count(2), count(3), count(4), count(5)};
    for (std::size_t i = 0; i < 6; ++i) {
        if (count(i) > kMostChanges) return std::nullopt;
    }
    return counts;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view bytes) {
    const auto old = read_header(bytes);
    if (!old) return broken("the header is not right");
    if (bytes[4] < '2') return broken("version 1 has no rule for the future");
    const std::size_t skipped = kHeader + old->bytes(4);
    if (bytes.size() < skipped) return broken("it is cut short");
    bytes.remove_prefix(skipped);
    const auto counts = read_header(bytes);
    if (!counts || counts->types == 0) return broken("the second header is not right");
    const std::size_t body = kHeader + counts->bytes(8);
    if (bytes.size() < body + 2 || bytes[body] != '\n') return broken("it is cut short");

    TimeZone zone;
    const std::size_t indexes = kHeader + counts->changes * 8;
    const std::size_t types = indexes + counts->changes;
    const auto offset_of = [&](std::size_t type) {
        return static_cast<std::int32_t>(
            static_cast<std::uint32_t>(big_endian(bytes, types + type * 6, 4)));
    };
    zone.first_offset_ = offset_of(0);
    for (std::size_t i = 0; i < counts->changes; ++i) {
        const auto at = static_cast<std::int64_t>(big_endian(bytes, kHeader + i * 8, 8));
        const auto type = static_cast<std::size_t>(big_endian(bytes, indexes + i, 1));
        if (type >= counts->types) return broken("a change names no type");
        if (!zone.changes_.empty() && at <= zone.changes_.back()) {
            return broken("its changes are not in order");
        }
        zone.changes_.push_back(at);
        zone.offsets_.push_back(offset_of(type));
    }
    const std::string_view footer = bytes.substr(body + 1);
    const std::size_t end = footer.find('\n');
    if (end == std::string_view::npos) return broken("it is cut short");
    if (end == 0) {
        zone.rule_.standard = zone.offsets_.empty() ? zone.first_offset_ : zone.offsets_.back();
        return zone;
    }
    const auto rule = parse_zone_rule(footer.substr(0, end));
    if (!rule) return broken("its rule for the future is not understood");
    zone.rule_ = *rule;
    return zone;
}

std::int64_t TimeZone::offset_at_second(std::int64_t second) const {
    const auto next = std::upper_bound(changes_.begin(), changes_.end(), second);
    if (next == changes_.end()) return rule_.offset_at(second);
    if (next == changes_.begin()) return first_offset_;
    return offsets_[static_cast<std::size_t>(next - changes_.begin()) - 1];
}

std::int64_t TimeZone::offset_at(WallTime time) const {
    return offset_at_second(detail::floor_div(time.us, 1'000'000));
}

std::int64_t TimeZone::local_seconds(WallTime time) const {
    const std::int64_t second = detail::floor_div(time.us, 1'000'000);
    return second + offset_at_second(second);
}

TimeZone::Moments TimeZone::moments_of(std::int64_t local_seconds) const {
    const auto wall = [](std::int64_t second) {
        return WallTime{detail::saturating_mul(second, 1'000'000)};
    };
    const std::int64_t before = offset_at_second(local_seconds - kSearch);
    const std::int64_t after = offset_at_second(local_seconds + kSearch);
    const std::int64_t early = local_seconds - std::max(before, after);
    const std::int64_t late = local_seconds - std::min(before, after);
    const bool early_shows = early + offset_at_second(early) == local_seconds;
    const bool late_shows = late + offset_at_second(late) == local_seconds;
    if (early_shows && late_shows) return {wall(early), wall(late)};
    if (early_shows) return {wall(early), wall(early)};
    if (late_shows) return {wall(late), wall(late)};
    // Clocks were set forward over it: the first second that has the new offset.
    std::int64_t low = early;
    std::int64_t high = late;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (offset_at_second(middle) == after) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return {wall(low), wall(low)};
}

}  // namespace pollux::base
