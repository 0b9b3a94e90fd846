// The desk as others see it: why it doubts itself, what it leaves out of its watch on itself, and
// what it shows without being asked.
#include "runtime/alerts/alert_desk.hpp"

#include <gmock/gmock.h>

#include "runtime/core_loop_test_support.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::runtime {
namespace {

using model::AlertState;
using model::Outcome;
using test::CoreStage;
using test::Inbox;
using test::lamp_plan;

class AlertDeskTest : public testing::Test {
  protected:
    AlertDeskTest() {
        store_ = store::open_memory_store(std::make_shared<store::MemoryDisk>(),
                                          [](engine::StoreAnswer, const base::Error*) {});
        EXPECT_TRUE(store_->load({}));
    }
    ~AlertDeskTest() override {
        desk.reset();
        store_->close().value();
    }

    void run(NotifyPolicy policy = {}, alert::AlertFleet fleet = {}) {
        AlertDeskOptions options;
        options.seed = {1, 2};
        options.zones = zone_lookup();
        options.policy = std::make_shared<const NotifyPolicy>(std::move(policy));
        options.image.fleet = std::make_shared<const alert::AlertFleet>(std::move(fleet));
        desk = AlertDesk::make(*store_, stage.lines.log(), *stage.core, std::move(options)).value();
        ASSERT_TRUE(desk->run({}));
    }
    AlertCounts counts() {
        Inbox<AlertCounts> box;
        desk->collect_counts([&](AlertCounts counts) { box.put(std::move(counts)); });
        return box.wait_for(1).at(0);
    }
    bool comes_true(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + test::kPatience;
        while (std::chrono::steady_clock::now() < end) {
            if (condition()) return true;
        }
        return false;
    }
    void raise(const std::string& name) {
        Inbox<base::Status> box;
        desk->external({alert::External{{{"alertname", name}}, {}, {}, {}}}, std::nullopt,
                       [&](base::Status status) { box.put(std::move(status)); });
        EXPECT_TRUE(box.wait_for(1).at(0));
    }
    std::vector<std::string> audible() {
        Inbox<std::vector<model::Alert>> box;
        desk->audible_alerts([&](std::vector<model::Alert> all) { box.put(std::move(all)); });
        std::vector<std::string> types;
        const std::vector<model::Alert> all = box.wait_for(1).at(0);
        for (const model::Alert& one : all) types.push_back(one.type);
        return types;
    }

    CoreStage stage;
    std::unique_ptr<AlertDesk> desk;

  private:
    std::unique_ptr<store::Store> store_;
};

TEST_F(AlertDeskTest, WhileOurThreadsDoNotAnswerTheIncidentIsOurs) {
    run();
    desk->suspect_ourselves(true, "the core of this server has not answered for 5 s");
    EXPECT_TRUE(comes_true([&] { return counts().impaired; }));
    EXPECT_EQ(counts().incidents, 1U);
    desk->suspect_ourselves(false, "");
    EXPECT_TRUE(comes_true([&] { return !counts().impaired; }));
    EXPECT_EQ(counts().incidents, 0U);
}

TEST_F(AlertDeskTest, NamesThatAllFailAreOurTroubleToo) {
    alert::AlertFleet fleet;
    for (const char* device : {"hall", "attic", "cellar"}) {
        const RunOrder order = stage.add(lamp_plan(device));
        RunReport report;
        report.task = order.task;
        report.run = order.run;
        report.outcome = Outcome::kTransient;
        report.kind = model::FailureKind::kDns;
        report.code = "http.dns_timeout";
        stage.core->deliver({report});
        alert::TargetFacts target;
        target.key = std::string("lamp::") + device;
        target.id = std::string("id-") + device;
        target.device = device;
        target.address = std::string(device) + ".example.org";
        target.addon = "lamp";
        fleet.targets.push_back(std::move(target));
    }
    ASSERT_TRUE(stage.holds(
        [](const CoreLoop::View& view) { return view.engine.core().stats().finished == 3; }));
    run({}, fleet);
    EXPECT_TRUE(comes_true([&] { return counts().impaired; }));
}

TEST_F(AlertDeskTest, AFlexibleSilenceThatHasBegunIsShownAndHoldsWhatIsForwarded) {
    const base::WallTime now = net::wall_now();
    model::Silence silence;
    silence.id = "01a13c6e-8f00-7c1d-a8e5-3f2b9d7e6c41";
    silence.name = "patch-day";
    silence.matchers = {{"alertname", model::MatchOperator::kEqual, "Backup"}};
    silence.kind = model::SilenceKind::kFlexible;
    silence.from = now - std::chrono::hours(1);
    silence.until = now + std::chrono::hours(1);
    silence.duration = std::chrono::hours(1);
    NotifyPolicy policy;
    policy.silences = {silence};
    run(std::move(policy));
    EXPECT_TRUE(desk->board().begun()->empty());
    raise("Disk");
    EXPECT_TRUE(desk->board().begun()->empty());
    raise("Backup");
    ASSERT_TRUE(desk->board().begun()->contains(silence.id));
    EXPECT_GE(desk->board().begun()->at(silence.id), now);
    EXPECT_THAT(audible(), testing::ElementsAre("Disk"));
}

}  // namespace
}  // namespace pollux::runtime
