#include "net/http_hosts.hpp"

#include <gtest/gtest.h>

namespace pollux::net {
namespace {

using std::chrono::minutes;

class HttpHostsTest : public testing::Test {
  protected:
    static HttpClientOptions small() {
        HttpClientOptions options;
        options.hosts_per_shard = 2;
        options.max_hosts = 5;
        options.host_age = minutes(10);
        return options;
    }

    HttpHost* use(const std::string& origin) {
        HttpHost* host = hosts.acquire(origin, now);
        if (host != nullptr) hosts.release(*host, now);
        return host;
    }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    HttpClientOptions options = small();
    HttpHosts hosts{*loop, options, [](void*, int) {}};
    base::BootTime now{1'000'000};
};

TEST_F(HttpHostsTest, AHostStaysWithItsShard) {
    const CurlShard* shard = use("a:80")->shard;
    EXPECT_EQ(use("b:80")->shard, shard);
    EXPECT_NE(use("c:80")->shard, shard);
    EXPECT_EQ(use("a:80")->shard, shard);
    EXPECT_EQ(hosts.hosts(), 3U);
    EXPECT_EQ(hosts.shards(), 2U);
}

TEST_F(HttpHostsTest, TheLeastRecentlyUsedMakesRoom) {
    for (const char* origin : {"a:1", "b:1", "c:1", "d:1", "e:1"}) use(origin);
    use("a:1");
    HttpHost* busy = hosts.acquire("b:1", now);
    use("f:1");
    EXPECT_EQ(hosts.hosts(), 5U);
    EXPECT_EQ(busy->origin, "b:1");
    EXPECT_EQ(hosts.acquire("b:1", now), busy);
}

TEST_F(HttpHostsTest, RefusesMoreHostsThanItMayHave) {
    for (const char* origin : {"a:1", "b:1", "c:1", "d:1", "e:1"}) {
        EXPECT_NE(hosts.acquire(origin, now), nullptr);
    }
    EXPECT_EQ(hosts.acquire("f:1", now), nullptr);
}

TEST_F(HttpHostsTest, ForgetsWhatIsNotAskedAndShardsWithoutHosts) {
    use("a:1");
    HttpHost* busy = hosts.acquire("b:1", now);
    use("c:1");
    now += minutes(5);
    hosts.sweep(now);
    EXPECT_EQ(hosts.hosts(), 3U);
    now += minutes(6);
    hosts.sweep(now);
    EXPECT_EQ(hosts.hosts(), 1U);
    EXPECT_EQ(hosts.shards(), 1U);
    hosts.release(*busy, now);
    now += minutes(11);
    hosts.sweep(now);
    EXPECT_EQ(hosts.hosts(), 0U);
    EXPECT_EQ(hosts.shards(), 0U);
}

TEST_F(HttpHostsTest, AfterRenewAllGetNewShards) {
    HttpHost* busy = hosts.acquire("a:1", now);
    const CurlShard* old = busy->shard;
    hosts.renew();
    EXPECT_NE(use("a:1")->shard, old);
    hosts.sweep(now);
    EXPECT_EQ(hosts.shards(), 2U);  // the old one still has a request
    hosts.release(*busy, now);
    hosts.sweep(now);
    EXPECT_EQ(hosts.shards(), 1U);
}

// libcurl remembers the addresses of a shard's hosts as long as the shard lives.
TEST_F(HttpHostsTest, AShardThatSawManyHostsTakesNoMore) {
    const HttpHost* keeper = hosts.acquire("keeper:1", now);
    for (int i = 0; i < 40; ++i) {
        use("host" + std::to_string(i) + ":1");
        now += minutes(11);
        hosts.sweep(now);
    }
    EXPECT_EQ(keeper->shard->hosts, 1U);
    EXPECT_EQ(keeper->shard->hosts_ever, 8U);
    EXPECT_EQ(hosts.shards(), 1U);
}

}  // namespace
}  // namespace pollux::net
