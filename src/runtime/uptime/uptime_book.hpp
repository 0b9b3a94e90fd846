// How long each target was up and down, made of the transitions that the store holds, and summed up
// by day. Not thread-safe; reads no clock.
//
// A target is down while one of its tasks is. It is unknown, and counts neither way, before its
// first answer, while it is disabled or gone, while a device on the only way to it is down, and
// while no server ran. A failure that was seen shortly before such a device was found down is a
// consequence of it; so is one that is over shortly after that device came back.
//
// Invariants
// 1. The sums of a target cover all its spans that ended; the span under way is added when somebody
//    asks. So a target that does not change costs nothing, and its row is not written again.
// 2. Rows and the number of the newest transition in them are saved together: after a crash the
//    transitions behind that number are taken in, none twice and none left out.
// 3. Bounded: 90 days and kMostRecent spans per target; of targets that are gone kMostGone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/alerts/alert_image.hpp"
#include "runtime/uptime/life_list.hpp"
#include "runtime/uptime/uptime_days.hpp"
#include "runtime/uptime/uptime_row.hpp"
#include "store/store_types.hpp"

namespace pollux::runtime {

// One day of a target, or of all members of a group.
struct UptimeDay {
    std::int64_t day = 0;
    UptimeSum sum;
    std::uint32_t members = 0;  // of which something is known that day
};

struct TargetUptime {
    UptimeState state = UptimeState::kUnknown;
    base::WallTime since;
    std::vector<UptimeDay> days;  // kKept of them, the oldest first
    UptimeSum last_24h;
    UptimeSum last_30d;
    UptimeSum last_90d;
};

struct GroupUptime {
    std::string name;  // empty: all targets
    std::uint32_t members = 0;
    std::uint32_t up = 0;
    std::uint32_t down = 0;
    std::vector<UptimeDay> days;  // kKept of them, the oldest first
    UptimeSum last_90d;
};

class UptimeBook {
  public:
    static constexpr std::size_t kMostGone = 10'000;
    static constexpr base::Duration kSettle = std::chrono::minutes(5);
    // Less is not noticed; clocks that drift are corrected by less.
    static constexpr base::Duration kClockStep = std::chrono::minutes(1);

    // What an earlier life saved; what is damaged is left out and learned anew.
    void recall_target(const std::string& key, std::string_view bytes);
    void recall_head(std::string_view bytes);
    // A life of the server. The first of all may take in transitions of before.
    void begin(base::WallTime started);
    // The life goes on until now; also before transitions are taken in. If the clock was set since
    // the last look, a new life begins: what it jumped over was seen by nobody, and what it jumped
    // back from has not come yet.
    void look(base::Instant now);

    // Which targets there are, and who stands behind whom. settle() brings the states in line.
    void set_fleet(const AlertImage& image);
    void settle(base::WallTime now);
    // A transition; in the order of their numbers.
    void take(const store::StoredChange& change);
    // How a task stands at the start of a life: whether it is enabled, and if no transition says
    // so, whether it is up. Behind the transitions of earlier lives, before those of this one.
    void seed(std::string_view task_key, bool up, bool enabled, base::WallTime now);
    // Number of the newest transition that was taken in.
    std::uint64_t cursor() const { return cursor_; }

    // What is to be written, all in one batch. If that failed it is written again the next time.
    store::MemoryBatch save(base::WallTime now);
    void save_failed(const std::vector<std::string>& keys);

    std::optional<TargetUptime> target(std::string_view key, base::WallTime now) const;
    // All targets first, then each group, by name.
    std::vector<GroupUptime> groups(base::WallTime now) const;
    std::size_t size() const { return targets_.size(); }
    // How often it was asked whether there is a way to a device: what a flip of a parent costs.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    struct Device;
    struct Target {
        UptimeRow row;
        // Of the fleet.
        Device* device = nullptr;  // null: gone
        std::vector<std::string> groups;
        bool enabled = true;
        bool held = false;  // a device on the way to it is down
        bool changed = false;
    };
    struct Device {
        std::vector<Target*> targets;
        std::vector<std::vector<Device*>> parents;  // in each group one must be open
        std::vector<Device*> children;              // one that names it twice is twice here
        bool down = false;
        bool open = true;        // there is a way to it
        std::uint64_t walk = 0;  // the last one that came by
    };

    Target& entry(std::string_view key);
    void begin_life(base::WallTime at);
    base::WallTime believed(base::WallTime at) const;
    bool clock_is_proven(base::WallTime now) const;
    static bool is_down(const Device& device);
    void judge_device(Device& device, base::WallTime at);
    std::vector<Device*> all_behind(const Device& device);
    void find_ways(const std::vector<Device*>& devices);
    void settle_device(Device& device, base::WallTime at);
    void move(Target& target, UptimeState next, bool by_parent, base::WallTime at);
    void add_span(UptimeRow& row, UptimeState state, base::WallTime until);
    void forget_gone(base::WallTime now, store::MemoryBatch& batch);
    template <class Add>
    void each_span(const Target& target, base::WallTime from, base::WallTime now, Add add) const;
    UptimeDays days_of(const Target& target, base::WallTime now) const;

    std::map<std::string, Target, std::less<>> targets_;
    std::map<std::string, Device, std::less<>> devices_;
    LifeList lives_;
    std::optional<base::Instant> looked_;
    std::uint64_t cursor_ = 0;
    std::uint64_t walk_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace pollux::runtime
