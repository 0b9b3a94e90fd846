#include "protocol/snmp/device_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pollux::protocol::snmp {
namespace {

// Below a ceiling: answers of full size before the next try.
constexpr std::uint32_t kPatience = 16;
constexpr std::uint8_t kMostBulkDoubts = 3;
// A row may come or go between a poll and its check; twice in a row it does not.
constexpr std::uint8_t kMostCheckDoubts = 2;
constexpr base::Duration kLiftAfter = std::chrono::hours(24 * 7);
constexpr std::uint32_t kMostSize = 1U << 20U;
constexpr std::array<std::string_view, 4> kBulkNames = {"works", "fails", "broken", "lies"};

void lift(Climb& climb) {
    if (!climb.by_silence) return;
    climb.ceiling = 0;
    climb.good = 0;
    climb.by_silence = false;
}

void put(const Climb& climb, base::ByteWriter& writer) {
    writer.varint(climb.now);
    writer.varint(climb.ceiling);
    writer.boolean(climb.by_silence);
}

std::uint32_t small(base::ByteReader& reader, std::uint64_t most) {
    const std::uint64_t value = reader.varint();
    if (value > most) reader.fail();
    return static_cast<std::uint32_t>(value);
}

Climb take_climb(base::ByteReader& reader) {
    Climb climb;
    climb.now = small(reader, kMostSize);
    climb.ceiling = small(reader, kMostSize);
    climb.by_silence = reader.boolean();
    if (climb.ceiling != 0 && climb.now >= climb.ceiling) reader.fail();
    return climb;
}

}  // namespace

bool Climb::came_whole(std::uint32_t size, bool bound, std::uint32_t most) {
    const bool cleared = suspect != 0 && size >= suspect;
    if (cleared) suspect = 0;
    if (!bound || size < now || size >= most) return cleared;
    if (ceiling == 0) {
        now = std::min(size * 2, most);
        return true;
    }
    const std::uint32_t room = ceiling - now;
    if (room <= std::max(now / 4, 1U)) return cleared;
    if (++good < kPatience) return true;
    good = 0;
    now = std::min(now + room / 2, most);
    return true;
}

void Climb::step_back(std::uint32_t failed, std::uint32_t divisor) {
    failed = std::max(failed, 2U);
    if (ceiling == 0 || failed < ceiling) ceiling = failed;
    const std::uint32_t less = std::max(failed / divisor, 1U);
    now = now == 0 ? less : std::min(now, less);
    good = 0;
    suspect = 0;
}

void Climb::refused(std::uint32_t size) {
    step_back(size, 2);
    by_silence = false;
}

bool Climb::silent(std::uint32_t size) {
    if (suspect == 0) {
        suspect = size;
        return false;
    }
    const bool lower = ceiling == 0 || size < ceiling;
    step_back(std::min(size, suspect), 4);
    if (lower) by_silence = true;
    return true;
}

bool Climb::cut(std::uint32_t size) {
    if (ceiling != 0 && ceiling <= size + 1) return false;
    now = std::max(size, 1U);
    ceiling = now + 1;
    good = 0;
    by_silence = false;
    return true;
}

std::string_view to_string(Bulk bulk) { return kBulkNames[static_cast<std::size_t>(bulk)]; }

DeviceProfile new_profile(base::WallTime now) {
    DeviceProfile profile;
    profile.learned_at = now;
    profile.checked_at = now;
    profile.lifted_at = now;
    return profile;
}

bool doubt_bulk(DeviceProfile& profile) {
    if (profile.bulk != Bulk::kWorks || ++profile.bulk_doubts < kMostBulkDoubts) return false;
    profile.bulk = Bulk::kFails;
    return true;
}

bool take_identity(DeviceProfile& profile, std::uint64_t description, std::uint64_t object_id,
                   base::WallTime now) {
    const auto differs = [](std::uint64_t before, std::uint64_t seen) {
        return before != 0 && seen != 0 && before != seen;
    };
    const bool changed =
        differs(profile.description, description) || differs(profile.object_id, object_id);
    if (changed) {
        const std::uint32_t times = profile.relearned;
        profile = new_profile(now);
        profile.relearned = times + 1;
    }
    if (description != 0) profile.description = description;
    if (object_id != 0) profile.object_id = object_id;
    return changed;
}

bool check_due(const DeviceProfile& profile, base::WallTime now, base::Duration every,
               std::uint64_t spread) {
    if (profile.check_doubts > 0) return true;
    const std::int64_t period = every.count() / 1000;
    if (period <= 0) return true;
    // Days of the device's own, which begin at another moment than those of the others.
    const auto offset = static_cast<std::int64_t>(spread % static_cast<std::uint64_t>(period));
    return now > profile.checked_at &&
           (now.us - offset) / period != (profile.checked_at.us - offset) / period;
}

bool take_check(DeviceProfile& profile, bool agrees, base::WallTime now) {
    profile.checked_at = now;
    if (agrees) {
        profile.check_doubts = 0;
        if (now >= profile.lifted_at + kLiftAfter) {
            profile.lifted_at = now;
            for (Climb* climb : {&profile.varbinds, &profile.repetitions, &profile.answer_bytes,
                                 &profile.parallel}) {
                lift(*climb);
            }
        }
        return false;
    }
    if (profile.bulk == Bulk::kLies || ++profile.check_doubts < kMostCheckDoubts) return false;
    profile.check_doubts = 0;
    profile.bulk = Bulk::kLies;
    return true;
}

void encode(const DeviceProfile& profile, base::ByteWriter& writer) {
    put(profile.varbinds, writer);
    put(profile.repetitions, writer);
    put(profile.answer_bytes, writer);
    put(profile.parallel, writer);
    writer.u8(static_cast<std::uint8_t>(profile.bulk));
    writer.u8(profile.bulk_doubts);
    writer.u8(profile.check_doubts);
    for (const std::uint32_t count : {profile.largest_answer, profile.steps_back, profile.too_big,
                                      profile.silences, profile.cuts, profile.relearned}) {
        writer.varint(count);
    }
    writer.u64(profile.description);
    writer.u64(profile.object_id);
    writer.zigzag(profile.learned_at.us);
    writer.zigzag(profile.checked_at.us);
    writer.zigzag(profile.lifted_at.us);
}

DeviceProfile decode_profile(base::ByteReader& reader) {
    DeviceProfile profile;
    profile.varbinds = take_climb(reader);
    profile.repetitions = take_climb(reader);
    profile.answer_bytes = take_climb(reader);
    profile.parallel = take_climb(reader);
    if (profile.answer_bytes.now == 0 || profile.parallel.now == 0) reader.fail();
    const std::uint8_t bulk = reader.u8();
    if (bulk >= kBulkNames.size()) reader.fail();
    profile.bulk = static_cast<Bulk>(bulk % kBulkNames.size());
    profile.bulk_doubts = reader.u8();
    profile.check_doubts = reader.u8();
    for (std::uint32_t* count : {&profile.largest_answer, &profile.steps_back, &profile.too_big,
                                 &profile.silences, &profile.cuts, &profile.relearned}) {
        *count = small(reader, 0xFFFFFFFFU);
    }
    profile.description = reader.u64();
    profile.object_id = reader.u64();
    profile.learned_at.us = reader.zigzag();
    profile.checked_at.us = reader.zigzag();
    profile.lifted_at.us = reader.zigzag();
    return profile;
}

std::string describe(const DeviceProfile& profile) {
    const auto size = [](const Climb& climb) {
        return climb.now == 0 ? std::string("as the addon says") : fmt::format("{}", climb.now);
    };
    return fmt::format("variables {}, rows {}, answers of {} bytes, GETBULK {}, {} at once",
                       size(profile.varbinds), size(profile.repetitions), profile.answer_bytes.now,
                       to_string(profile.bulk), profile.parallel.now);
}

}  // namespace pollux::protocol::snmp
