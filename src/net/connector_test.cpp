#include "net/connector.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "net/test_dns_server.hpp"

namespace pollux::net {
namespace {

// Listens, but takes no connection: its line is full, and the kernel drops what comes.
class FullListener {
  public:
    FullListener(const std::string& literal, std::uint16_t port) {
        const test::TestAddress address(literal, port);
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(listener_, address.get(), address.length), 0);
        EXPECT_EQ(listen(listener_, 0), 0);
        for (int i = 0; i < 8; ++i) {
            clients_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            [[maybe_unused]] const int begun =
                connect(clients_.back(), address.get(), address.length);
        }
    }
    ~FullListener() {
        for (const int fd : clients_) close(fd);
        close(listener_);
    }
    FullListener(const FullListener&) = delete;
    FullListener& operator=(const FullListener&) = delete;

    void make_room() {
        for (const int fd : clients_) close(fd);
        clients_.clear();
        int taken = 0;
        while ((taken = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
            close(taken);
            pollfd more{.fd = listener_, .events = POLLIN, .revents = 0};
            if (poll(&more, 1, 0) != 1) break;
        }
    }

  private:
    int listener_ = -1;
    std::vector<int> clients_;
};

TEST(Connector, SharesALaterDeadlineAmongItsAddresses) {
    const auto loop = EventLoop::create().value();
    test::DnsServer dns(*loop);
    dns.names["both.example"] = {.addresses = {"127.0.0.2", "127.0.0.3"}};
    ResolverOptions options;
    options.servers = {dns.address()};
    const auto resolver = Resolver::create(*loop, options).value();
    bool known = false;
    resolver->lookup("both.example", [&](const auto&) { known = true; });
    while (!known) loop->run_once(std::chrono::milliseconds(20));
    const std::string first = resolver->find_now("both.example")->front().to_string();

    const std::uint16_t port = test::free_port("127.0.0.2");
    FullListener full(first, port);
    FullListener other(first == "127.0.0.2" ? "127.0.0.3" : "127.0.0.2", port);
    Connector connector(*loop, *resolver, std::make_shared<const EgressPolicy>());
    std::optional<std::expected<ConnectedSocket, ConnectFailure>> result;
    const base::BootTime now = boot_now();
    const std::size_t watched = loop->watched();
    connector.start("both.example", port, now + std::chrono::seconds(4),
                    [&](auto got) { result = std::move(got); });
    while (loop->watched() == watched) loop->run_once(std::chrono::milliseconds(20));
    connector.extend(now + std::chrono::minutes(10));
    // After half of the first time it would have given the first address up.
    while (boot_now() < now + std::chrono::milliseconds(2500)) {
        loop->run_once(std::chrono::milliseconds(20));
    }
    EXPECT_FALSE(result.has_value());
    full.make_room();
    other.make_room();
    while (!result && boot_now() < now + std::chrono::minutes(1)) {
        loop->run_once(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(result && *result);
    EXPECT_EQ((*result)->peer.to_string(), first + ":" + std::to_string(port));
    close((*result)->fd);
}

}  // namespace
}  // namespace pollux::net
