#include "runtime/service_manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace pollux::runtime {
namespace {

// What systemd listens on; an abstract name, so that nothing is left behind.
class Listener {
  public:
    Listener() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        name_ = "@pollux-test-" + std::to_string(getpid());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
        bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
    }
    ~Listener() { close(fd_); }

    std::string receive() const {
        std::array<char, 512> buffer;
        const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        return got < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::string& name() const { return name_; }
    bool bound() const { return bound_; }

  private:
    int fd_;
    std::string name_;
    bool bound_ = false;
};

TEST(ServiceManager, TellsItsState) {
    const Listener listener;
    ASSERT_TRUE(listener.bound());
    const ServiceManager manager(listener.name(), std::nullopt);
    manager.ready("12 targets");
    EXPECT_EQ(listener.receive(),
              "READY=1\nSTATUS=12 targets\nMAINPID=" + std::to_string(getpid()));
    manager.status("busy");
    EXPECT_EQ(listener.receive(), "STATUS=busy");
    manager.reloading();
    EXPECT_THAT(listener.receive(), testing::StartsWith("RELOADING=1\nMONOTONIC_USEC="));
    manager.feed_watchdog();
    EXPECT_EQ(listener.receive(), "WATCHDOG=1");
    manager.stopping();
    EXPECT_EQ(listener.receive(), "STOPPING=1");
}

TEST(ServiceManager, IsSilentWithoutAManager) {
    ServiceManager("", std::nullopt).ready("");
    ServiceManager("/nowhere/" + std::string(200, 'x'), std::nullopt).ready("");
    ServiceManager("/nonexistent/socket", std::nullopt).stopping();
}

TEST(ServiceManager, ReadsTheEnvironment) {
    setenv("NOTIFY_SOCKET", "/run/x", 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    unsetenv("WATCHDOG_PID");
    EXPECT_EQ(ServiceManager::from_environment().watchdog(), std::chrono::seconds(30));
    setenv("WATCHDOG_PID", "1", 1);
    EXPECT_FALSE(ServiceManager::from_environment().watchdog()) << "meant for another process";
    setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
    setenv("WATCHDOG_USEC", "soon", 1);
    EXPECT_FALSE(ServiceManager::from_environment().watchdog());
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace pollux::runtime
