// Random histories: a restart at any moment changes nothing, and neither does the order in which
// parents and children fail.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "alert/alert_test_support.hpp"
#include "base/test_random.hpp"

namespace pollux::alert {
namespace {

// Two roots, two switches that stand in for each other, hosts behind them, and one alone.
AlertFleet random_fleet(std::uint64_t kind) {
    AlertFleet out =
        fleet_of({"r1", "r2", "s1", "s2", "h1", "h2", "h3", "h4", "x"}, {{"s1", {{"r1"}}},
                                                                         {"s2", {{"r1"}, {"r2"}}},
                                                                         {"h1", {{"s1", "s2"}}},
                                                                         {"h2", {{"s1", "s2"}}},
                                                                         {"h3", {{"s2"}}},
                                                                         {"h4", {{"s2"}, {"r2"}}}});
    for (TargetFacts& facts : out.targets) {
        facts.types = types_of({{.type = "cpu", .hold = 10s},
                                {.type = "fan", .keep_firing_for = 15s},
                                {.type = "beat", .missing_answer = true},
                                {.type = "off", .enabled = kind != 1}});
    }
    out.targets[4].fingerprint = FingerprintStyle::kImported;
    out.targets[5].failure_threshold = FailureThreshold::kFirst;
    if (kind == 1) out.targets.erase(out.targets.begin() + 6);
    if (kind == 2) {
        out.targets[4].address = "203.0.113.9";
        out.devices.erase(out.devices.begin());
        out.targets[7].enabled = false;
    }
    return out;
}

std::string random_device(base::TestRandom& random) {
    static const std::vector<std::string> kNames = {"r1", "r2", "s1", "s2", "h1",
                                                    "h2", "h3", "h4", "x"};
    return kNames[random.below(kNames.size())];
}

Observed random_observed(base::TestRandom& random) {
    static const std::vector<std::string> kTypes = {"disk", "cpu", "fan", "beat", "off"};
    static const std::vector<std::string> kSeverities = {"info", "warning", "critical"};
    Observed out = observed("snmp::" + random_device(random), kTypes[random.below(5)],
                            random.one_in(2) ? ObservedStep::kRaised : ObservedStep::kCleared,
                            random.one_in(3) ? "row" : "");
    out.signal.severity = kSeverities[random.below(3)];
    out.signal.message = std::to_string(random.below(5));
    out.source = random.one_in(3) ? model::AlertSource::kMessage : model::AlertSource::kPoll;
    if (random.one_in(4)) out.occurrences = random.below(20);
    if (random.one_in(10)) out.signal.device_address = "198.51.100.7";
    return out;
}

TargetHealth random_health(base::TestRandom& random) {
    const std::string device = random_device(random);
    switch (random.below(6)) {
        case 0: return suspect(device);
        case 1: {
            TargetHealth out = down(device);
            out.permanent = true;
            return out;
        }
        case 2: {
            TargetHealth out = up(device);
            out.health = Health::kStale;
            return out;
        }
        case 3: return up(device);
        default: return down(device);
    }
}

Act random_act(base::TestRandom& random, const EngineDriver& driver) {
    Act out;
    out.who = "ada";
    out.verb = static_cast<ActVerb>(random.below(5));
    out.sticky = random.one_in(2);
    out.note = "n";
    if (random.one_in(3)) out.until = driver.now().wall + base::Duration(random.below(60) * 1s);
    const auto alerts = driver.alerts();
    const auto incidents = driver.incidents();
    if (!incidents.empty() && random.one_in(4)) {
        out.incident = incidents[random.below(incidents.size())].id;
    } else if (!alerts.empty()) {
        out.alerts = {
            alerts[alerts.size() - 1 - random.below(std::min<std::size_t>(8, alerts.size()))].id};
    }
    return out;
}

External random_external(base::TestRandom& random, const EngineDriver& driver) {
    External out;
    out.labels = {{"alertname", random.one_in(2) ? "One" : "Two"}, {"severity", "warning"}};
    if (random.one_in(2)) out.ends = driver.now().wall + base::Duration(random.below(30) * 1s);
    return out;
}

Input random_input(base::TestRandom& random, const EngineDriver& driver) {
    switch (random.below(20)) {
        case 0: return Input(random_act(random, driver));
        case 1: return Input(random_external(random, driver));
        case 2: return Input(ObserverReport{random.one_in(3), "loop"});
        case 3:
        case 4:
        case 5:
        case 6: return Input(DeviceVerified{random_device(random), random.one_in(2)});
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
        case 12: return Input(random_health(random));
        default: return Input(random_observed(random));
    }
}

std::string text_of(const Output& out) {
    std::string text;
    for (const AlertChange& change : out.alerts) {
        const model::Alert& alert = change.alert;
        text += fmt::format(
            "{} {}: {} {} {} suppressed by '{}' #{} v{} {} {} x{} {}{}{} of {} after {} memory",
            to_string(change.kind), change.cause, alert.device, alert.type, to_string(alert.state),
            to_string(alert.suppressed_by), alert.number, alert.version, alert.title,
            to_string(alert.severity), alert.occurrences, alert.flapping ? "flapping " : "",
            alert.stale ? "stale " : "", alert.unverified ? "unverified" : "", alert.incident,
            alert.previous);
        for (const char byte : alert.memory) {
            text += fmt::format(" {:02x}", static_cast<unsigned char>(byte));
        }
        text += '\n';
    }
    for (const IncidentChange& change : out.incidents) {
        text += fmt::format("incident {} {}: {}\n", to_string(change.kind), change.cause,
                            change.incident.title);
    }
    for (const Verify& one : out.verify) text += "verify " + one.device + "\n";
    return text;
}

void expect_same(const Output& one, const Output& other) {
    RC_ASSERT(text_of(one) == text_of(other));
    RC_ASSERT(one.alerts.size() == other.alerts.size());
    for (std::size_t i = 0; i < one.alerts.size(); ++i) {
        RC_ASSERT(one.alerts[i].kind == other.alerts[i].kind);
        RC_ASSERT(one.alerts[i].cause == other.alerts[i].cause);
        RC_ASSERT(one.alerts[i].alert == other.alerts[i].alert);
    }
    RC_ASSERT(one.incidents.size() == other.incidents.size());
    for (std::size_t i = 0; i < one.incidents.size(); ++i) {
        RC_ASSERT(one.incidents[i].kind == other.incidents[i].kind);
        RC_ASSERT(one.incidents[i].telling == other.incidents[i].telling);
        RC_ASSERT(one.incidents[i].incident == other.incidents[i].incident);
    }
    RC_ASSERT(one.verify == other.verify);
    RC_ASSERT(one.memory == other.memory);
    RC_ASSERT(one.results.size() == other.results.size());
    RC_ASSERT(one.wake_at == other.wake_at);
}

RC_GTEST_PROP(AlertEngineProperty, ARestartAtAnyMomentChangesNothing, (std::uint64_t seed)) {
    base::TestRandom random(seed);
    AlertSettings settings;
    settings.observer.recheck = 20s;
    settings.flap.cool_down = 3min;
    settings.max_open = 12;
    settings.max_histories = 20;
    EngineDriver steady(random_fleet(0), settings);
    EngineDriver restarted(random_fleet(0), settings);
    const std::uint64_t steps = 20 + random.below(100);
    for (std::uint64_t step = 0; step < steps; ++step) {
        std::vector<Input> inputs;
        for (std::uint64_t i = random.below(4); i > 0; --i) {
            inputs.push_back(random_input(random, steady));
        }
        if (random.one_in(25)) {
            const AlertFleet fleet = random_fleet(random.below(3));
            steady.load(fleet);
            restarted.load(fleet);
            expect_same(steady.out(), restarted.out());
        }
        if (random.one_in(4)) restarted.restart();
        expect_same(steady.give(inputs), restarted.give(inputs));
        RC_ASSERT(!::testing::Test::HasFailure());
        const base::Duration pause =
            random.one_in(3) ? base::Duration{} : random.below(12'000) * 1ms;
        steady.idle(pause);
        restarted.idle(pause);
    }
    RC_ASSERT(steady.engine().rows(steady.now()).memory ==
              restarted.engine().rows(restarted.now()).memory);
}

// The world behind a star: what is asked is answered with the truth, a little later.
class World {
  public:
    explicit World(std::uint64_t seed) : random_(seed), driver_(fleet()) {}

    static constexpr int kHosts = 6;

    static AlertFleet fleet() {
        std::vector<std::string> names = {"core"};
        std::vector<DeviceFacts> topology;
        for (int i = 0; i < kHosts; ++i) {
            names.push_back("h" + std::to_string(i));
            topology.push_back({names.back(), {{"core"}}});
        }
        for (int i = 0; i < 40; ++i) names.push_back("other" + std::to_string(i));
        return fleet_of(names, topology);
    }

    // All of the star stops to answer now, and is noticed in any order within this time.
    void kill(base::Duration within) {
        dead_ = true;
        for (const std::string& name : star()) plan(random_within(within), down(name));
    }
    void revive(base::Duration within) {
        dead_ = false;
        for (const std::string& name : star()) plan(random_within(within), up(name));
    }

    void run(base::Duration time) {
        const base::BootTime end = driver_.now().boot + time;
        while (driver_.now().boot < end) {
            base::BootTime next = std::min(end, driver_.now().boot + 500ms);
            if (!plan_.empty()) next = std::min(next, plan_.begin()->first);
            driver_.pass(next - driver_.now().boot);
            while (!plan_.empty() && plan_.begin()->first <= driver_.now().boot) {
                const Input input = std::move(plan_.begin()->second);
                plan_.erase(plan_.begin());
                driver_.give({input});
            }
            answer_questions();
        }
    }

    EngineDriver& driver() { return driver_; }
    void restart_sometimes() {
        if (random_.one_in(2)) driver_.restart();
    }

  private:
    static std::vector<std::string> star() {
        std::vector<std::string> out = {"core"};
        for (int i = 0; i < kHosts; ++i) out.push_back("h" + std::to_string(i));
        return out;
    }
    base::Duration random_within(base::Duration most) {
        return base::Duration(static_cast<std::int64_t>(random_.below(
                                  static_cast<std::uint64_t>(most.count() / 1'000'000 + 1))) *
                              1'000'000);
    }
    void plan(base::Duration after, Input input) {
        plan_.emplace(driver_.now().boot + after, std::move(input));
    }
    void answer_questions() {
        for (; answered_ < driver_.verified.size(); ++answered_) {
            const std::string& name = driver_.verified[answered_];
            plan(random_within(5s), DeviceVerified{name, !dead_ || name.starts_with("other")});
        }
    }

    base::TestRandom random_;
    EngineDriver driver_;
    std::multimap<base::BootTime, Input> plan_;
    std::size_t answered_ = 0;
    bool dead_ = false;
};

TEST(AlertEngineProperty, EveryOrderOfParentAndChildrenIsOneIncidentAndOneRecovery) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        World world(seed);
        world.kill(30s);
        world.run(10s);
        world.restart_sometimes();
        world.run(2min);
        const auto problem = std::pair(Telling::kProblem, std::string());
        ASSERT_EQ(world.driver().told.size(), 1U) << "seed " << seed;
        ASSERT_EQ(world.driver().told[0].first, problem.first) << "seed " << seed;
        ASSERT_EQ(world.driver().incidents().size(), 1U) << "seed " << seed;
        ASSERT_EQ(world.driver().incidents()[0].device, "core") << "seed " << seed;
        world.run(20min);
        world.revive(20s);
        world.run(5s);
        world.restart_sometimes();
        world.run(5min);
        ASSERT_EQ(world.driver().told.size(), 2U) << "seed " << seed;
        ASSERT_EQ(world.driver().told[1].first, Telling::kRecovery) << "seed " << seed;
        ASSERT_EQ(world.driver().engine().stats().open_alerts, 0U) << "seed " << seed;
    }
}

// Whatever happens: no more than three messages about one fingerprint within any cool-down.
RC_GTEST_PROP(AlertEngineProperty, NobodyIsToldMoreThanThreeTimesPerCoolDown,
              (std::uint64_t seed)) {
    base::TestRandom random(seed);
    EngineDriver driver(fleet_of({"a"}));
    bool raised = false;
    for (int i = 0; i < 200; ++i) {
        raised = !raised;
        driver.give(
            {observed("snmp::a", "link", raised ? ObservedStep::kRaised : ObservedStep::kCleared)});
        driver.pass(random.below(random.one_in(10) ? 3'000'000 : 300'000) * 1ms);
    }
    for (std::size_t i = 3; i < driver.told_at.size(); ++i) {
        RC_ASSERT(driver.told_at[i] - driver.told_at[i - 3] >= base::Duration(15min));
    }
}

}  // namespace
}  // namespace pollux::alert
