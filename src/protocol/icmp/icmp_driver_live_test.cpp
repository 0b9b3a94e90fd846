// Real echo requests on loopback, with and without privileges, in network namespaces of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "net/test_process.hpp"
#include "protocol/icmp/icmp_driver.hpp"
#include "protocol/test_bench.hpp"

namespace pollux::protocol {
namespace {

using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct World {
    test::Bench bench;
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(bench.loop(), {}));
    IcmpDriver driver{bench.loop(), *resolver, std::make_shared<const net::EgressPolicy>()};
};

model::Ask ask_of(std::string host, std::uint32_t count = 3) {
    model::Ask ask;
    ask.host = std::move(host);
    ask.timeout = std::chrono::seconds(30);
    ask.request = model::IcmpAsk{count, std::chrono::milliseconds(10), 56};
    return ask;
}

// A thread of its own in a network of its own: loopback only, and what the test makes of it.
void in_own_network(const std::function<void()>& work) {
    std::thread([&] {
        ASSERT_EQ(unshare(CLONE_NEWNET), 0) << "tests run as root";
        const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        ifreq request{};
        std::memcpy(request.ifr_name, "lo", 3);
        request.ifr_flags = IFF_UP | IFF_RUNNING;
        ASSERT_EQ(ioctl(fd, SIOCSIFFLAGS, &request), 0);
        close(fd);
        work();
    }).join();
}

void allow_groups(const char* range) {
    std::ofstream out("/proc/sys/net/ipv4/ping_group_range");
    out << range;
    out.close();
    ASSERT_TRUE(out.good());
}

void drop_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
}

void expect_ping(const std::string& host, std::string_view by) {
    World world;
    const auto reply = world.bench.ask(world.driver, ask_of(host), true);
    const auto answer = answer_in<model::IcmpReply>(reply);
    EXPECT_EQ(answer.sent, 3U) << host;
    EXPECT_EQ(answer.received, 3U) << host;
    ASSERT_EQ(answer.round_trips.size(), 3U);
    for (const base::Duration one : answer.round_trips) EXPECT_GT(one.count(), 0);
    EXPECT_THAT(reply.trace, ::testing::Contains(HasSubstr(std::string(by)))) << host;
}

TEST(IcmpDriverLive, PingsByRawSocketWhenTheGroupMayNot) {
    in_own_network([] {
        allow_groups("1 0");
        expect_ping("127.0.0.1", "raw socket");
        expect_ping("::1", "raw socket");
    });
}

TEST(IcmpDriverLive, PingsWithoutPrivilegesWhenTheGroupMay) {
    in_own_network([] {
        allow_groups("0 2147483647");
        drop_capabilities();
        expect_ping("127.0.0.1", "unprivileged socket");
        expect_ping("::1", "unprivileged socket");
        expect_ping("localhost", "unprivileged socket");
    });
}

TEST(IcmpDriverLive, SaysHowToAllowIt) {
    in_own_network([] {
        allow_groups("1 0");
        drop_capabilities();
        World world;
        const auto failure = failure_in(world.bench.ask(world.driver, ask_of("127.0.0.1")));
        EXPECT_EQ(failure.code, "icmp.not_permitted");
        EXPECT_EQ(failure.kind, model::FailureKind::kConfiguration);
        EXPECT_THAT(failure.message, HasSubstr("ping_group_range"));
        EXPECT_THAT(failure.message, HasSubstr("cap_net_raw"));
    });
}

TEST(IcmpDriverLive, TellsAHostThatDoesNotAnswer) {
    in_own_network([] {
        World world;
        // No route but loopback.
        EXPECT_EQ(failure_in(world.bench.ask(world.driver, ask_of("192.0.2.1"))).code,
                  "icmp.unreachable");
        std::ofstream("/proc/sys/net/ipv4/icmp_echo_ignore_all") << "1";
        EXPECT_EQ(failure_in(world.bench.ask(world.driver, ask_of("127.0.0.1"))).code,
                  "icmp.timeout");
        EXPECT_THAT(
            test::contract_problems(world.bench, world.driver, ask_of("127.0.0.1"), "icmp.timeout"),
            ElementsAre());
    });
}

TEST(IcmpDriverLive, CountsWhatIsLost) {
    in_own_network([] {
        World world;
        const auto reply = world.bench.begin(world.driver, ask_of("127.0.0.1", 20));
        world.bench.run_until([&] { return false; }, std::chrono::milliseconds(60));
        std::ofstream("/proc/sys/net/ipv4/icmp_echo_ignore_all") << "1";
        ASSERT_TRUE(world.bench.run_until([&] { return reply->has_value(); }));
        const auto answer = answer_in<model::IcmpReply>(**reply);
        EXPECT_EQ(answer.sent, 20U);
        EXPECT_GT(answer.received, 0U);
        EXPECT_LT(answer.received, 20U);
    });
}

TEST(IcmpDriverLive, PingsManyAtOnceAndChecksAddresses) {
    in_own_network([] {
        World world;
        std::vector<std::shared_ptr<std::optional<model::Reply>>> replies;
        for (int i = 1; i <= 200; ++i) {
            replies.push_back(
                world.bench.begin(world.driver, ask_of("127.0.0." + std::to_string(i))));
        }
        ASSERT_TRUE(world.bench.run_until([&] {
            return std::ranges::all_of(replies, [](const auto& one) { return one->has_value(); });
        }));
        for (const auto& reply : replies) {
            EXPECT_EQ(answer_in<model::IcmpReply>(**reply).received, 3U);
        }
        EXPECT_EQ(failure_in(world.bench.ask(world.driver, ask_of("169.254.169.254"))).code,
                  "egress.denied");
    });
}

}  // namespace
}  // namespace pollux::protocol
