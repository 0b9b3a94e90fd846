#include "runtime/uptime/uptime_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "net/event_loop.hpp"
#include "runtime/fleet_image.hpp"
#include "store/memory/memory_store.hpp"

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;

class UptimeKeeperTest : public testing::Test {
  protected:
    UptimeKeeperTest() {
        auto facts = std::make_shared<alert::AlertFleet>();
        auto tasks = std::make_shared<DeviceTasks>();
        for (const char* device : {"a", "b"}) {
            alert::TargetFacts target;
            target.key = std::string("ping::") + device;
            target.device = device;
            target.groups = {"berlin"};
            facts->targets.push_back(target);
            (*tasks)[device] = {target.key};
        }
        auto image = std::make_shared<FleetImage>();
        image->alerts = {facts, tasks};
        auto view = std::make_shared<FleetView>();
        view->image = std::move(image);
        view_ = std::move(view);
        open();
    }
    ~UptimeKeeperTest() override { close(); }

    void open(std::vector<UptimeKeeper::Seed> seeds = {}) {
        store_ = store::open_memory_store(disk_, [](engine::StoreAnswer, const base::Error*) {});
        keeper_ = std::make_unique<UptimeKeeper>(*store_, log_, [this] {
            const std::lock_guard lock(view_mutex_);
            return view_;
        });
        store::LoadVisitor visitor;
        visitor.memory = [&](store::MemoryRow&& row) {
            EXPECT_TRUE(keeper_->recall(row.key, row.bytes));
        };
        const auto loaded = store_->load(visitor);
        ASSERT_TRUE(loaded);
        number_ = std::max(number_, loaded->first_change);
        keeper_->start(net::instant_now(), loaded->first_change, std::move(seeds));
    }
    void close() {
        if (keeper_) keeper_->stop();
        keeper_.reset();
        if (store_) {
            EXPECT_TRUE(store_->close());
        }
        store_.reset();
    }
    // Transitions as the engine commits them.
    void commit(const std::string& device, bool up, base::WallTime at, std::size_t times = 1,
                schedule::ChangeKind kind = schedule::ChangeKind::kHealth) {
        auto batch = std::make_shared<engine::WriteBatch>();
        batch->sequence = ++sequence_;
        for (std::size_t i = 0; i < times; ++i) {
            engine::TaskChange one;
            one.number = ++number_;
            one.key = "ping::" + device;
            one.change.kind = kind;
            one.change.to = up ? 1 : 0;
            one.at = at;
            batch->changes.push_back(one);
        }
        ASSERT_TRUE(store_->submit(std::move(batch)));
        store_->flush();
    }
    // Asks until the condition holds: answers may be two seconds old.
    template <class Condition>
    bool eventually(Condition condition) {
        for (int i = 0; i < 300; ++i) {
            if (condition()) return true;
            std::this_thread::sleep_for(100ms);
        }
        return false;
    }
    UptimeState state(const std::string& device) {
        const auto uptime = keeper_->target("ping::" + device);
        return uptime ? uptime->state : UptimeState::kUnknown;
    }

    observe::Log log_{{}, [] { return net::wall_now(); }, [](std::string_view) {}};
    std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
    std::mutex view_mutex_;  // guards view_
    std::shared_ptr<const FleetView> view_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<UptimeKeeper> keeper_;
    std::uint64_t number_ = 0;
    std::uint64_t sequence_ = 0;
};

TEST_F(UptimeKeeperTest, ReadsWhatWasCommittedAlsoMoreThanAPage) {
    const base::WallTime now = net::wall_now();
    ASSERT_NO_FATAL_FAILURE(commit("a", true, now - 2h, 2500));
    ASSERT_NO_FATAL_FAILURE(commit("a", false, now - 1h));
    ASSERT_NO_FATAL_FAILURE(commit("b", true, now - 1h));
    ASSERT_TRUE(eventually([&] { return state("b") == UptimeState::kUp; }));
    EXPECT_EQ(state("a"), UptimeState::kDown);
    EXPECT_NEAR(keeper_->target("ping::a")->last_24h.share().value(), 0.5, 0.01);
    EXPECT_FALSE(keeper_->target("ping::nobody"));
    const auto groups = keeper_->groups();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[1].name, "berlin");
    EXPECT_EQ(groups[1].up, 1U);
    EXPECT_EQ(groups[1].down, 1U);
}

TEST_F(UptimeKeeperTest, GoesOnWhereAnEarlierLifeEnded) {
    const base::WallTime now = net::wall_now();
    ASSERT_NO_FATAL_FAILURE(commit("a", true, now - 2h));
    ASSERT_NO_FATAL_FAILURE(commit("a", false, now - 1h));
    close();
    open();
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kDown; }));
    EXPECT_NEAR(keeper_->target("ping::a")->last_24h.share().value(), 0.5, 0.01);
    ASSERT_NO_FATAL_FAILURE(commit("a", true, net::wall_now()));
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kUp; }));
}

// At the start of a server the transitions are there before its fleet is.
TEST_F(UptimeKeeperTest, WaitsForTheFleetBeforeItReads) {
    close();
    std::shared_ptr<const FleetView> later;
    {
        const std::lock_guard lock(view_mutex_);
        later = std::exchange(view_, nullptr);
    }
    open();
    const base::WallTime now = net::wall_now();
    ASSERT_NO_FATAL_FAILURE(commit("a", true, now - 2h));
    ASSERT_NO_FATAL_FAILURE(commit("a", false, now - 1h));
    EXPECT_FALSE(keeper_->target("ping::a"));
    {
        const std::lock_guard lock(view_mutex_);
        view_ = std::move(later);
    }
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kDown; }));
    EXPECT_NEAR(keeper_->target("ping::a")->last_24h.share().value(), 0.5, 0.01);
}

class LongLogTest : public UptimeKeeperTest {
  protected:
    static constexpr std::size_t kPages = 12;

    // A log of many pages, and a fleet that is not there yet, so that nobody reads.
    LongLogTest() {
        close();
        {
            const std::lock_guard lock(view_mutex_);
            later_ = std::exchange(view_, nullptr);
        }
        open();
        commit("a", true, net::wall_now() - 2h, kPages * store::kMostChangesPerQuery);
        commit("a", false, net::wall_now() - 1h);
    }
    void show_fleet() {
        const std::lock_guard lock(view_mutex_);
        view_ = later_;
    }
    std::uint64_t saved_cursor() {
        const std::lock_guard lock(disk_->mutex);
        const auto head = disk_->content.memory.find(std::string(UptimeKeeper::kHeadKey));
        if (head == disk_->content.memory.end()) return 0;
        return decode_uptime_head(head->second)->cursor;
    }

    std::shared_ptr<const FleetView> later_;
};

TEST_F(LongLogTest, WhoAsksDoesNotWaitForWhoReads) {
    std::vector<std::future<void>> questions;
    {
        const std::lock_guard disk(disk_->mutex);  // who reads is stuck
        show_fleet();
        for (int i = 0; i < 4; ++i) {
            questions.push_back(std::async(std::launch::async, [&] { keeper_->groups(); }));
        }
        // The thread reads, or one of the questions.
        EXPECT_TRUE(eventually([&] {
            return std::ranges::count_if(questions, [](const std::future<void>& question) {
                       return question.wait_for(0s) == std::future_status::ready;
                   }) >= 3;
        }));
    }
    for (auto& question : questions) question.wait();
    EXPECT_TRUE(eventually([&] { return state("a") == UptimeState::kDown; }));
}

TEST_F(LongLogTest, StopsBetweenPagesAndGoesOnInTheNextLife) {
    std::future<void> stopped;
    {
        const std::lock_guard disk(disk_->mutex);
        show_fleet();
        stopped = std::async(std::launch::async, [&] { keeper_->stop(); });
        std::this_thread::sleep_for(200ms);
    }
    stopped.wait();
    close();
    EXPECT_GT(saved_cursor(), 0U);
    EXPECT_LT(saved_cursor(), number_);
    open();
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kDown; }));
    EXPECT_NEAR(keeper_->target("ping::a")->last_24h.share().value(), 0.5, 0.01);
}

TEST_F(UptimeKeeperTest, TasksWithoutTransitionsAreAsTheyWereStored) {
    close();
    open({{.key = "ping::a", .up = false, .enabled = true},
          {.key = "ping::b", .up = true, .enabled = false},
          {.key = "ping::gone", .up = true, .enabled = true}});
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kDown; }));
    EXPECT_EQ(state("b"), UptimeState::kUnknown);
}

// An edit while no server ran switches tasks, and no transition tells of it.
TEST_F(UptimeKeeperTest, WhatTheStartSaysOfATaskStandsBetweenTheTransitionsOfTwoLives) {
    const auto enabled = schedule::ChangeKind::kEnabled;
    const base::WallTime now = net::wall_now();
    for (const char* device : {"a", "b"}) {
        ASSERT_NO_FATAL_FAILURE(commit(device, true, now - 2h));
        ASSERT_NO_FATAL_FAILURE(commit(device, false, now - 1h, 1, enabled));
    }
    close();
    open({{.key = "ping::a", .up = false, .enabled = true},
          {.key = "ping::b", .up = false, .enabled = true}});
    // In this life, and perhaps before anybody read: that one is newer.
    ASSERT_NO_FATAL_FAILURE(commit("b", false, net::wall_now(), 1, enabled));
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kUp; }));
    ASSERT_TRUE(eventually([&] { return state("b") == UptimeState::kUnknown; }));
    close();
    open({{.key = "ping::a", .up = true, .enabled = false}});
    ASSERT_TRUE(eventually([&] { return state("a") == UptimeState::kUnknown; }));
}

}  // namespace
}  // namespace pollux::runtime
