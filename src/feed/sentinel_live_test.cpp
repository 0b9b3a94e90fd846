// The sentinel on a real loop: signs of life to a receiver, and a peer that dies and comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feed/sentinel.hpp"
#include "net/http_test_support.hpp"
#include "net/test_http_receiver.hpp"

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;
using net::test::HttpReceiver;

class SentinelLive : public testing::Test {
  protected:
    bool run_until(const std::function<bool()>& condition) {
        return net::test::turn_until(*loop, condition, std::chrono::minutes(2));
    }

    std::unique_ptr<net::EventLoop> loop = std::move(*net::EventLoop::create());
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(*loop, {}));
    net::HttpClient client{*loop, *resolver, std::make_shared<const net::EgressPolicy>()};
    HttpReceiver receiver{*loop};
    std::vector<PeerReport> told;
};

TEST_F(SentinelLive, BeatsWhileHealthyOnly) {
    bool healthy = true;
    auto credentials = std::make_shared<model::Credentials>();
    credentials->token = base::Secret("hush");
    SentinelOptions options;
    options.heartbeat = {.url = receiver.url("/ping/{secret}"),
                         .method = model::HttpMethod::kPost,
                         .interval = 1s,
                         .credentials = credentials};
    Sentinel sentinel(
        *loop, client, options, [&] { return healthy; },
        [&](const PeerReport& one) { told.push_back(one); });
    ASSERT_TRUE(run_until([&] { return receiver.requests().size() == 2; }));
    EXPECT_EQ(receiver.requests()[0].path, "/ping/hush");
    EXPECT_EQ(receiver.requests()[0].method, "POST");
    ASSERT_TRUE(run_until([&] { return sentinel.status().last_sent != base::WallTime{}; }));
    healthy = false;
    ASSERT_TRUE(run_until([&] { return sentinel.status().skipped >= 2; }));
    const std::size_t sent = receiver.requests().size();
    ASSERT_TRUE(run_until([&] { return sentinel.status().skipped >= 3; }));
    EXPECT_EQ(receiver.requests().size(), sent) << "who is unwell is silent";
    healthy = true;
    receiver.otherwise.status = 500;
    ASSERT_TRUE(run_until([&] { return !sentinel.status().last_send_error.empty(); }));
    EXPECT_EQ(sentinel.status().last_send_error.find("hush"), std::string::npos);
    EXPECT_TRUE(told.empty());
}

TEST_F(SentinelLive, APeerThatDiesIsToldOnceAndItsRecoveryOnce) {
    SentinelOptions options;
    options.peer = {.url = receiver.url("/api/ready"), .interval = 1s, .timeout = 900ms};
    Sentinel sentinel(
        *loop, client, options, [] { return true; },
        [&](const PeerReport& one) { told.push_back(one); });
    ASSERT_TRUE(run_until([&] { return sentinel.status().peer_seen != base::WallTime{}; }));
    ASSERT_EQ(told.size(), 1U) << "whatever an earlier watch said is over";
    EXPECT_EQ(told[0].change, PeerChange::kFound);
    told.clear();
    receiver.otherwise.silent = true;  // frozen: it accepts and says nothing
    const std::size_t before = receiver.requests().size();
    ASSERT_TRUE(run_until([&] { return !told.empty(); }));
    EXPECT_EQ(told[0].change, PeerChange::kLost);
    EXPECT_NE(told[0].last_seen, base::WallTime{});
    EXPECT_NE(told[0].message, "");
    EXPECT_LE(receiver.requests().size() - before, kMissedHeartbeats + 1);
    ASSERT_TRUE(run_until([&] { return receiver.requests().size() >= before + 5; }));
    EXPECT_EQ(told.size(), 1U);
    receiver.otherwise.silent = false;
    ASSERT_TRUE(run_until([&] { return told.size() == 2; }));
    EXPECT_EQ(told[1].change, PeerChange::kRecovered);
    const std::size_t after = receiver.requests().size();
    ASSERT_TRUE(run_until([&] { return receiver.requests().size() >= after + 2; }));
    EXPECT_EQ(told.size(), 2U);
}

}  // namespace
}  // namespace pollux::feed
