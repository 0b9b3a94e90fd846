#include "net/tcp_listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "net/http_test_support.hpp"

namespace pollux::net {
namespace {

class TcpListenerTest : public testing::Test {
  protected:
    void listen(TcpListenerOptions options = {}) {
        listener = TcpListener::listen(*loop, SocketAddress::loopback(0), options,
                                       [this](std::unique_ptr<TcpStream> stream) {
                                           accepted.push_back(std::move(stream));
                                       })
                       .value();
    }
    int connected() {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(fd, listener->address().data(), listener->address().length()), 0);
        return fd;
    }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::vector<std::unique_ptr<TcpStream>> accepted;
    std::unique_ptr<TcpListener> listener;
};

TEST_F(TcpListenerTest, WaitsWhileThereAreNoDescriptorsAndThenGoesOn) {
    listen();
    const int client = connected();
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int lowest_free = dup(client);
    close(lowest_free);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest_free), .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    test::turn(*loop, 3);
    EXPECT_TRUE(accepted.empty());
    EXPECT_EQ(loop->watched(), 0U) << "a socket that cannot be served would spin the loop";
    EXPECT_EQ(loop->timers(), 1U);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_TRUE(test::turn_until(*loop, [&] { return accepted.size() == 1; }));
    close(client);
}

TEST_F(TcpListenerTest, TakesAFewPerTurn) {
    listen({.accepts_per_turn = 2});
    std::vector<int> clients;
    for (int i = 0; i < 5; ++i) clients.push_back(connected());
    for (const std::size_t expected : {2U, 4U, 5U}) {
        loop->run_once(std::chrono::seconds(10));
        EXPECT_EQ(accepted.size(), expected);
    }
    for (const int fd : clients) close(fd);
}

TEST_F(TcpListenerTest, MayBeDestroyedWhileItAccepts) {
    listener = TcpListener::listen(*loop, SocketAddress::loopback(0), {},
                                   [this](std::unique_ptr<TcpStream>) { listener.reset(); })
                   .value();
    const int one = connected();
    const int two = connected();
    EXPECT_TRUE(test::turn_until(*loop, [&] { return listener == nullptr; }));
    EXPECT_EQ(loop->watched(), 0U);
    close(one);
    close(two);
}

}  // namespace
}  // namespace pollux::net
