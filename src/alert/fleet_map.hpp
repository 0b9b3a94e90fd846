// Targets and devices as the alert engine sees them now: what is believed about each, and what
// stands behind what. Single-threaded.
//
// Invariants
// 1. A device is believed down when it was verified so, or when each of its enabled targets is. Any
//    answer makes it up. What was never asked is believed up.
// 2. A device stands behind another if in one of its groups of parents each member is down, or
//    itself stands behind something and has not answered since that went down. The topmost of them
//    is the root. A device without enabled targets says nothing of its own: only what it stands
//    behind counts.
// 3. `failing` holds exactly the devices that have a target that fails for want of an answer or
//    were verified down, ordered by when that began.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/alert_fleet.hpp"
#include "alert/input.hpp"
#include "alert/output.hpp"
#include "alert/time_codec.hpp"
#include "base/flat_index.hpp"
#include "base/siphash.hpp"

namespace pollux::alert {

struct TargetState {
    const TargetFacts* facts = nullptr;
    std::uint32_t device = 0;
    Health health = Health::kUp;
    bool permanent = false;  // fails, but not for want of an answer; see FleetMap::Fault
    bool told_down = false;  // past its failure threshold
    bool changed = false;
    std::vector<std::uint32_t> alerts;  // slots; in no order
};

struct DeviceState {
    std::string name;
    std::vector<std::vector<std::uint32_t>> parents;
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> targets;
    bool monitored = false;  // has an enabled target
    bool down = false;
    bool changed = false;
    std::uint32_t revision = 0;                             // rises with every change
    base::BootTime believed_since = base::BootTime::min();  // up or down
    base::BootTime answered_at = base::BootTime::min();     // last answer that somebody asked for
    base::BootTime asked_at = base::BootTime::min();
    base::BootTime failing_since = base::BootTime::max();  // max: it does not
    base::BootTime doubted_since = base::BootTime::max();  // its place among the doubtful ones
};

class FleetMap {
  public:
    static constexpr std::uint32_t kNone = base::FlatIndex::kNone;
    static constexpr std::string_view kTargetPrefix = "target:";
    static constexpr std::string_view kDevicePrefix = "device:";

    explicit FleetMap(base::SipKey key);

    // Keeps what is known about targets (by id) and devices (by name) that are in both. The lists
    // of alerts are empty afterwards.
    void load(std::shared_ptr<const AlertFleet> fleet);

    std::uint32_t target_by_key(std::string_view key) const;
    std::uint32_t target_by_id(std::string_view id) const;
    std::uint32_t device_by_name(std::string_view name) const;
    TargetState& target(std::uint32_t index) { return targets_[index]; }
    const TargetState& target(std::uint32_t index) const { return targets_[index]; }
    const DeviceState& device(std::uint32_t index) const { return devices_[index]; }
    std::size_t device_count() const { return devices_.size(); }
    std::size_t monitored() const { return monitored_; }
    // Monitored devices that no parent can explain.
    const std::vector<std::uint32_t>& tops() const { return tops_; }

    // Why a target fails.
    enum class Fault : std::uint8_t {
        kSilence,  // no answer came
        kAnswer,   // one came, and was an error: its device lives
        kOther,    // nothing was asked, or it will not go away: says nothing about its device
    };
    // How a target answers. The rest follows from what the caller does with `Believed`.
    enum class Believed : std::uint8_t { kAsBefore, kUp, kDown };
    Believed set_health(std::uint32_t target, Health health, Fault fault, bool told_down,
                        base::BootTime now);
    Believed verified(std::uint32_t device, bool up, base::BootTime now);

    // Rises when something changes that may explain other devices: what was found out about one
    // holds while this and the device's own revision stay.
    std::uint64_t explanations() const { return explanations_; }

    // The device above `device` that explains why it does not answer, the topmost one.
    std::optional<std::uint32_t> root_of(std::uint32_t device) const;
    // Monitored devices on the way up, nearest first, at most kMostAncestors.
    std::vector<std::uint32_t> ancestors(std::uint32_t device) const;
    // The device and all that have it on their way up.
    std::vector<std::uint32_t> below(std::uint32_t device) const;

    // Whether it is known how the device is, not by hearsay from before `since`.
    bool known_since(std::uint32_t device, base::BootTime since) const {
        const DeviceState& state = devices_[device];
        return state.down || state.answered_at >= since;
    }
    // Whether a question goes out now; not while another one is on its way.
    bool ask(std::uint32_t device, base::BootTime now, base::Duration timeout);
    // The same, and whoever was asked before will not answer any more.
    bool ask_again(std::uint32_t device, base::BootTime now);

    using ByTime = std::set<std::pair<base::BootTime, std::uint32_t>>;
    const ByTime& failing() const { return failing_; }
    // Verified down although none of its targets fails: nobody will say when it is up again, so it
    // must be asked. Ordered by when it was last.
    const ByTime& doubtful() const { return doubtful_; }

    void write_changes(const TimeCodec& times, std::vector<MemoryRow>& out);
    void write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const;
    // False: unknown or damaged; left out.
    bool restore_target(std::string_view id, std::string_view bytes);
    bool restore_device(std::string_view name, std::string_view bytes, const TimeCodec& times);

    std::size_t memory_bytes() const;

  private:
    static constexpr std::size_t kMostAncestors = 64;

    // What is above a device and when the last change of belief on that way down was.
    struct Above {
        std::uint32_t root;
        base::BootTime since;
    };
    using Walk =
        std::vector<std::pair<std::uint32_t, std::optional<Above>>>;  // what was found so far
    std::optional<Above> above(std::uint32_t device, Walk& walk) const;
    std::optional<Above> dead(std::uint32_t device, Walk& walk) const;

    std::uint32_t add_device(std::string_view name);
    void link(const DeviceFacts& facts);
    void carry_over(const std::vector<TargetState>& targets, const base::FlatIndex& by_id,
                    const std::vector<DeviceState>& devices);
    void refresh_failing(std::uint32_t device, base::BootTime now);
    void refresh_doubt(std::uint32_t device);
    Believed believe(std::uint32_t device, bool down, base::BootTime now);
    void mark_target(std::uint32_t target);
    void mark_device(std::uint32_t device);

    base::SipKey key_;
    std::shared_ptr<const AlertFleet> fleet_;
    std::vector<TargetState> targets_;
    std::vector<DeviceState> devices_;
    base::FlatIndex by_key_;
    base::FlatIndex by_id_;
    base::FlatIndex by_name_;
    std::vector<std::uint32_t> tops_;
    std::size_t monitored_ = 0;
    std::uint64_t explanations_ = 1;
    ByTime failing_;
    ByTime doubtful_;
    std::vector<std::uint32_t> changed_targets_;
    std::vector<std::uint32_t> changed_devices_;
    std::vector<MemoryRow> gone_;
};

}  // namespace pollux::alert
