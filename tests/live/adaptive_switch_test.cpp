// Adaptive polling switched while everything runs: nothing restarts, nothing is lost or run twice,
// what is switched is exactly what was asked for, and the way back is exact.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/time.hpp"
#include "lab/fleet_server.hpp"
#include "net/event_loop.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/histogram.hpp"

namespace pollux::live {
namespace {

using document::Node;
using std::chrono::steady_clock;

constexpr const char* kSettings = "/api/settings/monitoring";
constexpr std::uint32_t kWeb = 60;
constexpr std::uint32_t kSwitches = 40;
constexpr double kBase = 4;  // seconds
constexpr const char* kLag = "pollux_schedule_lag_seconds";

// Of one task, as the API tells it.
struct TaskView {
    double interval = 0;
    bool adaptive = false;
    std::string last_success;

    // Whether an answer came after that time.
    bool answered_since(base::WallTime time) const {
        const auto at = base::parse_utc(last_success);
        return at && *at > time;
    }
};

class AdaptiveSwitch : public ApiStage {
  protected:
    AdaptiveSwitch() : fleet_(lab::FleetServer::start({.snmp = kSwitches, .http = kWeb}).value()) {}

    // Half of the targets are critical, half are not important: adaptive polling gives them
    // different intervals from its first moment on.
    void start_fleet(double least = 1) {
        std::string text = addon_settings(fmt::format("interval: {{min: {}s, base: {}s, max: 20s}}",
                                                      least, kBase)) +
                           "groups:\n  lab: {match: {site: lab}}\ndevices:\n";
        const auto extra = [](std::size_t i) {
            return fmt::format("tier: {}, labels: {{site: {}}}", i % 2 == 0 ? "critical" : "low",
                               i % 5 == 0 ? "lab" : "hall");
        };
        for (std::size_t i = 0; i < kWeb; ++i) {
            text += json_device(*fleet_, i, "/as/json/status", extra(i));
        }
        for (std::size_t i = 0; i < kSwitches; ++i) {
            text += snmp_device(*fleet_, i, "snmp-system", extra(i));
        }
        ASSERT_NO_FATAL_FAILURE(start(text));
        ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    }
    void set(const std::string& body) {
        ApiClient root = admin();
        const ApiAnswer answer = root.put(kSettings, body);
        ASSERT_EQ(answer.status, 200) << answer.body;
    }
    static std::string without_version(std::string page) {
        const std::size_t comma = page.find(',');
        EXPECT_TRUE(page.starts_with("{\"version\":")) << page;
        return page.substr(comma);
    }
    // All targets with what the scheduler decided about them.
    std::map<std::string, TaskView> tasks() {
        std::map<std::string, TaskView> all;
        ApiClient root = admin();
        // The plan has only those that wait.
        const Node targets = root.get("/api/targets?limit=1000").json();
        for (const Node& one : targets.find("items")->items()) {
            const std::string key = text_at(one, "key");
            const ApiAnswer why = root.get("/api/tasks/" + key + "/explain");
            EXPECT_EQ(why.status, 200) << why.body;
            const Node page = why.json();
            all[key] = {std::stod(text_at(page, "interval.in_force")),
                        text_at(page, "interval.policy") != "fixed",
                        text_at(page, "task.last_success")};
        }
        return all;
    }
    std::set<std::string> adaptive_ones() {
        std::set<std::string> keys;
        for (const auto& [key, task] : tasks()) {
            if (task.adaptive) keys.insert(key);
        }
        return keys;
    }
    std::string key_of(std::size_t web) const {
        return "http-json::" + fleet_->fleet().http()[web].name();
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(AdaptiveSwitch, AHundredTimesUnderLoadLosesNothingAndRunsNothingTwice) {
    constexpr double kLeast = 2;
    ASSERT_NO_FATAL_FAILURE(start_fleet(kLeast));
    // An answer takes a while: a second run beside the first would be seen by the device.
    for (const lab::Device& device : fleet_->fleet().http()) {
        ASSERT_TRUE(
            fleet_->set_fault(device.name(), lab::FaultKind::kLatency, base::Duration::max(), 200));
    }
    const auto late_before = buckets(server_->metrics(), kLag);
    fleet_->take_http_loads();
    ApiClient root = admin();
    const pid_t pid = server_->pid();
    const std::string started = root.get("/api/version").at("started_at");
    for (int i = 0; i < 100; ++i) {
        ASSERT_NO_FATAL_FAILURE(set(
            fmt::format(R"({{"adaptive_polling_enabled":{},"reason":"turn {}"}})", i % 2 == 0, i)));
        if (i % 10 == 0) {
            EXPECT_EQ(root.get("/api/monitoring/scheduler/health").at("enabled"),
                      i % 2 == 0 ? "true" : "false");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(server_->pid(), pid);
    EXPECT_TRUE(server_->running());
    EXPECT_EQ(root.get("/api/version").at("started_at"), started);

    // No task is lost: all are there, and every one goes on answering.
    const auto before = tasks();
    EXPECT_EQ(before.size(), kWeb + kSwitches);
    EXPECT_TRUE(eventually([&] {
        const auto now = tasks();
        for (const auto& [key, task] : before) {
            const auto found = now.find(key);
            if (found == now.end() || found->second.last_success == task.last_success) return false;
        }
        return true;
    })) << "a target is not polled any more";

    // No run was started twice: what was started ended once or is under way, no answer came for a
    // run that was over, and devices saw no more requests than runs were started.
    const Node stats = root.get("/api/stats").json();
    const auto number = [&](const std::string& path) { return std::stoul(text_at(stats, path)); };
    EXPECT_EQ(number("runs.started"), number("runs.finished") + number("runs.expired") +
                                          number("runs.cancelled") + number("in_flight"));
    EXPECT_EQ(number("runs.expired"), 0U);
    EXPECT_EQ(number("runs.cancelled"), 0U);
    EXPECT_EQ(server_->metrics().sum("pollux_stale_results_total"), 0);
    const auto seen = fleet_->counters().http_requests;
    const std::size_t web_runs = static_cast<std::size_t>(
        server_->metrics().sum("pulse_monitor_poll_total", {{"instance_type", "http-json"}}));
    EXPECT_LE(seen, web_runs + kWeb) << "one request a run, those under way counted";
    // Devices saw one run at a time, and two of them no closer than the least interval, but for how
    // late this busy machine began some.
    const auto loads = fleet_->take_http_loads();
    const double late = worst_between(late_before, buckets(server_->metrics(), kLag)) + 0.25;
    ASSERT_EQ(loads.size(), kWeb);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        EXPECT_GE(loads[i].requests, 2U) << key_of(i);
        EXPECT_EQ(loads[i].most_at_once, 1U) << key_of(i);
        EXPECT_GE(base::to_seconds(loads[i].smallest_gap), kLeast - late) << key_of(i);
    }
    EXPECT_EQ(trail({"--action", "settings.change"}).size(), 100U);
}

TEST_F(AdaptiveSwitch, IntervalsChangeWithinOneInterval) {
    ASSERT_NO_FATAL_FAILURE(start_fleet());
    // Nobody waits longer than its interval for the next poll, and that poll brings the new one.
    // What is chosen may be the old one by chance, of one or two of a hundred.
    const auto wait_for = [&](const char* what, const std::function<bool(const TaskView&)>& holds,
                              std::size_t by_chance = 0) {
        std::set<std::string> unchanged;
        const auto begin = steady_clock::now();
        const base::WallTime switched = net::wall_now();
        ApiClient root = admin();
        const Node plan = root.get("/api/scheduler/plan?limit=1000").json();
        for (const Node& one : plan.find("items")->items()) {
            EXPECT_LE(std::stod(text_at(one, "due_in")), std::stod(text_at(one, "interval")) + 0.01)
                << what << " " << text_at(one, "key");
        }
        EXPECT_TRUE(eventually([&] {
            bool all = true;
            for (const auto& [key, task] : tasks()) {
                const bool changed = holds(task);
                all = all && changed;
                if (!changed && task.answered_since(switched)) unchanged.insert(key);
            }
            return all;
        })) << what;
        EXPECT_LE(unchanged.size(), by_chance)
            << what << ": polled since and as before: " << testing::PrintToString(unchanged);
        // One interval, and the patience that a busy machine needs.
        EXPECT_LT(std::chrono::duration<double>(steady_clock::now() - begin).count(), kBase + 10)
            << what;
    };
    const auto fixed = [](const TaskView& task) { return std::abs(task.interval - kBase) < 0.01; };
    for (int round = 0; round < 3; ++round) {
        wait_for("fixed", fixed);
        ASSERT_NO_FATAL_FAILURE(set(R"({"adaptive_polling_enabled":true})"));
        wait_for(
            "adaptive", [&](const TaskView& task) { return !fixed(task) && task.adaptive; }, 2);
        ASSERT_NO_FATAL_FAILURE(set(R"({"adaptive_polling_enabled":false})"));
    }
    // In shadow mode the plan says what would be, and nothing changes.
    ASSERT_NO_FATAL_FAILURE(
        set(R"({"adaptive_polling_enabled":true,"adaptive_polling_shadow":true})"));
    wait_for("shadow", fixed);
    ApiClient root = admin();
    EXPECT_TRUE(eventually([&] {
        const Node plan = root.get("/api/scheduler/plan?limit=1000").json();
        if (text_at(plan, "shadow") != "true") return false;
        return std::ranges::all_of(plan.find("items")->items(), [](const Node& one) {
            const std::string would = text_at(one, "would_be");
            return !would.empty() && std::abs(std::stod(would) - kBase) > 0.01;
        });
    })) << root.get("/api/scheduler/plan?limit=1000").body;
}

TEST_F(AdaptiveSwitch, AScopeChangesExactlyThoseItNames) {
    ASSERT_NO_FATAL_FAILURE(start_fleet());
    const auto set_scope = [&](const std::string& scope) {
        set(fmt::format(R"({{"adaptive_polling_enabled":true,"adaptive_polling_scope":"{}"}})",
                        scope));
    };
    // Who was switched off keeps the interval it is in until its next poll.
    const auto base_only = [&](const std::set<std::string>& chosen) {
        EXPECT_TRUE(eventually([&] {
            return std::ranges::all_of(tasks(), [&](const auto& one) {
                const bool fixed = std::abs(one.second.interval - kBase) < 0.01;
                return one.second.adaptive == chosen.contains(one.first) &&
                       (one.second.adaptive || fixed);
            });
        }));
    };
    set_scope("percent:25");
    const std::set<std::string> quarter = adaptive_ones();
    // A hash decides: about a quarter of a hundred.
    EXPECT_GE(quarter.size(), 12U);
    EXPECT_LE(quarter.size(), 40U);
    base_only(quarter);
    set_scope("percent:50");
    const std::set<std::string> half = adaptive_ones();
    EXPECT_TRUE(std::ranges::includes(half, quarter)) << "more are added, none is taken away";
    EXPECT_GT(half.size(), quarter.size());
    set_scope("percent:0");
    EXPECT_EQ(adaptive_ones(), std::set<std::string>{});
    set_scope("percent:25");
    EXPECT_EQ(adaptive_ones(), quarter) << "the same ones every time";
    set_scope("percent:100");
    EXPECT_EQ(adaptive_ones().size(), kWeb + kSwitches);

    set_scope("classes:snmp-system");
    for (const auto& [key, task] : tasks()) {
        EXPECT_EQ(task.adaptive, key.starts_with("snmp-system::")) << key;
    }
    set_scope("groups:lab");
    EXPECT_EQ(adaptive_ones().size(), (kWeb + kSwitches) / 5);
    for (const std::string& key : adaptive_ones()) {
        ApiClient root = admin();
        EXPECT_EQ(root.get("/api/targets/" + key).at("labels.site"), "lab") << key;
    }
    set_scope("targets:" + key_of(3) + "," + key_of(7));
    EXPECT_EQ(adaptive_ones(), (std::set<std::string>{key_of(3), key_of(7)}));
    base_only({key_of(3), key_of(7)});
    // A restart keeps it, and takes the same ones.
    set_scope("percent:25");
    EXPECT_EQ(server_->stop(), 0);
    ASSERT_NO_FATAL_FAILURE(start_again());
    EXPECT_EQ(adaptive_ones(), quarter);
}

TEST_F(AdaptiveSwitch, ARollbackRestoresTheSettingsExactly) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n", {{"POLLUX_SNMP_TIMEOUT", "7s"}}));
    ApiClient root = admin();
    const std::string first = root.get("/api/settings").body;
    std::map<std::uint64_t, std::string> pages;  // by version
    for (
        const char* body :
        {R"({"adaptive_polling_enabled":true,"adaptive_polling_scope":"percent:25"})",
         R"({"adaptive_polling_scope":"groups:a,b","adaptive_preset":"economy","global_rate":77.5})",
         R"({"adaptive_polling_scope":null,"adaptive_policy":"aimd","staleness_bound":"90s"})"}) {
        ASSERT_NO_FATAL_FAILURE(set(body));
        const ApiAnswer now = root.get("/api/settings");
        pages[std::stoul(now.at("version"))] = now.body;
    }
    const auto roll_back = [&](std::uint64_t version) {
        return root.post("/api/settings/rollback",
                         fmt::format(R"({{"version":{},"reason":"too early"}})", version));
    };
    for (const auto& [version, page] : pages) {
        const ApiAnswer back = roll_back(version);
        ASSERT_EQ(back.status, 200) << back.body;
        EXPECT_EQ(without_version(root.get("/api/settings").body), without_version(page))
            << version;
    }
    ASSERT_EQ(roll_back(0).status, 200);
    EXPECT_EQ(without_version(root.get("/api/settings").body), without_version(first))
        << "what held before the first change";
    EXPECT_EQ(roll_back(4711).status, 404);
    const ApiAnswer difference = root.get("/api/settings/diff?from=1&to=2");
    EXPECT_EQ(difference.status, 200) << difference.body;
    EXPECT_EQ(node_at(difference.json(), "changes")->items().size(), 3U) << difference.body;
    // What the environment decides is shown as locked, and stays.
    const ApiAnswer page = root.get(kSettings);
    EXPECT_EQ(page.at("settings.snmp_timeout.locked"), "true") << page.body;
    EXPECT_EQ(page.at("settings.snmp_timeout.origin"), "environment");
    const ApiAnswer locked = root.put(kSettings, R"({"snmp_timeout":"3s"})");
    EXPECT_EQ(locked.status, 409) << locked.body;
    EXPECT_EQ(locked.at("code"), "settings.locked");
    const ApiAnswer wrong = root.put(
        kSettings, R"({"adaptive_polling_scope":"percent:200","global_rate":5,"nonsense":1})");
    EXPECT_EQ(wrong.status, 422);
    EXPECT_EQ(node_at(wrong.json(), "errors")->items().size(), 2U) << wrong.body;
    EXPECT_EQ(without_version(root.get("/api/settings").body), without_version(first))
        << "all or nothing";
}

}  // namespace
}  // namespace pollux::live
