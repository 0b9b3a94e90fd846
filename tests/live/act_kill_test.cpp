// Acts of people and sudden death: what was answered is in force and in the audit trail, what is
// in the trail is in force, and the trail is whole. Killed again and again while acts run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "lab/fleet_server.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"

namespace pollux::live {
namespace {

using document::Node;

constexpr int kKills = 6;
constexpr std::uint32_t kDevices = 12;  // one more fails from the beginning on

class ActKill : public ApiStage {
  protected:
    ActKill() : fleet_(lab::FleetServer::start({.snmp = 0, .http = kDevices + 1}).value()) {}

    std::string key(std::size_t number) const {
        return "http-json::" + fleet_->fleet().http()[number].name();
    }
    // What people do at once, each in a thread of its own, until the server dies.
    void make_users(int life);
    void change_settings();
    void switch_targets();
    void reset_breaker();
    void check(int life);
    // The whole trail, the oldest first.
    std::vector<Node> all_records() const {
        const CommandResult printed = server_->command({"audit", "export", "--format", "jsonl"});
        EXPECT_EQ(printed.code, 0) << printed.output;
        std::vector<Node> records;
        for (std::size_t at = 0; at < printed.output.size();) {
            const std::size_t end = std::min(printed.output.find('\n', at), printed.output.size());
            document::Diagnostics diagnostics;
            auto line = document::parse_json(std::string_view(printed.output).substr(at, end - at),
                                             "trail", diagnostics);
            EXPECT_TRUE(line.ok) << diagnostics.text();
            records.push_back(std::move(line.root));
            at = end + 1;
        }
        return records;
    }

    std::unique_ptr<lab::FleetServer> fleet_;
    std::atomic<bool> dying_ = false;
    // What was answered; each belongs to one thread, and to the test when that has ended.
    std::set<std::string> users_;
    double rate_ = 0;                         // global_rate, as last answered
    std::vector<double> rates_;               // all that were answered
    std::map<std::string, bool> enabled_;     // as last answered
    std::map<std::string, int> switched_;     // how often, as answered
    std::map<std::string, bool> unanswered_;  // what was asked last and not answered
    double rate_unanswered_ = 0;
    std::size_t resets_ = 0;
    int next_rate_ = 100;
};

void ActKill::make_users(int life) {
    ApiClient root = admin();
    for (int i = 0; !dying_; ++i) {
        const std::string name = fmt::format("user-{}-{}", life, i);
        const ApiAnswer made =
            root.post("/api/users", fmt::format(R"({{"name":"{}","grants":[]}})", name));
        if (made.status == 201) users_.insert(name);
        if (made.status == 0) return;
    }
}

void ActKill::change_settings() {
    ApiClient root = admin();
    while (!dying_) {
        const double wanted = ++next_rate_;
        rate_unanswered_ = wanted;
        const ApiAnswer changed =
            root.put("/api/settings/monitoring", fmt::format(R"({{"global_rate":{}}})", wanted));
        if (changed.status != 200) return;
        rate_ = wanted;
        rates_.push_back(wanted);
        rate_unanswered_ = 0;
    }
}

void ActKill::switch_targets() {
    ApiClient root = admin();
    for (std::size_t i = 0; !dying_; i = (i + 1) % kDevices) {
        const std::string name = key(i);
        const bool on = !enabled_[name];
        unanswered_ = {{name, on}};
        const ApiAnswer done =
            root.post(fmt::format("/api/targets/{}/{}", name, on ? "enable" : "disable"),
                      R"({"reason":"x"})");
        if (done.status == 0) return;
        unanswered_.clear();
        ASSERT_EQ(done.status, 200) << done.body;
        enabled_[name] = on;
        ++switched_[name];
    }
}

// Ten a minute are allowed; a new life counts anew.
void ActKill::reset_breaker() {
    ApiClient root = admin();
    for (int i = 0; !dying_ && i < 10; ++i) {
        const ApiAnswer done = root.post("/api/monitoring/breakers/" + key(kDevices) + "/reset");
        if (done.status == 0) return;
        if (done.status == 200) ++resets_;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void ActKill::check(int life) {
    const CommandResult verified = server_->command({"audit", "verify"});
    EXPECT_EQ(verified.code, 0) << verified.output;
    ApiClient root = admin();

    // Users: those that were answered are there, and the trail names exactly those that are there.
    std::set<std::string> there;
    std::string cursor;
    do {
        const ApiAnswer page =
            root.get("/api/users?limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor));
        const Node list = page.json();
        for (const Node& one : list.find("items")->items()) there.insert(text_at(one, "name"));
        cursor = text_at(list, "next");
    } while (!cursor.empty());
    there.erase("root");
    EXPECT_TRUE(std::ranges::includes(there, users_)) << "a user that was answered is gone";
    const std::vector<Node> records = all_records();
    std::multiset<std::string> told;
    std::map<std::string, int> switches;
    std::map<std::string, bool> last_switch;
    std::vector<std::string> rates;
    std::size_t resets = 0;
    for (const Node& one : records) {
        const std::string action = text_at(one, "action");
        if (text_at(one, "result") != "allowed") continue;
        if (action == "breaker.reset") ++resets;
        if (action == "user.create") told.insert(text_at(one, "object"));
        if (action == "settings.change") rates.push_back(text_at(one, "after"));
        if (action == "target.enable" || action == "target.disable") {
            ++switches[text_at(one, "object")];
            last_switch[text_at(one, "object")] = action == "target.enable";
        }
    }
    EXPECT_EQ(told, std::multiset<std::string>(there.begin(), there.end()));
    users_ = there;
    EXPECT_TRUE(resets == resets_ || resets == resets_ + 1) << resets << " after " << resets_;
    resets_ = resets;

    // Settings: the last change in the trail is in force, and it is the last that was answered, or
    // the one that was under way.
    const std::string in_force = root.get("/api/settings").at("settings.global_rate.value");
    ASSERT_FALSE(rates.empty());
    EXPECT_THAT(rates.back(), testing::HasSubstr("=" + in_force)) << life;
    EXPECT_TRUE(std::stod(in_force) == rate_ || std::stod(in_force) == rate_unanswered_)
        << in_force << " after " << rate_;
    const std::size_t unsure = std::stod(in_force) == rate_ ? 0 : 1;
    EXPECT_EQ(rates.size(), rates_.size() + unsure);
    rate_ = std::stod(in_force);
    if (unsure == 1) rates_.push_back(rate_);
    rate_unanswered_ = 0;

    // Targets likewise, each by itself.
    const Node health = root.get("/api/monitoring/scheduler/health").json();
    for (std::size_t i = 0; i < kDevices; ++i) {
        const std::string name = key(i);
        const Node* one = entry_with(*health.find("instances"), "key", name);
        ASSERT_NE(one, nullptr) << name;
        const bool on = text_at(*one, "enabled") == "true";
        EXPECT_EQ(switches.contains(name) ? last_switch[name] : true, on) << name;
        const bool maybe = unanswered_.contains(name);
        EXPECT_TRUE(on == enabled_[name] || (maybe && on == unanswered_[name])) << name;
        const int more = on == enabled_[name] ? 0 : 1;
        EXPECT_EQ(switches[name], switched_[name] + more) << name;
        enabled_[name] = on;
        switched_[name] = switches[name];
    }
    unanswered_.clear();
}

TEST_F(ActKill, EveryAnsweredActIsInForceAndInTheTrailAndNoneIsInTheTrailAlone) {
    std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}") + "devices:\n";
    for (std::size_t i = 0; i <= kDevices; ++i) text += json_device(*fleet_, i);
    ASSERT_TRUE(
        fleet_->set_fault(fleet_->fleet().http()[kDevices].name(), lab::FaultKind::kServerError));
    ASSERT_NO_FATAL_FAILURE(start(text));
    for (std::size_t i = 0; i < kDevices; ++i) enabled_[key(i)] = true;
    ApiClient root = admin();
    ASSERT_TRUE(eventually(
        [&] { return root.get("/api/monitoring/breakers?state=open").at("count") == "1"; }));
    std::mt19937 random(20261116);
    for (int life = 0; life < kKills; ++life) {
        dying_ = false;
        const std::size_t before = users_.size() + rates_.size();
        std::thread users([&] { make_users(life); });
        std::thread settings([&] { change_settings(); });
        std::thread targets([&] { switch_targets(); });
        std::thread resets([&] { reset_breaker(); });
        // At any moment after some acts; which one is chance.
        eventually([&] { return server_->metrics().sum("pulse_http_requests_total") > 40; });
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
        server_->kill();
        dying_ = true;
        users.join();
        settings.join();
        targets.join();
        resets.join();
        EXPECT_GT(users_.size() + rates_.size(), before) << "nothing was done in this life";
        ASSERT_NO_FATAL_FAILURE(start_again());
        check(life);
        if (HasFailure()) break;
    }
    EXPECT_GT(users_.size(), 10U);
    EXPECT_GT(rates_.size(), 10U);
    EXPECT_GT(resets_, 3U);
}

}  // namespace
}  // namespace pollux::live
