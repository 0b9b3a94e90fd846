// A world for alerts in virtual time: devices that stand behind each other and fail, polls that
// climb the failure ladder, the alert engine, the planner of notifications and the self-monitoring
// as the server runs them, a store that keeps what they say, and a process that may die at any
// moment. One seed, one story.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "alert/alert_engine.hpp"
#include "alert/notification_planner.hpp"
#include "alert/self_census.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"

namespace pollux::sim {

struct AlertDevice {
    std::string name;
    alert::ParentGroups parents;
};

struct AlertWorldOptions {
    std::uint64_t seed = 1;
    base::Duration interval = std::chrono::seconds(60);
    base::Duration shortest_answer = std::chrono::milliseconds(20);
    base::Duration longest_answer = std::chrono::seconds(3);  // of a device that is asked anew
    alert::AlertSettings settings;
};

class AlertWorld {
  public:
    AlertWorld(AlertWorldOptions options, std::vector<AlertDevice> devices);

    // What happens, told before its time comes.
    void fail(const std::string& device, base::Duration at) { plan(at, Fate::kFails, device); }
    void recover(const std::string& device, base::Duration at) {
        plan(at, Fate::kRecovers, device);
    }
    void cut_uplink(base::Duration at) { plan(at, Fate::kCut, ""); }
    void mend_uplink(base::Duration at) { plan(at, Fate::kMended, ""); }
    void restart(base::Duration at) { plan(at, Fate::kRestarts, ""); }

    void run_until(base::Duration end);

    struct Message {
        base::Duration at{};
        model::NotificationKind kind = model::NotificationKind::kProblem;
        std::string title;
        std::string root;  // device; empty: of no device
        std::string incident;
        bool operator==(const Message&) const = default;
    };
    const std::vector<Message>& messages() const { return messages_; }
    std::vector<Message> messages(model::NotificationKind kind) const;
    std::vector<model::Incident> incidents() const;  // all that ever were
    std::size_t open_alerts(model::AlertState state) const;
    std::size_t active_ever() const { return active_.size(); }  // alerts that somebody had to see
    // Rules of the world that did not hold, in words.
    const std::vector<std::string>& violations() const { return violations_; }
    const alert::AlertEngine& engine() const { return *engine_; }
    // A process died while somebody was being asked: he is asked again, and so polls come at other
    // moments from then on.
    bool cut_off_questions() const { return cut_off_questions_; }

  private:
    enum class Fate : std::uint8_t {
        kFails,
        kRecovers,
        kCut,
        kMended,
        kRestarts,
        kPoll,
        kAnswer,
        kSurvey
    };
    struct Event {
        base::Duration at{};
        std::uint64_t order = 0;
        Fate fate = Fate::kPoll;
        std::uint32_t device = 0;
        std::uint32_t generation = 0;  // of the process, or of the device's plan
        auto operator<=>(const Event& other) const {
            return std::pair(at, order) <=> std::pair(other.at, other.order);
        }
    };
    struct Device {
        AlertDevice facts;
        bool up = true;
        std::uint32_t failures = 0;
        std::uint32_t plan = 0;           // the newest plan of its next poll counts
        base::Duration verified{-1};      // when the engine last heard for certain how it is
        base::Duration failed_since{-1};  // first failure that the engine was told
        base::Duration confirmed_at{-1};  // when that was confirmed
    };

    void plan(base::Duration at, Fate fate, const std::string& device);
    void schedule(base::Duration at, Fate fate, std::uint32_t device, std::uint32_t generation);
    void happen(const Event& event);
    void poll(std::uint32_t device);
    bool reachable(std::uint32_t device) const;
    bool way_is_clear(std::uint32_t device, std::set<std::uint32_t>& seen) const;
    void tell_health(std::uint32_t device);
    void survey();
    void step();
    void ask(const std::vector<alert::Verify>& questions);
    void keep(const alert::Output& out);
    void plan_messages(const alert::Output& out);
    void check_message(const Message& message, const model::Incident& incident);
    base::Duration trouble_since(const model::Incident& incident) const;
    bool is_unverified(const model::Incident& incident) const;
    void reborn();
    std::unique_ptr<alert::NotificationPlanner> make_planner() const;
    base::Instant now() const;
    std::uint64_t random(std::uint64_t purpose);
    base::Duration between(base::Duration low, base::Duration high, std::uint64_t purpose);

    AlertWorldOptions options_;
    std::shared_ptr<const alert::AlertFleet> fleet_;
    std::vector<Device> devices_;
    std::map<std::string, std::uint32_t, std::less<>> index_;
    bool uplink_ = true;
    base::Duration clock_{};
    std::set<Event> events_;
    std::uint64_t orders_ = 0;
    std::uint64_t draws_ = 0;
    std::uint32_t process_ = 0;
    bool cut_off_questions_ = false;

    std::unique_ptr<alert::AlertEngine> engine_;
    std::unique_ptr<alert::NotificationPlanner> planner_;
    alert::SelfMonitor self_;
    alert::SelfCensus census_;
    std::uint64_t answered_polls_ = 0;
    std::uint64_t failed_polls_ = 0;
    std::vector<alert::Input> inputs_;
    base::BootTime engine_wake_ = base::BootTime::max();

    // The store.
    std::map<std::string, model::Alert, std::less<>> alerts_;
    std::map<std::string, model::Incident, std::less<>> incidents_;
    std::map<std::string, std::string, std::less<>> engine_rows_;
    std::map<std::string, std::string, std::less<>> planner_rows_;
    std::set<std::string, std::less<>> sent_;  // ids of notifications
    std::vector<Message> messages_;
    std::set<std::string, std::less<>> active_;
    std::set<std::string, std::less<>> open_;  // fingerprints
    std::vector<std::string> violations_;
};

}  // namespace pollux::sim
