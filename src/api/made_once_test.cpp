#include "api/made_once.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <string>

namespace pollux::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MadeOnceTest : public testing::Test {
  protected:
    using Words = MadeOnce<std::string>;

    bool ask() {
        return words_->ask([this](const Words::Result& made) {
            heard_.push_back(made ? **made : made.error().code);
        });
    }
    void finish(Words::Result made) {
        Words::Done done = std::move(begun_.front());
        begun_.pop_front();
        done(std::move(made));
    }
    void finish(std::string word) { finish(std::make_shared<const std::string>(std::move(word))); }

    std::deque<Words::Done> begun_;
    std::string unwanted_;
    base::BootTime now_{};
    std::vector<std::string> heard_;
    std::shared_ptr<Words> words_ = std::make_shared<Words>(
        Words::Rules{.make = [this](Words::Done done) { begun_.push_back(std::move(done)); },
                     .fits = [this](const std::string& word) { return word != unwanted_; },
                     .fresh_for = std::chrono::seconds(10),
                     .most_waiting = 3,
                     .now = [this] { return now_; }});
};

TEST_F(MadeOnceTest, OneIsMadeForAllWhoComeMeanwhile) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask());
    EXPECT_EQ(begun_.size(), 1U);
    EXPECT_FALSE(ask()) << "who waits is bounded";
    EXPECT_THAT(heard_, IsEmpty());
    finish("a");
    EXPECT_THAT(heard_, ElementsAre("a", "a", "a")) << "the refused one is not called";
    EXPECT_TRUE(ask());
    EXPECT_EQ(heard_.size(), 4U) << "kept for those who come soon";
    EXPECT_THAT(begun_, IsEmpty());
}

TEST_F(MadeOnceTest, IsFreshFromTheMomentItWasBegun) {
    ask();
    now_ += std::chrono::seconds(9);
    finish("a");
    ask();
    EXPECT_THAT(heard_, ElementsAre("a", "a"));
    now_ += std::chrono::seconds(1);
    ask();
    EXPECT_EQ(begun_.size(), 1U);
    finish("b");
    EXPECT_THAT(heard_, ElementsAre("a", "a", "b"));
}

TEST_F(MadeOnceTest, WhatDoesNotFitAnyMoreIsMadeAgain) {
    ask();
    unwanted_ = "old";
    ask();
    finish("old");
    EXPECT_THAT(heard_, IsEmpty());
    ASSERT_EQ(begun_.size(), 1U);
    finish("new");
    EXPECT_THAT(heard_, ElementsAre("new", "new"));
    unwanted_ = "new";
    ask();
    EXPECT_EQ(heard_.size(), 2U);
    EXPECT_EQ(begun_.size(), 1U);
}

TEST_F(MadeOnceTest, AFailureIsToldToAllAndNotKept) {
    ask();
    ask();
    finish(std::unexpected(base::Error{"net.pool-full", base::ErrorClass::kTransient, "full"}));
    EXPECT_THAT(heard_, ElementsAre("net.pool-full", "net.pool-full"));
    ask();
    finish("a");
    EXPECT_EQ(heard_.back(), "a");
}

TEST_F(MadeOnceTest, WhoIsAnsweredMayAskAgain) {
    bool again = false;
    words_->ask([&](const auto&) { again = ask(); });
    finish("a");
    EXPECT_TRUE(again);
    EXPECT_THAT(heard_, ElementsAre("a"));
}

TEST(MadeOnPool, WhoWaitsHoldsNoThread) {
    using Words = MadeOnce<std::string>;
    const auto loop = net::EventLoop::create().value();
    const auto door = std::make_shared<LoopDoor>(*loop);
    std::promise<void> may_end;
    std::shared_future<void> end = may_end.get_future().share();
    std::vector<std::string> heard;
    net::WorkPool pool(1, 2);
    const auto words = std::make_shared<Words>(Words::Rules{
        .make = made_on<std::string>(pool, door,
                                     [end] {
                                         end.wait();
                                         return std::make_shared<const std::string>("a");
                                     }),
        .fresh_for = std::chrono::hours(1)});
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(words->ask([&](const auto& made) {
            heard.push_back(made ? **made : made.error().code);
            if (heard.size() == 100) loop->stop();
        }));
    }
    EXPECT_LE(pool.waiting(), 1U) << "one is made, and nobody else stands in the line";
    may_end.set_value();
    loop->run();
    EXPECT_EQ(heard, std::vector<std::string>(100, "a"));
}

TEST(MadeOnPool, AFullPoolIsSaidAtOnce) {
    using Words = MadeOnce<std::string>;
    const auto loop = net::EventLoop::create().value();
    std::promise<void> may_end;
    std::shared_future<void> end = may_end.get_future().share();
    net::WorkPool pool(1, 1);
    while (pool.submit([end] { end.wait(); })) {
    }
    const auto words = std::make_shared<Words>(Words::Rules{
        .make = made_on<std::string>(
            pool, std::make_shared<LoopDoor>(*loop),
            []() -> Words::Result { return std::make_shared<const std::string>("a"); }),
        .fresh_for = std::chrono::hours(1)});
    std::string heard;
    EXPECT_TRUE(words->ask([&](const auto& made) { heard = made ? **made : made.error().code; }));
    EXPECT_EQ(heard, "net.pool-full");
    may_end.set_value();
}

}  // namespace
}  // namespace pollux::api
