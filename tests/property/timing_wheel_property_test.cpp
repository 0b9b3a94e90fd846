// The timing wheel against a plain list that is searched for the smallest tick.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/timing_wheel.hpp"

namespace pollux::tests {
namespace {

using base::BootTime;

constexpr std::int64_t kMillisecond = 1'000'000;

struct Entry {
    std::uint64_t tick;
    std::uint64_t order;
    std::uint32_t id;
};

class PlainWheel {
  public:
    explicit PlainWheel(std::int64_t origin_ns)
        : now_(static_cast<std::uint64_t>(origin_ns / kMillisecond)) {}

    std::uint32_t arm(std::uint32_t id, std::int64_t due_ns) {
        const auto wanted = static_cast<std::uint64_t>(
            due_ns <= 0 ? 0 : (due_ns + kMillisecond - 1) / kMillisecond);
        const std::uint64_t furthest = now_ + 0xFFFFFFFFULL;
        const std::uint64_t tick = std::clamp(wanted, now_, furthest);
        entries_.push_back({tick, ++order_, id});
        return static_cast<std::uint32_t>(tick);
    }

    std::vector<std::uint32_t> advance(std::int64_t now_ns) {
        now_ = std::max(now_, static_cast<std::uint64_t>(now_ns / kMillisecond));
        std::vector<Entry> due;
        std::erase_if(entries_, [&](const Entry& entry) {
            if (entry.tick > now_) return false;
            due.push_back(entry);
            return true;
        });
        return ids(std::move(due));
    }

    std::vector<std::uint32_t> in_order() const { return ids(entries_); }
    std::size_t size() const { return entries_.size(); }
    std::uint64_t first_tick() const {
        return std::ranges::min_element(entries_, {}, &Entry::tick)->tick;
    }
    template <class IsDead>
    void drop(IsDead&& dead) {
        std::erase_if(entries_, [&](const Entry& entry) { return dead(entry.id); });
    }

  private:
    static std::vector<std::uint32_t> ids(std::vector<Entry> entries) {
        std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
            return std::pair(a.tick, a.order) < std::pair(b.tick, b.order);
        });
        std::vector<std::uint32_t> result;
        for (const Entry& entry : entries) result.push_back(entry.id);
        return result;
    }

    std::uint64_t now_;
    std::uint64_t order_ = 0;
    std::vector<Entry> entries_;
};

// Mostly soon, sometimes beyond every level of the wheel.
std::int64_t some_distance() {
    const int octave = *rc::gen::inRange(0, 53);
    return *rc::gen::inRange<std::int64_t>(0, std::int64_t{2} << octave);
}

RC_GTEST_PROP(TimingWheel, FiresWhatAPlainListWouldFire, ()) {
    std::int64_t now = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 55);
    base::TimingWheel wheel(BootTime{now});
    PlainWheel plain(now);
    std::uint32_t next_id = 0;
    const int rounds = *rc::gen::inRange(1, 60);
    for (int round = 0; round < rounds; ++round) {
        const int armed = *rc::gen::inRange(0, 8);
        for (int i = 0; i < armed; ++i) {
            const std::int64_t due =
                now + some_distance() - (round % 5 == 0 ? 3 * kMillisecond : 0);
            RC_ASSERT(wheel.arm(next_id, BootTime{due}) == plain.arm(next_id, due));
            ++next_id;
        }
        std::vector<std::uint32_t> shown;
        wheel.visit_in_order([&](std::uint32_t id, std::uint32_t) {
            shown.push_back(id);
            return true;
        });
        RC_ASSERT(shown == plain.in_order());
        if (plain.size() > 0) {
            const auto first = static_cast<std::int64_t>(plain.first_tick()) * kMillisecond;
            RC_ASSERT(wheel.next_event().ns <= std::max(first, now));
        }
        now += some_distance() / 4;
        std::vector<std::uint32_t> fired;
        wheel.advance(BootTime{now}, [&](std::uint32_t id, std::uint32_t) { fired.push_back(id); });
        RC_ASSERT(fired == plain.advance(now));
        if (round % 7 == 6) {
            const auto dead = [](std::uint32_t id) { return id % 3 == 0; };
            wheel.compact([&](std::uint32_t id, std::uint32_t) { return !dead(id); });
            plain.drop(dead);
        }
        RC_ASSERT(wheel.size() == plain.size());
    }
}

// What fires may arm again for the same moment: it waits for the next advance, so this always ends.
RC_GTEST_PROP(TimingWheel, WhatFiresMayArmAgain, ()) {
    base::TimingWheel wheel(BootTime{0});
    const auto dues = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, 1'000 * kMillisecond));
    for (std::size_t i = 0; i < dues.size(); ++i) {
        wheel.arm(static_cast<std::uint32_t>(i), BootTime{dues[i]});
    }
    const BootTime now{*rc::gen::inRange<std::int64_t>(0, 1'000) * kMillisecond};
    std::size_t fired = 0;
    wheel.advance(now, [&](std::uint32_t id, std::uint32_t) {
        wheel.arm(id, now);
        ++fired;
    });
    std::size_t again = 0;
    wheel.advance(now, [&](std::uint32_t, std::uint32_t) { ++again; });
    RC_ASSERT(again == fired);
    RC_ASSERT(wheel.size() == dues.size() - fired);
}

}  // namespace
}  // namespace pollux::tests
