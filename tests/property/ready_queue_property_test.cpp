// The fair pick against a search through everything that is ready.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedule/ready_queue.hpp"
#include "schedule/task_table.hpp"

namespace pollux::tests {
namespace {

using base::BootTime;
using model::Tier;
using schedule::Place;
using schedule::TaskSlot;
using namespace std::chrono_literals;

constexpr std::uint16_t kClasses = 3;
constexpr base::Duration kStep = 30s;

struct Ready {
    schedule::TaskTable tasks;
    schedule::ReadyQueue queue{tasks};
    std::vector<std::uint32_t> waiting;
    BootTime now{3'600'000'000'000};

    Ready() {
        queue.set_aging_step(kStep);
        for (std::uint16_t c = 0; c < kClasses; ++c) queue.set_class_weight(c, c + 1U);
    }

    void push(std::uint32_t seed) {
        const std::uint32_t task = tasks.add("c::" + std::to_string(tasks.size()));
        TaskSlot& slot = tasks[task];
        slot.class_index = static_cast<std::uint16_t>(seed % kClasses);
        slot.run_tier = static_cast<Tier>(seed / 3 % 4);
        // Every fourth comes back from a wait queue: ready for longer than others in the queue.
        const auto waited = std::chrono::seconds(seed / 16 % 4 == 0 ? seed / 64 % 200 : 0);
        slot.ready_since = now - waited;
        slot.place = Place::kReady;
        queue.push(task);
        waiting.push_back(task);
    }

    void leave(std::uint32_t task, Place place) {
        queue.note_left(task);
        tasks[task].place = place;
        std::erase(waiting, task);
    }

    int effective(std::uint32_t task) const {
        const auto steps = (now - tasks[task].ready_since) / kStep;
        return static_cast<int>(
            std::min<std::int64_t>(3, static_cast<int>(tasks[task].run_tier) + steps));
    }

    // Whether nobody outside the blocked classes should have gone before it.
    bool may_go(std::uint32_t task, const std::vector<std::uint16_t>& blocked) const {
        return std::ranges::all_of(waiting, [&](std::uint32_t other) {
            const TaskSlot& a = tasks[task];
            const TaskSlot& b = tasks[other];
            if (std::ranges::find(blocked, b.class_index) != blocked.end()) return true;
            if (effective(other) != effective(task)) return effective(other) < effective(task);
            return a.class_index != b.class_index || a.ready_since <= b.ready_since;
        });
    }
};

RC_GTEST_PROP(ReadyQueue, TheMostUrgentGoesFirst, (const std::vector<std::uint32_t>& seeds)) {
    Ready ready;
    for (const std::uint32_t seed : seeds) {
        ready.now += std::chrono::milliseconds(1 + seed % 20'000);
        if (seed % 5 != 0) {
            ready.push(seed / 5);
            continue;
        }
        std::vector<std::uint16_t> blocked;
        ready.queue.begin_turn(ready.now);
        for (std::uint32_t picks = 0; picks < seed / 5 % 8; ++picks) {
            const auto task = ready.queue.next();
            const bool any = std::ranges::any_of(ready.waiting, [&](std::uint32_t one) {
                return std::ranges::find(blocked, ready.tasks[one].class_index) == blocked.end();
            });
            RC_ASSERT(task.has_value() == any);
            if (!task) break;
            RC_ASSERT(ready.may_go(*task, blocked));
            switch ((seed >> (8 + picks)) % 6) {
                case 0:
                    blocked.push_back(ready.tasks[*task].class_index);
                    ready.queue.class_blocked();
                    break;
                case 1:
                    ready.queue.parked();
                    ready.leave(*task, Place::kDeviceQueue);
                    break;
                default:
                    ready.queue.started();
                    ready.leave(*task, Place::kRunning);
                    break;
            }
        }
        RC_ASSERT(ready.queue.size() == ready.waiting.size());
    }
}

// All classes have work of one tier: in each round a class gets as many starts as its weight.
RC_GTEST_PROP(ReadyQueue, ClassesShareByWeight, ()) {
    Ready ready;
    const auto each = *rc::gen::inRange<std::uint32_t>(20, 60);
    for (std::uint32_t i = 0; i < each * kClasses; ++i) ready.push(3 + i % kClasses);
    std::map<std::uint16_t, std::uint32_t> starts;
    std::uint32_t total = 0;
    while (std::ranges::all_of(starts, [&](const auto& one) { return one.second < each; })) {
        ready.now += std::chrono::milliseconds(*rc::gen::inRange(1, 50));
        ready.queue.begin_turn(ready.now);
        const auto batch = *rc::gen::inRange(1, 12);
        for (int i = 0; i < batch; ++i) {
            const auto task = ready.queue.next();
            if (!task) break;
            ++starts[ready.tasks[*task].class_index];
            ++total;
            ready.queue.started();
            ready.leave(*task, Place::kRunning);
            const bool used_up =
                std::ranges::any_of(starts, [&](const auto& one) { return one.second >= each; });
            if (used_up) break;
            for (std::uint16_t c = 0; c < kClasses; ++c) {
                const double share = (c + 1) / 6.0 * total;
                RC_ASSERT(starts[c] + 3.0 >= share && starts[c] <= share + 3.0);
            }
        }
    }
    RC_ASSERT(total > 20U);
}

// However many critical tasks keep coming, a low one is served within three steps and a round.
RC_GTEST_PROP(ReadyQueue, WaitingIsBounded, ()) {
    Ready ready;
    ready.push(0);  // class 0, tier low
    const std::uint32_t low = ready.waiting.front();
    const BootTime added = ready.now;
    while (ready.tasks[low].place == Place::kReady) {
        ready.now += std::chrono::milliseconds(*rc::gen::inRange(100, 2000));
        const auto fresh = *rc::gen::inRange(1, 3);
        for (int i = 0; i < fresh; ++i) ready.push(static_cast<std::uint32_t>(9 + i % kClasses));
        ready.queue.begin_turn(ready.now);
        const auto task = ready.queue.next();
        RC_ASSERT(task.has_value());
        ready.queue.started();
        ready.leave(*task, Place::kRunning);
        // Of the classes that stand between, each may take its whole share first.
        RC_ASSERT(ready.now - added < 3 * kStep + 20s);
        if (ready.waiting.size() > 200) break;
    }
}

}  // namespace
}  // namespace pollux::tests
