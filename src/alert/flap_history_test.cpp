#include "alert/flap_history.hpp"

#include <gtest/gtest.h>

namespace pollux::alert {
namespace {

using namespace std::chrono_literals;

constexpr base::BootTime kStart{3'600'000'000'000};

TEST(FlapHistory, WeighsTwentyStatesFromOldToNew) {
    FlapSettings settings;
    settings.cool_down = 1h;
    FlapHistory history;
    base::BootTime now = kStart;
    history.change(now, settings);
    EXPECT_NEAR(history.percent(now, settings), 100 * 1.15 / 20, 1e-9);
    for (int i = 1; i < 20; ++i) history.change(now += 1s, settings);
    EXPECT_NEAR(history.percent(now, settings), 97.5, 1e-9);  // 20 states of 0.8 to 1.15
    // One change is left, the newest, now the oldest.
    EXPECT_NEAR(history.percent(now + 19min, settings), 100 * 0.8 / 20, 1e-9);
    EXPECT_EQ(history.percent(now + 20min, settings), 0);
}

TEST(FlapHistory, BeginsAtTheHighAndEndsBelowTheLowThreshold) {
    FlapSettings settings;
    settings.cool_down = 1s;
    FlapHistory history;
    base::BootTime now = kStart;
    for (int i = 0; i < 5; ++i) history.change(now += 1s, settings);
    EXPECT_LT(history.percent(now, settings), 30);
    EXPECT_FALSE(history.flapping());
    history.change(now += 1s, settings);
    EXPECT_GE(history.percent(now, settings), 30);
    EXPECT_TRUE(history.flapping());
    // Quiet minutes are states without a change: the share falls, from the old end first.
    const base::BootTime steady = history.steady_at(settings);
    while (history.flaps(now += 1min, settings)) EXPECT_GT(history.percent(now, settings), 25);
    EXPECT_LE(history.percent(now, settings), 25);
    EXPECT_EQ(now, steady);
}

TEST(FlapHistory, EndsOnlyAfterTheCoolDown) {
    FlapSettings settings;
    FlapHistory history;
    history.change(kStart, settings);
    history.begin_flapping();
    EXPECT_TRUE(history.flaps(kStart + 15min - 1ns, settings));
    EXPECT_EQ(history.steady_at(settings), kStart + 15min);
    EXPECT_FALSE(history.flaps(kStart + 15min, settings));
}

TEST(FlapHistory, TheLastAllowedTellingIsFlapping) {
    FlapSettings settings;
    FlapHistory history;
    history.change(kStart, settings);
    history.tell(kStart, settings);
    history.tell(kStart + 1min, settings);
    EXPECT_FALSE(history.flapping());
    EXPECT_EQ(history.recent(kStart + 15min - 1ns, settings), 2U);
    EXPECT_EQ(history.recent(kStart + 15min, settings), 1U);
    history.tell(kStart + 2min, settings);
    EXPECT_TRUE(history.flapping());
}

TEST(FlapHistory, SurvivesItsBytes) {
    const FlapSettings settings;
    const base::Instant now{kStart + 1h, base::WallTime{1'700'000'000'000'000}};
    FlapHistory history;
    history.previous = "0190-a";
    for (int i = 0; i < 4; ++i) {
        history.change(kStart + i * 20s, settings);
        history.tell(kStart + i * 20s, settings);
    }
    base::ByteWriter out;
    history.encode(out, TimeCodec(now));
    base::ByteReader in(out.view());
    // After a reboot: the clock since boot began anew, the wall clock went on.
    const base::Instant later{base::BootTime{5'000'000'000}, now.wall + base::Duration(10s)};
    const FlapHistory back = FlapHistory::decode(in, TimeCodec(later));
    EXPECT_TRUE(in.ok() && in.at_end());
    EXPECT_EQ(later.boot - back.changed_at(), now.boot + 10s - history.changed_at());
    EXPECT_EQ(back.percent(later.boot, settings), history.percent(now.boot + 10s, settings));
    EXPECT_EQ(back.flapping(), history.flapping());
    EXPECT_EQ(back.previous, history.previous);
}

}  // namespace
}  // namespace pollux::alert
