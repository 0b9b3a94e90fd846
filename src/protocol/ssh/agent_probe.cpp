#include "protocol/ssh/agent_probe.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pollux::protocol::ssh {
namespace {

// Of the agent protocol: a length of four bytes, then a type.
constexpr std::array<char, 5> kListKeys = {0, 0, 0, 1, 11};
constexpr char kKeys = 12;

}  // namespace

AgentProbe::AgentProbe(net::EventLoop& loop)
    : loop_(loop), timer_(loop, [this] { finish(std::exchange(problem_, {})); }) {}

AgentProbe::~AgentProbe() {
    if (watched_) loop_.unwatch(fd_);
    if (fd_ >= 0) close(fd_);
}

void AgentProbe::ask(const std::string& path, Done done) {
    done_ = std::move(done);
    problem_ = send_question(path);
    if (!problem_.empty()) {
        timer_.arm(loop_.now());
        return;
    }
    problem_ = fmt::format("it did not answer within {} s",
                           std::chrono::duration_cast<std::chrono::seconds>(kPatience).count());
    timer_.arm_in(kPatience);
}

// Why it cannot be asked; empty: it was.
std::string AgentProbe::send_question(const std::string& path) {
    if (path.empty()) return "SSH_AUTH_SOCK is not set for the server";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return "the path in SSH_AUTH_SOCK is too long";
    std::memcpy(address.sun_path, path.data(), path.size());
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0 || connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        send(fd_, kListKeys.data(), kListKeys.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(kListKeys.size())) {
        return fmt::format("{}: {}", path, std::strerror(errno));
    }
    if (auto status = loop_.watch(fd_, EPOLLIN, *this); !status) return status.error().message;
    watched_ = true;
    return {};
}

void AgentProbe::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    std::array<char, 5> head{};
    const ssize_t got = recv(fd_, head.data(), head.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // The agent writes an answer at once: its head is never cut.
    const bool keys = got == static_cast<ssize_t>(head.size()) && head.back() == kKeys;
    finish(keys ? "" : "what answers there is no SSH agent");
}

void AgentProbe::finish(std::string problem) {
    timer_.cancel();
    if (std::exchange(watched_, false)) loop_.unwatch(fd_);
    if (fd_ >= 0) close(std::exchange(fd_, -1));
    const Done done = std::exchange(done_, {});
    done(std::move(problem));
}

}  // namespace pollux::protocol::ssh
