// The tasks whose time has come, and the fair choice among them: highest tier first (raised one
// step for each aging step waited), then the classes in turn by deficit round robin, then whoever
// has been ready longest. The whole ready set is always visible; a batch limits the work of one
// turn, never what can be seen.
//
// Invariants:
//  1. Entries of one class and tier are in the order of ready_since.
//  2. An entry is live iff its task is ready under exactly that ticket (kept in wheel_tick, which a
//     ready task does not need); dead ones are dropped when they come to the head.
//  3. Within one turn time stands still, so effective tiers are computed once per class and again
//     only for the class that was served. Who comes in during a turn takes part in it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "model/tier.hpp"
#include "schedule/task_table.hpp"

namespace pollux::schedule {

class ReadyQueue {
  public:
    explicit ReadyQueue(TaskTable& tasks) : tasks_(tasks) {}

    void set_class_weight(std::uint16_t class_index, std::uint32_t weight);
    void set_aging_step(base::Duration step) { aging_step_ = step; }

    // The task's class_index, run_tier and ready_since must be set.
    void push(std::uint32_t task);
    void note_left(std::uint32_t task);  // it is no longer ready, whatever the reason

    std::size_t size() const { return size_; }
    std::size_t size(std::uint16_t class_index, model::Tier tier) const {
        return classes_[class_index].tiers[static_cast<std::size_t>(tier)].live;
    }
    std::size_t size(std::uint16_t class_index) const {
        std::size_t sum = 0;
        for (const Lane& lane : classes_[class_index].tiers) sum += lane.live;
        return sum;
    }
    std::size_t class_count() const { return classes_.size(); }

    // One turn of picking. next() names the task whose turn it is; the caller resolves it in one of
    // three ways before asking again.
    void begin_turn(base::BootTime now);
    void end_turn();
    std::optional<std::uint32_t> next();
    void started();        // charged to its class; the entry is gone
    void parked();         // went to wait elsewhere; not charged
    void class_blocked();  // a limit of its whole class is reached: not again in this turn

    model::Tier effective_tier(model::Tier tier, base::BootTime ready_since,
                               base::BootTime now) const;

    // How many ready tasks would be chosen before this one if nothing else changed: those of a
    // higher effective tier, and those of its own that have been ready longer.
    std::size_t place_in_line(std::uint32_t task, base::BootTime now) const;

    std::size_t memory_bytes() const;

  private:
    static constexpr std::uint8_t kNoRing = 0xFF;       // nothing ready
    static constexpr std::uint8_t kBlockedRing = 0xFE;  // not again in this turn

    struct Entry {
        base::BootTime ready_since;
        std::uint32_t task;
        std::uint32_t ticket;
        bool operator>(const Entry& other) const {
            return ready_since != other.ready_since ? ready_since > other.ready_since
                                                    : task > other.task;
        }
    };
    struct Lane {
        std::deque<Entry> fresh;      // came in the order of time
        std::vector<Entry> returned;  // came back from a wait queue: a heap, older ones first
        std::size_t live = 0;
    };
    struct ClassQueue {
        std::array<Lane, model::kTierCount> tiers;
        std::uint32_t weight = 1;
        std::uint32_t deficit = 0;
        std::uint8_t ring = kNoRing;  // of the current turn
    };
    struct Best {
        model::Tier effective = model::Tier::kLow;
        std::size_t lane = 0;
    };

    const Entry* head(Lane& lane);
    void drop_head(Lane& lane);
    bool is_live(const Entry& entry) const;
    std::optional<Best> best_of(ClassQueue& queue);
    void settle(bool requeue);
    void enter_ring(std::size_t ring, std::uint16_t class_index);
    void leave_ring(std::uint16_t class_index);
    void join_turn(std::uint16_t class_index, const Entry& entry, model::Tier tier);

    TaskTable& tasks_;
    std::vector<ClassQueue> classes_;
    std::uint32_t last_ticket_ = 0;
    std::size_t size_ = 0;
    base::Duration aging_step_ = std::chrono::seconds(30);

    // State of the current turn.
    bool in_turn_ = false;
    base::BootTime now_;
    std::array<std::deque<std::uint16_t>, model::kTierCount> rings_;
    std::array<std::uint16_t, model::kTierCount> last_served_{};
    std::uint16_t current_class_ = 0;
    std::size_t current_lane_ = 0;
};

}  // namespace pollux::schedule
