// A restart at any moment changes nothing: the same notifications with the same ids, bodies and
// times as without it.
#include <gtest/gtest.h>

#include <set>

#include "alert/planner_test_support.hpp"
#include "base/test_random.hpp"

namespace pollux::alert {
namespace {

using model::Severity;
using testing::hours;
using testing::minutes;
using testing::seconds;
using testing::World;

void set_up(World& world, std::uint64_t seed) {
    base::TestRandom random(seed);
    world.receivers = {testing::receiver("ops", random.one_in(2) ? 0 : 3),
                       testing::receiver("lead", 2), testing::receiver("boss")};
    model::NotifyRoute day = testing::route("day", {"ops"});
    day.order = 1;
    day.at_least = Severity::kWarning;
    day.repeat = random.one_in(2) ? minutes(20) : minutes(0);
    day.go_on = random.one_in(2);
    day.quiet = {{"30 12 * * *", minutes(40), "UTC"}, {"0 15 * * *", hours(1), "UTC"}};
    day.escalation = {{minutes(10), {"lead"}}, {minutes(40), {"boss", "ops"}}};
    model::NotifyRoute rest = testing::route("rest", {"lead", "ops"});
    rest.order = 2;
    rest.group_by = {"site"};
    rest.group_wait = seconds(40);
    if (random.one_in(2)) rest.only_during = {{"0 * * * *", minutes(25), "UTC"}};
    world.routes = {day, rest};
    world.settings.review = random.one_in(5);
    world.configure();
}

// One random event; both worlds get the same.
void act(World& world, base::TestRandom& random, std::vector<std::string>& open) {
    const auto pick = [&]() -> const std::string& { return open[random.below(open.size())]; };
    switch (open.empty() ? 0 : random.below(10)) {
        case 0:
        case 1:
        case 2: {
            const std::string device = "host-" + std::to_string(random.below(6));
            const auto severity = static_cast<Severity>(random.below(5));
            open.push_back(
                world.open(device, severity, {{"site", random.one_in(2) ? "berlin" : "munich"}}));
            break;
        }
        case 3:
        case 4: {
            const std::size_t at = random.below(open.size());
            world.resolve(open[at]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        }
        case 5: world.acknowledge(pick()); break;
        case 6: world.end_acknowledgement(pick()); break;
        case 7: world.set_severity(pick(), static_cast<Severity>(random.below(5))); break;
        case 8:
            world.silence("silence-" + std::to_string(random.below(3)),
                          "host-" + std::to_string(random.below(6)), minutes(10));
            break;
        case 9: {
            const std::size_t at = random.below(open.size());
            const std::string& into = pick();
            if (into == open[at]) break;
            world.merge(open[at], into);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        }
    }
    world.advance(std::chrono::milliseconds(random.below(400'000)));
}

std::string line_of(const std::vector<model::Notification>& sent, std::size_t at) {
    if (at >= sent.size()) return "-";
    const model::Notification& one = sent[at];
    return base::format_utc(one.made) + ' ' + std::string(to_string(one.kind)) + ' ' +
           one.receiver + ' ' + one.route + ' ' + one.incident;
}

// Where two stories part, and how they go on.
std::string place_of(const World& straight, const World& broken) {
    const auto& a = straight.sent;
    const auto& b = broken.sent;
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
    std::string text = std::to_string(i) + " of " + std::to_string(a.size()) + " and " +
                       std::to_string(b.size()) + ":";
    for (std::size_t k = i; k < i + 6; ++k) {
        text += "\n  " + line_of(a, k) + " | " + line_of(b, k);
    }
    return text;
}

class PlannerRestart : public ::testing::TestWithParam<std::uint64_t> {};

void expect_the_same_story(std::uint64_t seed) {
    World straight;
    World broken;
    set_up(straight, seed);
    set_up(broken, seed);
    base::TestRandom first(seed);
    base::TestRandom second(seed);
    base::TestRandom when(seed + 1'000);
    std::vector<std::string> open_first;
    std::vector<std::string> open_second;
    for (int i = 0; i < 60; ++i) {
        act(straight, first, open_first);
        act(broken, second, open_second);
        if (when.one_in(3)) broken.restart();
    }
    straight.advance(hours(6));
    broken.restart();
    broken.advance(hours(6));
    ASSERT_TRUE(straight.sent == broken.sent)
        << "first difference at " << place_of(straight, broken);
    EXPECT_FALSE(straight.sent.empty());
}

TEST_P(PlannerRestart, GivesTheSameNotificationsAsWithout) { expect_the_same_story(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Seeds, PlannerRestart, ::testing::Range<std::uint64_t>(0, 60));

// What receivers hear is a story: a problem before its end, each once.
TEST_P(PlannerRestart, EveryReceiverHearsAStory) {
    World world;
    set_up(world, GetParam());
    base::TestRandom random(GetParam());
    std::vector<std::string> open;
    for (int i = 0; i < 60; ++i) act(world, random, open);
    for (const std::string& incident : open) world.resolve(incident);
    world.advance(hours(24));
    std::set<std::string> known;
    std::set<std::string> ids;
    std::uint64_t number = 0;
    for (const model::Notification& one : world.sent) {
        EXPECT_TRUE(ids.insert(one.id).second) << one.id;
        EXPECT_GT(one.number, number);
        number = one.number;
        const bool limited = world.planner->router().receiver(one.receiver)->channels[0].per_minute;
        // Digests take some messages out of the story.
        if (one.incident.empty() || limited) continue;
        const std::string who = one.route + '/' + one.incident + '/' + one.receiver;
        switch (one.kind) {
            case model::NotificationKind::kProblem: EXPECT_TRUE(known.insert(who).second); break;
            case model::NotificationKind::kEscalation: known.insert(who); break;
            case model::NotificationKind::kRecovery: EXPECT_EQ(known.erase(who), 1U); break;
            default: EXPECT_TRUE(known.contains(who)); break;
        }
    }
    EXPECT_TRUE(known.empty()) << "everybody who was told hears of the end";
    EXPECT_EQ(world.planner->cases(), 0U);
    EXPECT_EQ(world.planner->groups(), 0U);
}

}  // namespace
}  // namespace pollux::alert
