// What one device was found to take: plain data and the rules by which it is learned. No clock and
// no I/O: real polls are the probes, and what they meet comes in here.
//
// A size grows while answers come whole and in time, and steps back when they do not. What failed
// is remembered as a ceiling, so that it does not swing: below a ceiling a size grows by half of
// what is left, seldom, and not at all when little is left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace pollux::protocol::snmp {

// Invariant: now < ceiling, where there is one; now is 0 only before the first use.
struct Climb {
    std::uint32_t now = 0;      // what is asked for; 0: as the ask says
    std::uint32_t ceiling = 0;  // the least that is known to fail; 0: none
    std::uint32_t good = 0;     // whole answers since the last change; counted below a ceiling
    std::uint32_t suspect = 0;  // a size that was not answered once; 0: none
    bool by_silence = false;    // the ceiling may have been an accident: it is lifted in time

    // An answer of this size came whole; `bound`: nothing but this limit kept it from being larger.
    // `most` is as far as it goes. Whether something changed.
    bool came_whole(std::uint32_t size, bool bound, std::uint32_t most);
    // The device said that this is too much: half of it.
    void refused(std::uint32_t size);
    // Nothing came, and a smaller request was answered. One lost packet says little; the second
    // time in a row it is the size, and a quarter of it remains. Whether it is.
    bool silent(std::uint32_t size);
    // The device answers this much of what it is asked for, and says so: no use to ask for more.
    bool cut(std::uint32_t size);
    bool operator==(const Climb&) const = default;

  private:
    void step_back(std::uint32_t failed, std::uint32_t divisor);
};

enum class Bulk : std::uint8_t {
    kWorks,
    kFails,   // GETBULK is not answered or refused, GETNEXT is answered
    kBroken,  // answers to GETBULK break the protocol
    kLies,    // answers to GETBULK and to narrow requests differ
};
std::string_view to_string(Bulk bulk);

inline constexpr std::uint32_t kMostVarbinds = 128;
inline constexpr std::uint32_t kMostRepetitions = 256;
inline constexpr std::uint32_t kFirstAnswerBytes = 1400;  // below the MTU of Ethernet
inline constexpr std::uint32_t kMostAnswerBytes = 32'000;
inline constexpr std::uint32_t kFirstParallel = 2;
inline constexpr std::uint32_t kMostParallel = 16;

struct DeviceProfile {
    Climb varbinds;                                // variables of a request
    Climb repetitions;                             // rows of a GETBULK
    Climb answer_bytes{.now = kFirstAnswerBytes};  // rows x columns that are asked for
    Climb parallel{.now = kFirstParallel};         // requests under way at once
    Bulk bulk = Bulk::kWorks;
    std::uint8_t bulk_doubts = 0;      // asks in a row in which only GETBULK failed
    std::uint8_t check_doubts = 0;     // narrow checks in a row that found a difference
    std::uint32_t largest_answer = 0;  // bytes of a message
    std::uint32_t steps_back = 0;
    std::uint32_t too_big = 0;
    std::uint32_t silences = 0;   // that went away with a smaller request
    std::uint32_t cuts = 0;       // answers that left something out
    std::uint32_t relearned = 0;  // times the firmware changed
    // What the device says it is, as hashes; 0: never seen.
    std::uint64_t description = 0;
    std::uint64_t object_id = 0;
    base::WallTime learned_at;  // when it began
    base::WallTime checked_at;  // the last narrow check, or the start
    base::WallTime lifted_at;   // when ceilings made by silence were last lifted, or the start

    bool uses_bulk() const { return bulk == Bulk::kWorks; }
    bool operator==(const DeviceProfile&) const = default;
};

// A device that nothing is known about.
DeviceProfile new_profile(base::WallTime now);

// GETBULK failed in this ask where GETNEXT did not; after a few in a row the device is taken as one
// that has none. Whether it is now.
bool doubt_bulk(DeviceProfile& profile);

// The device said what it is; 0: it was not asked for that. True: it is something else than it was,
// and everything begins again.
bool take_identity(DeviceProfile& profile, std::uint64_t description, std::uint64_t object_id,
                   base::WallTime now);

// Whether the narrow check is due: once per `every`, at a moment of the device's own (`spread`).
bool check_due(const DeviceProfile& profile, base::WallTime now, base::Duration every,
               std::uint64_t spread);
// What a narrow check found. True: the device lies from now on.
bool take_check(DeviceProfile& profile, bool agrees, base::WallTime now);

void encode(const DeviceProfile& profile, base::ByteWriter& writer);
// Fails the reader if something is out of range.
DeviceProfile decode_profile(base::ByteReader& reader);

// "24 variables, 50 rows, GETBULK works, 2 at once", for traces.
std::string describe(const DeviceProfile& profile);

}  // namespace pollux::protocol::snmp
