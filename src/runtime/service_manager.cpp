#include "runtime/service_manager.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "net/event_loop.hpp"

namespace pollux::runtime {
namespace {

std::optional<std::int64_t> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    std::int64_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, problem] = std::from_chars(text, end, value);
    if (problem != std::errc{} || stop != end || value <= 0) return std::nullopt;
    return value;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
    const char* socket = std::getenv("NOTIFY_SOCKET");
    std::optional<base::Duration> watchdog;
    const auto microseconds = number_in("WATCHDOG_USEC");
    const auto pid = number_in("WATCHDOG_PID");
    if (microseconds && (!pid || *pid == getpid())) {
        watchdog = std::chrono::microseconds(*microseconds);
    }
    return {socket == nullptr ? "" : socket, watchdog};
}

void ServiceManager::send(std::string_view message) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    // A name that begins with @ lives in the abstract namespace, which begins with a zero byte.
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    [[maybe_unused]] const ssize_t sent =
        sendto(fd, message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), length);
    close(fd);
}

void ServiceManager::ready(std::string_view status) const {
    send(fmt::format("READY=1\nSTATUS={}\nMAINPID={}", status, getpid()));
}
void ServiceManager::status(std::string_view status) const {
    send(fmt::format("STATUS={}", status));
}
void ServiceManager::reloading() const {
    send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", net::boot_now().ns / 1000));
}
void ServiceManager::stopping() const { send("STOPPING=1"); }
void ServiceManager::feed_watchdog() const { send("WATCHDOG=1"); }

}  // namespace pollux::runtime
