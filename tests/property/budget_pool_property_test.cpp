// A pool never plans more polls than its budget, and who changes more is never asked less.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/math.hpp"
#include "schedule/budget_pool.hpp"

namespace pollux::tests {
namespace {

using schedule::BandLimits;
using schedule::BudgetPool;

// A shape is planned as the middle of its eighth-octave bucket: wrong by a sixteenth at most.
constexpr double kBucketPlay = 1.0451;

struct Member {
    std::uint8_t band = 0;
    std::int16_t bucket = BudgetPool::kNoBucket;
    double shape = 1;
    BandLimits limits;
    std::uint32_t base_ms = 0;
};

struct Fleet {
    BudgetPool pool;
    std::vector<Member> members;

    double planned() const {
        double rate = 0;
        for (const Member& one : members) rate += 1 / pool.interval_s(one.band, one.shape);
        return rate;
    }
};

// Up to 500 members with rates over six decades, in a few bands.
Fleet some_fleet() {
    Fleet fleet;
    const auto count = *rc::gen::inRange<std::size_t>(1, 500);
    for (std::size_t i = 0; i < count; ++i) {
        Member one;
        one.base_ms =
            static_cast<std::uint32_t>(*rc::gen::element(10'000, 30'000, 60'000, 300'000));
        one.limits.min_ms = *rc::gen::element(1'000U, 5'000U);
        one.limits.stretch_ms = one.base_ms * 3 / 2;
        one.limits.bound_ms = std::max(60'000U, one.base_ms * 2);
        one.shape = base::fixed_exp2(*rc::gen::inRange(-3000, 9000) * 1e-3);
        one.band = fleet.pool.join(one.limits, schedule::rate_of(one.base_ms));
        one.bucket = fleet.pool.move(one.band, one.bucket, one.shape);
        fleet.members.push_back(one);
    }
    return fleet;
}

RC_GTEST_PROP(BudgetPool, ThePollsOfAllMembersFitTheBudget, ()) {
    Fleet fleet = some_fleet();
    const double floor = fleet.pool.floor_rate(*rc::gen::inRange(0, 500) * 1e-3);
    const double budget =
        std::max(floor, fleet.pool.wanted_rate(1)) * (1 + *rc::gen::inRange(0, 200) * 1e-2);
    fleet.pool.solve(base::BootTime{1}, {budget, true, model::DegradedChoice::kMeanFirst});
    RC_ASSERT(fleet.planned() <= budget * kBucketPlay);
    for (const Member& one : fleet.members) {
        const double interval = fleet.pool.interval_s(one.band, one.shape);
        RC_ASSERT(interval >= one.limits.min_ms * 1e-3);
        RC_ASSERT(interval <= std::max(one.limits.stretch_ms, one.limits.min_ms) * 1e-3);
        RC_ASSERT(interval <= one.limits.bound_ms * 1e-3);
    }
}

RC_GTEST_PROP(BudgetPool, BoundsGiveWayWhenTheyNeedMoreThanThereIs, ()) {
    Fleet fleet = some_fleet();
    const double floor = fleet.pool.floor_rate(0.1);
    const double budget = floor * *rc::gen::inRange(5, 100) * 1e-2;
    const auto choice =
        *rc::gen::element(model::DegradedChoice::kMeanFirst, model::DegradedChoice::kTailFirst);
    fleet.pool.solve(base::BootTime{1}, {budget, false, choice});
    RC_ASSERT(fleet.planned() <= budget * kBucketPlay);
    double at_limits = 0;
    for (const Member& one : fleet.members) at_limits += 1 / fleet.pool.longest_s(one.band);
    RC_ASSERT(at_limits <= budget * 1.0001);
}

RC_GTEST_PROP(BudgetPool, MoreChangesAreNeverAskedLessOften, ()) {
    Fleet fleet = some_fleet();
    const double budget = std::max(fleet.pool.floor_rate(0), fleet.pool.wanted_rate(1));
    fleet.pool.solve(base::BootTime{1}, {budget, true, model::DegradedChoice::kMeanFirst});
    for (const Member& a : fleet.members) {
        for (const Member& b : fleet.members) {
            if (a.band != b.band || a.shape > b.shape) continue;
            RC_ASSERT(fleet.pool.interval_s(a.band, a.shape) <=
                      fleet.pool.interval_s(b.band, b.shape));
        }
    }
}

// What joins and leaves again leaves nothing behind.
RC_GTEST_PROP(BudgetPool, MembersLeaveNothingBehind, ()) {
    Fleet fleet = some_fleet();
    const double wanted = fleet.pool.wanted_rate(1);
    BandLimits limits{1'000, 90'000, 120'000};
    std::vector<Member> guests(20);
    for (Member& guest : guests) {
        guest.band = fleet.pool.join(limits, schedule::rate_of(60'000));
        guest.bucket = fleet.pool.move(guest.band, BudgetPool::kNoBucket, 3);
    }
    for (const Member& guest : guests) {
        fleet.pool.leave(guest.band, guest.bucket, schedule::rate_of(60'000));
    }
    RC_ASSERT(fleet.pool.members() == fleet.members.size());
    RC_ASSERT(fleet.pool.wanted_rate(1) == wanted);
}

}  // namespace
}  // namespace pollux::tests
